import { type Html, html } from '../markup.ts';
import type { Look } from './page.ts';

/** One record in a list, with its button. */
export const entry = (heading: string, lines: readonly string[], aside?: Html): Html =>
  html`<li><div><strong>${heading}</strong>${lines.map((line) => html`<span class="hint">${line}</span>`)}</div>${aside}</li>`;

/** A list of records. */
export const entries = (items: readonly Html[]): Html => html`<ul class="entries">${items}</ul>`;

/** An instant in words. */
export const dateIn = ({ look: { language } }: { readonly look: Look }, at: Date): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(at)} UTC`;

/** Links that look like buttons, one below the other. Leaves out what is `false`; shows nothing if no link is left. */
export function ways(links: readonly (false | { url: string; text: string })[]): Html {
  const shown = links.filter((link) => link !== false);
  return shown.length === 0
    ? html``
    : html`<ul class="ways">${shown.map(({ url, text }) => html`<li><a class="button quiet" href="${url}">${text}</a></li>`)}</ul>`;
}
