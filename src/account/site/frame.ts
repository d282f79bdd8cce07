import { NotFoundError } from '../../errors.ts';
import { Html, html } from '../../markup.ts';
import { entries } from '../../web/entries.ts';
import { alertMark, doneMark, doneNote, form } from '../../web/form.ts';
import type { Content } from '../../web/page.ts';
import type { PageRequest } from '../../web/site.ts';
import { formAt } from '../../web/visit.ts';
import type { Advice } from './check-up.ts';
import type { AccountVisit } from './visit.ts';

const chevron = new Html(
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="m7.5 4.5 5.5 5.5-5.5 5.5" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

/** The query parameter of the first page that says that something is not possible. */
export const refusedParameter = 'refused';

/** The note about the change that the query of a page names; undefined if it names none. */
export const noteOfDone = (
  { texts: { done } }: AccountVisit,
  { query }: PageRequest,
): Html | undefined => {
  const what = query.get('done') ?? '';
  return Object.hasOwn(done, what) ? doneNote(done[what] ?? '') : undefined;
};

/** A page below the first: with the problem of its form or what was done, and the way back. */
export const subpage = (
  visit: AccountVisit,
  request: PageRequest,
  { body, ...content }: Content,
): Content => ({
  problem: request.problem?.text,
  ...content,
  body: html`${request.problem === undefined && noteOfDone(visit, request)}${body}
<p class="below"><a href="${visit.base}">${visit.texts.back}</a></p>`,
});

/** One line of a list that leads to a page. */
export interface Row {
  readonly label: string;
  readonly value: string;
  readonly url: string;
}

/** A part of the first page. */
export const section = (heading: string, content: Html): Html =>
  html`<section class="rows"><h2>${heading}</h2>${content}</section>`;

/** Lines that lead to pages. */
export const rows = (shown: readonly Row[]): Html =>
  html`<ul>${shown.map(
    ({ label, value, url }) =>
      html`<li><a href="${url}"><span class="what">${label}</span><span class="value">${value}</span>${chevron}</a></li>`,
  )}</ul>`;

/** What is missing for a safe account, each line a way to do it; or that nothing is. */
export const adviceList = (
  { texts: { checkUp: t } }: AccountVisit,
  advice: readonly Advice[],
): Html =>
  advice.length === 0
    ? html`<p class="well">${doneMark}${t.well}</p>`
    : html`<ul class="advice">${advice.map(
        ({ text, url }) =>
          html`<li><a href="${url}">${alertMark}<span>${text}</span>${chevron}</a></li>`,
      )}</ul>`;

/** A list of things, or the words for none. */
export const entriesOrNone = ({ texts: t }: AccountVisit, items: readonly Html[]): Html =>
  items.length > 0 ? entries(items) : html`<p>${t.none}</p>`;

/** The button that removes one thing of a list: the page at this path gets its `id`. */
export const removeButton = (
  visit: AccountVisit,
  path: string,
  { id, name }: { readonly id: string; readonly name: string },
): Html => {
  const { remove } = visit.texts;
  return form(
    formAt(visit, path),
    html`<button class="text" type="submit" name="id" value="${id}" aria-label="${remove}: ${name}">${remove}</button>`,
  );
};

/** Waits for the removal of something that may be gone already: expired, or removed in another tab. */
export async function unlessGone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}
