/** Markup that is safe to insert into a page. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string) =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** A value in a template: markup, text that is escaped, or nothing. */
export type HtmlValue = Html | string | undefined | false | readonly Html[];

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  return typeof value === 'string' ? escapeText(value) : value.map(render).join('');
}

/** Builds markup from a template. Every value is escaped unless it is markup itself. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(strings.reduce((done, part, i) => `${done}${render(values[i - 1])}${part}`));
