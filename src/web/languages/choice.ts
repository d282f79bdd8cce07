import type { FastifyInstance } from 'fastify';
import { type Language, languages } from '../../languages.ts';
import { type Html, html } from '../../markup.ts';
import { cookieIn, keptCookie } from '../../protection/cookie.ts';
import type { Services } from '../../services.ts';

/** The cookie with the language that a person has chosen. */
const cookieName = 'signet_language';

/** The query parameter of a page that chooses its language. */
const parameter = 'language';

const names: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };

const languageIn = (given: string | null | undefined): Language | undefined =>
  languages.find((language) => language === given);

/** The language that a person has chosen on a page; undefined if they have not. */
export const chosenLanguage = (cookies: string | undefined): Language | undefined =>
  languageIn(cookieIn(cookies, cookieName));

/** Lets the pages of a scope be asked for in a language: they come in it, and all others from then on. */
export function takeLanguages(scope: FastifyInstance, services: Pick<Services, 'baseUrl'>): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url, services.baseUrl);
    const language = languageIn(searchParams.get(parameter));
    if (language === undefined || request.method !== 'GET') return;
    searchParams.delete(parameter);
    const rest = searchParams.size > 0 ? `?${searchParams}` : '';
    await reply
      .headers({
        'cache-control': 'no-store',
        'set-cookie': keptCookie(services, cookieName, language),
      })
      .redirect(`${services.baseUrl}${pathname}${rest}`, 303);
  });
}

/**
 * The links to a page in each other language.
 *
 * @param query The query of the page's address.
 */
export function languageLinks(current: Language, query: string): Html {
  return html`${languages.map((language) => {
    const address = new URLSearchParams(query);
    address.set(parameter, language);
    return language === current
      ? html`<span aria-current="true">${names[language]}</span>`
      : html`<a href="?${String(address)}" lang="${language}" hreflang="${language}">${names[language]}</a>`;
  })}`;
}
