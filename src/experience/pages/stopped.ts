import { html } from '../../html/markup.ts';
import { goOn, type Look, page } from '../../html/page.ts';
import type { Services } from '../../services.ts';
import { type FormFrame, form, problemNote, submit } from './form.ts';
import { texts } from './texts.ts';

/**
 * A page which says that a sign-in cannot continue, with a way to begin again.
 *
 * @param restartUrl The URL that begins the sign-in again; undefined if it is unknown, or the application is gone. The
 *   page then leads to the own account.
 */
export function brokenPage(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  look: Look,
  restartUrl: string | undefined,
): string {
  const t = texts[look.language];
  const body =
    restartUrl === undefined
      ? html`<p>${t.brokenNowhere}</p>${goOn(`${baseUrl}/account`, t.yourAccount)}`
      : goOn(restartUrl, t.beginAgain);
  return page({ heading: t.brokenTitle, lead: t.broken, body }, look);
}

/**
 * A page which says that a request failed, with a link to try it again.
 *
 * @param status The HTTP status of the answer.
 */
export function failedPage(look: Look, retryUrl: string, status: number): string {
  const t = texts[look.language];
  return page(
    {
      heading: t.failedTitle,
      lead: status < 500 ? t.refused : t.failed,
      body: goOn(retryUrl, t.tryAgain),
    },
    look,
  );
}

/**
 * A page that asks the person to wait, with a link to try again.
 *
 * @param why The reason, in the page's language.
 */
export function waitPage(look: Look, retryUrl: string, why: string): string {
  const t = texts[look.language];
  return page(
    {
      heading: t.waitTitle,
      lead: why,
      body: goOn(retryUrl, t.tryAgain),
    },
    look,
  );
}

/** The content of the page of a link in a message. */
export interface LinkPage extends FormFrame {
  readonly look: Look;
  readonly application: string;
  readonly problem?: string | undefined;
}

/**
 * The page of a link in a message. It asks for a click, so that scanners, which only fetch the link, do not use it up.
 */
export function linkPage(shown: LinkPage): string {
  const t = texts[shown.look.language];
  return page(
    {
      heading: t.linkTitle,
      lead: t.toContinueTo(shown.application),
      body: html`${problemNote(shown.problem)}<p>${t.linkLead}</p>${form(shown, submit(t.continue))}`,
    },
    shown.look,
  );
}

/** A page for a link that was opened in another browser. It says where to continue, and shows the code. */
export function linkElsewherePage(look: Look, code: string): string {
  const t = texts[look.language];
  return page(
    {
      heading: t.linkElsewhere,
      lead: t.linkElsewhereLead,
      body: html`<p class="code"><code>${code}</code></p><p>${t.linkElsewhereWarning}</p>`,
    },
    look,
  );
}
