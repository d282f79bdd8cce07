import { html } from '../../markup.ts';
import type { Services } from '../../services.ts';
import { problemNote, submit } from '../../web/form.ts';
import { type Content, goOn, type Look } from '../../web/page.ts';
import { type Texts, texts } from '../texts.ts';
import { cancelButton } from './controls.ts';

/**
 * A page which says that a sign-in cannot continue, with a way to begin again.
 *
 * @param restartUrl The URL that begins the sign-in again; undefined if it is unknown, or the application is gone. The
 *   page then leads to the person's account.
 */
export function brokenPage(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { language }: Look,
  restartUrl: string | undefined,
): Content {
  const t = texts[language];
  const body =
    restartUrl === undefined
      ? html`<p>${t.brokenNowhere}</p>${goOn(`${baseUrl}/account`, t.toAccount)}`
      : goOn(restartUrl, t.beginAgain);
  return { heading: t.brokenTitle, lead: t.broken, body };
}

/** A page for a link that was opened in another browser. It says where to continue, and shows the code. */
export function linkElsewherePage({ language }: Look, code: string): Content {
  const t = texts[language];
  return {
    heading: t.linkElsewhere,
    lead: t.linkElsewhereLead,
    body: html`<p class="code"><code>${code}</code></p><p>${t.linkElsewhereWarning}</p>`,
  };
}

/** The page that asks whether the person began the sign-in in another program. Nobody else can know. */
export const confirmPage = (
  t: Texts,
  shown: {
    readonly action: string;
    readonly application: string;
    readonly provider: string;
    /** The name or the address that the provider told. */
    readonly person: string | null;
    readonly confirmation: string;
  },
): Content => ({
  heading: t.signInTo(shown.application),
  lead: t.confirmLead(shown.provider, shown.person),
  body: html`<p>${t.confirmWarning(shown.application)}</p><form method="post" action="${shown.action}"><input type="hidden" name="confirmation" value="${shown.confirmation}">${submit(t.continue)}${cancelButton({ texts: t })}</form>`,
});

/** A page with the result of a federation, for a browser with nothing more to do. */
export const returnedPage = (
  heading: string,
  text: string,
  { problem, next }: { problem?: string | undefined; next?: { url: string; text: string } } = {},
): Content => ({
  heading,
  body: html`${problemNote(problem)}<p>${text}</p>${next && goOn(next.url, next.text)}`,
});
