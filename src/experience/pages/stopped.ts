import { html } from '../../html/markup.ts';
import { goOn, type Look, page } from '../../html/page.ts';
import { type FormFrame, form, problemNote, submit } from './form.ts';
import { texts } from './texts.ts';

/**
 * Says that a sign-in cannot go on, with the one way that is left.
 *
 * @param restartUrl Where the application begins a sign-in; undefined where it is not known.
 */
export function brokenPage(look: Look, restartUrl: string | undefined): string {
  const t = texts[look.language];
  return page(
    {
      heading: t.brokenTitle,
      lead: t.broken,
      body:
        restartUrl === undefined ? html`<p>${t.brokenNowhere}</p>` : goOn(restartUrl, t.beginAgain),
    },
    look,
  );
}

/**
 * Says that a request was not answered, with a way to the page that it came from.
 *
 * @param status Of the answer.
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
 * Has somebody wait, with a way to ask again.
 *
 * @param why In the page's language.
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

/** What the page shows that a link in a message leads to. */
export interface LinkPage extends FormFrame {
  readonly look: Look;
  readonly application: string;
  readonly problem?: string | undefined;
}

/** Asks for a click: whoever only fetches a link, as scanners do, uses nothing up. */
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

/** Tells somebody who opened a link in another browser where to go on. */
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
