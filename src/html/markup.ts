/** Markup that is safe to put into a page as it is. */
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

/** What a template can hold: markup, text that gets escaped, or nothing. */
export type HtmlValue = Html | string | undefined | false | readonly Html[];

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  return typeof value === 'string' ? escapeText(value) : value.map(render).join('');
}

/** Writes markup; every value in it is escaped unless it is markup itself. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(strings.reduce((done, part, i) => `${done}${render(values[i - 1])}${part}`));
