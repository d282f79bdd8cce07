import { type Html, html } from '../../../html/markup.ts';
import { page } from '../../../html/page.ts';
import { action, cancel, field, form, problemNote, submit } from '../form.ts';
import { type PageFrame, titled } from '../sign-in.ts';
import { texts } from '../texts.ts';

/** A kind of second factor, as pages name it. */
export type FactorKind = 'TOTP' | 'PASSKEY' | 'BACKUP_CODES';

/** The content of the page that asks for a code as second factor. */
export interface FactorPage extends PageFrame {
  readonly kind: 'TOTP' | 'BACKUP_CODES';
  /** Other ways to go on. */
  readonly others: Html;
}

/** The page that asks for a code of an authenticator app, or for a backup code. */
export function factorPage(shown: FactorPage): string {
  const { look, problem, kind, others } = shown;
  const t = texts[look.language];
  const { heading, lead, label } = t.factor.verify[kind];
  const code = field({
    name: 'code',
    label,
    // Browsers fill in codes that arrive, but no backup code ever does.
    autocomplete: kind === 'TOTP' ? 'one-time-code' : 'off',
    maxLength: 64,
    autofocus: problem === undefined,
    isProblem: problem !== undefined,
  });
  return page(
    {
      heading,
      title: titled(t, heading, problem),
      lead,
      body: html`${problemNote(problem)}${form(shown, html`${code}${submit(t.continue)}${cancel(t)}`)}${others}`,
    },
    look,
  );
}

/**
 * The markup of the ways beside the one on a page of a second factor: other kinds, and another account.
 *
 * @param others The other kinds that the person can show, with the URLs of their pages.
 */
export function otherWays(
  { look, base, csrfToken }: PageFrame,
  others: readonly { readonly url: string; readonly text: string }[],
): Html {
  const t = texts[look.language];
  const ways = others.map(
    ({ url, text }) => html`<li><a class="button quiet" href="${url}">${text}</a></li>`,
  );
  const frame = { action: `${base}/other-account`, csrfToken };
  return html`${ways.length > 0 && html`<ul class="ways">${ways}</ul>`}<div class="below">${action(frame, 'other', t.factor.useOtherAccount)}</div>`;
}
