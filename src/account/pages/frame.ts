import { doneNote, problemNote } from '../../experience/pages/form.ts';
import { Html, html } from '../../html/markup.ts';
import { type PageScript, page } from '../../html/page.ts';
import type { AccountRequest, AccountVisit } from '../forms/account-page.ts';

/** The content of a page of the account. */
export interface AccountContent {
  readonly heading: string;
  readonly lead?: string | undefined;
  readonly body: Html;
  readonly script?: PageScript | undefined;
}

const chevron = new Html(
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="m7.5 4.5 5.5 5.5-5.5 5.5" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

/** The query parameter of the first page that says that something is not possible. */
export const refusedParameter = 'refused';

/** The note about what the query of a page says was done; undefined if it says nothing. */
export const noteOfDone = (
  { texts: { done } }: Pick<AccountVisit, 'texts'>,
  { query }: Pick<AccountRequest, 'query'>,
): Html | undefined => {
  const what = query.get('done') ?? '';
  return Object.hasOwn(done, what) ? doneNote(done[what] ?? '') : undefined;
};

/** A page below the first: with the problem of its form, what was done, and the way back. */
export function accountPage(
  visit: AccountVisit,
  request: AccountRequest,
  { heading, lead, body, script }: AccountContent,
): string {
  const { look, texts: t, common, base } = visit;
  const { problem } = request;
  return page(
    {
      heading,
      title: problem === undefined ? heading : `${common.error}: ${heading}`,
      ...(lead === undefined ? {} : { lead }),
      script,
      body: html`${problem ? problemNote(problem.text) : noteOfDone(visit, request)}${body}
<p class="below"><a href="${base}">${t.back}</a></p>`,
    },
    look,
  );
}

/** One line of a list that leads to a page. */
export interface Row {
  readonly label: string;
  readonly value: string;
  readonly url: string;
}

/** A section of lines that lead to pages. */
export const section = (heading: string, rows: readonly Row[]): Html =>
  html`<section class="rows"><h2>${heading}</h2><ul>${rows.map(
    ({ label, value, url }) =>
      html`<li><a href="${url}"><span class="what">${label}</span><span class="value">${value}</span>${chevron}</a></li>`,
  )}</ul></section>`;

/** One thing in a list, with what can be done with it. */
export const entry = (heading: string, lines: readonly string[], aside?: Html): Html =>
  html`<li><div><strong>${heading}</strong>${lines.map((line) => html`<span class="hint">${line}</span>`)}</div>${aside}</li>`;

/** A list of things. */
export const entries = (items: readonly Html[]): Html => html`<ul class="entries">${items}</ul>`;

/** An instant in words. */
export const dateIn = ({ look: { language } }: AccountVisit, at: Date): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(at)} UTC`;
