import { createHash } from 'node:crypto';

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

const style = `
:root{color-scheme:light dark;font:100%/1.5 system-ui,sans-serif}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{box-sizing:border-box;width:min(24rem,100vw);padding:2rem}
h1{font-size:1.5rem;line-height:1.2;margin:0 0 1rem;overflow-wrap:anywhere}
p{margin:0 0 1rem;overflow-wrap:anywhere}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input,button{box-sizing:border-box;width:100%;min-height:2.75rem;padding:.5rem .75rem;font:inherit;border-radius:.375rem;border:1px solid GrayText}
input{background:Field;color:FieldText}
button{margin-top:1rem;cursor:pointer;background:#1d4ed8;color:#fff;border-color:#1d4ed8;font-weight:600}
button.quiet{background:transparent;color:inherit;border-color:GrayText}
:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}
.error{border:2px solid #b91c1c;border-radius:.375rem;padding:.75rem}
`;

// No form-action: browsers hold it against the whole chain of redirects that follows a form, and that chain ends at
// the application, from where it may go on to an address that nobody here knows.
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers that every page goes out with. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': contentSecurityPolicy,
  // Not no-referrer: that would take the Origin header from the page's own form.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** A whole page, without scripts and without anything from elsewhere. */
export const page = (title: string, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.markup;
