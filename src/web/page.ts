import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Language } from '../languages.ts';
import { Html, html } from '../markup.ts';
import { type Branding, defaultSignInExperience } from '../sign-in-experience/settings.ts';
import { problemNote } from './form.ts';
import { languageLinks } from './languages/choice.ts';
import { styleOf, type Theme } from './style/style.ts';
import { sharedTexts } from './texts.ts';

/** The look and the language of a page. */
export interface Look {
  readonly branding: Branding;
  readonly language: Language;
  /** The colors; absent: as the browser asks for them. */
  readonly theme?: Theme | undefined;
}

const signetColor = '#3447d4';

/** The look of a page when nothing else is known. */
const plainLook: Look = {
  branding: defaultSignInExperience.branding,
  language: 'en',
};

const styles = new Map<string, { readonly style: string; readonly digest: string }>();

// The map holds every colour used since the start. That stays few: an operator tries some and keeps one.
function styleFor({ branding, theme }: Look) {
  const primaryColor = branding.primaryColor ?? signetColor;
  // A preview of colors that are only tried.
  if (theme !== undefined) {
    const style = styleOf(primaryColor, theme);
    return { style, digest: digestOf(style) };
  }
  let known = styles.get(primaryColor);
  if (!known) {
    const style = styleOf(primaryColor);
    known = { style, digest: digestOf(style) };
    styles.set(primaryColor, known);
  }
  return known;
}

/** A script that a page runs. */
export interface PageScript {
  /** Its URL, at this service. */
  readonly src: string;
  /** The only URL that it can send requests to. */
  readonly connect: string;
}

/** A script in the page itself. It can send no requests. */
export interface InlineScript {
  readonly code: string;
}

// The button that shows a password needs scripts. The password is hidden again before the form is sent: browsers would
// keep a visible one among the texts that they suggest.
const revealScript: InlineScript = {
  code: `for (const field of document.querySelectorAll('[data-show]')) {
const button = document.createElement('button');
const show = (isShown) => {
field.type = isShown ? 'text' : 'password';
button.textContent = isShown ? field.dataset.hide : field.dataset.show;
};
button.type = 'button';
button.className = 'text reveal';
button.onclick = () => show(field.type === 'password');
field.form.addEventListener('submit', () => show(false));
show(false);
field.after(button);
}`,
};

// A code that is complete sends itself, once, unless there is more to fill in; the note beside the field says so.
// Whoever was sent a code waits a moment before another one can be sent.
const codeScript: InlineScript = {
  code: `const field = document.querySelector('[data-sends]');
if (field.form.querySelectorAll('input:not([type=hidden])').length === 1) {
const note = document.createElement('p');
note.className = 'hint';
note.id = field.id + '-sends';
note.textContent = field.dataset.sends;
field.after(note);
field.setAttribute('aria-describedby', [field.getAttribute('aria-describedby'), note.id].filter(Boolean).join(' '));
let isSent = false;
field.form.addEventListener('submit', (event) => {
if (isSent) event.preventDefault();
isSent = true;
});
addEventListener('pageshow', () => { isSent = false; });
field.addEventListener('input', () => {
if (field.value && field.validity.valid) field.form.requestSubmit();
});
}
const again = document.querySelector('[data-wait]');
if (again) {
const text = again.textContent;
let left = Number(again.dataset.wait);
const tick = () => {
again.disabled = left > 0;
again.textContent = left > 0 ? text + ' (' + left + ' s)' : text;
left -= 1;
if (again.disabled) setTimeout(tick, 1000);
};
tick();
}`,
};

/** The scripts that a page has for what is in it, each with the attribute of what needs it. */
const ownScripts = [
  [' data-show=', revealScript],
  [' data-sends=', codeScript],
] as const;

const scriptsFor = (body: Html): readonly InlineScript[] =>
  ownScripts.filter(([mark]) => body.markup.includes(mark)).map(([, script]) => script);

/** What a page may do that others may not. */
export interface PageExceptions {
  /** The scripts for what is in it. */
  readonly runs?: readonly InlineScript[];
  /** The URL whose origin may show the page in a frame. */
  readonly framedBy?: string;
  /** The URL of a picture on it, beside the operator's logo. */
  readonly picture?: string | null | undefined;
  /** Whether another origin that gets the page's form learns that it came from this one. */
  readonly tellsOrigin?: boolean;
}

/** The response headers of a page in this look. Without a script, the page can run none. */
export function pageHeaders(
  look: Look = plainLook,
  script?: PageScript | InlineScript,
  { runs = [], framedBy, picture = null, tellsOrigin = false }: PageExceptions = {},
): Record<string, string> {
  const pictures = [look.branding.logoUrl, picture].filter((url) => url !== null);
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': look.language,
    'cache-control': 'no-store',
    // No form-action: browsers apply it to all redirects after a form. These lead to the application, which may
    // redirect to an address that is unknown here.
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${styleFor(look).digest}'`,
      ...(pictures.length === 0 ? [] : [`img-src ${pictures.map(sourceOf).join(' ')}`]),
      ...scriptPolicies([...runs, script]),
      "base-uri 'none'",
      `frame-ancestors ${framedBy === undefined ? "'none'" : sourceOf(framedBy)}`,
    ].join('; '),
    // Not no-referrer, which would remove the Origin header from the page's own form.
    'referrer-policy': tellsOrigin ? 'strict-origin' : 'same-origin',
    'x-content-type-options': 'nosniff',
    ...(framedBy === undefined ? { 'x-frame-options': 'DENY' } : {}),
  };
}

function scriptPolicies(given: readonly (PageScript | InlineScript | undefined)[]): string[] {
  const scripts = given.filter((script) => script !== undefined);
  if (scripts.length === 0) return [];
  const sources = scripts.map((script) =>
    'code' in script ? `'sha256-${digestOf(script.code)}'` : exactSource(script.src),
  );
  return [
    `script-src ${sources.join(' ')}`,
    ...scripts.flatMap((script) =>
      'code' in script ? [] : [`connect-src ${exactSource(script.connect)}`],
    ),
  ];
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');

// A policy cannot hold these two characters unescaped (CSP Level 3 §2.3.1).
const escaped = (source: string): string => source.replaceAll(';', '%3B').replaceAll(',', '%2C');
const sourceOf = (url: string): string => escaped(new URL(url).origin);
const exactSource = (url: string): string => escaped(new URL(url).origin + new URL(url).pathname);

// Signet's mark, a signet ring: a ring with a notch.
const mark = new Html(
  '<svg viewBox="0 0 28 28" aria-hidden="true"><rect width="28" height="28" rx="8" fill="var(--accent)"/><path d="M19.2 9.1a7 7 0 1 0 .1 9.7" fill="none" stroke="var(--on-accent)" stroke-width="2.6" stroke-linecap="round"/><circle cx="14" cy="14" r="2.4" fill="var(--on-accent)"/></svg>',
);

const brand = ({ logoUrl, productName }: Branding): Html =>
  logoUrl === null
    ? html`<header class="brand">${mark}<span>${productName}</span></header>`
    : html`<header class="brand"><img src="${logoUrl}" alt="${productName}" referrerpolicy="no-referrer"></header>`;

function footer({ branding: { termsUrl, privacyUrl }, language }: Look, query?: string): Html {
  const t = sharedTexts[language];
  const link = (url: string, text: string) =>
    html`<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;
  return html`<footer>${query !== undefined && languageLinks(language, query)}${termsUrl !== null && link(termsUrl, t.terms)}${
    privacyUrl !== null && link(privacyUrl, t.privacy)
  }</footer>`;
}

/** The picture of a person. */
export interface Picture {
  /** What is shown where there is none, or it cannot be loaded. */
  readonly initials: string;
  /** An http or https URL. */
  readonly url: string | null;
}

const face = ({ initials, url }: Picture): Html =>
  html`<span class="face" aria-hidden="true">${initials}${url !== null && html`<img src="${url}" alt="" referrerpolicy="no-referrer">`}</span>`;

/** The content of a page. */
export interface Content {
  /** The heading. It is also the window's title unless `title` is set. */
  readonly heading: string;
  readonly title?: string;
  /** A line under the heading. */
  readonly lead?: string | undefined;
  /** Stands beside the heading. */
  readonly picture?: Picture;
  /** Whether the page takes the width for two columns where there is room. */
  readonly isWide?: boolean;
  /** The problem with the submitted form, in the page's language. A note above the body shows it. */
  readonly problem?: string | undefined;
  readonly body: Html;
  readonly script?: PageScript | InlineScript | undefined;
}

const scriptElement = (script: PageScript | InlineScript): Html =>
  'code' in script
    ? html`<script type="module">${new Html(script.code)}</script>`
    : html`<script type="module" src="${script.src}"></script>`;

/**
 * A whole page. It loads nothing but the operator's logo, and its script if it has one. If there is a problem, the
 * window's title begins with it, so that a screen reader reads it first.
 *
 * @param query The query of the page's address, if it can be loaded again in another language.
 */
export const page = (
  { heading, title = heading, lead, picture, isWide = false, problem, body, script }: Content,
  look: Look = plainLook,
  query?: string,
): string => {
  const words = html`<h1>${heading}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}`;
  return html`<!doctype html>
<html lang="${look.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="${look.theme ?? 'light dark'}">
<title>${problem !== undefined && `${sharedTexts[look.language].error}: `}${title} &middot; ${look.branding.productName}</title>
<style>${new Html(styleFor(look).style)}</style>${script && scriptElement(script)}
</head>
<body>
${brand(look.branding)}
<main${isWide && html` class="wide"`}>
${picture ? html`<div class="person">${face(picture)}<div>${words}</div></div>` : words}
${problemNote(problem, { hasFocus: !body.markup.includes(' autofocus') })}${body}${scriptsFor(body).map(scriptElement)}
</main>
${footer(look, query)}
</body>
</html>
`.markup;
};

/**
 * A button that leads to another address.
 *
 * @param url An absolute URL, or a path of this service.
 */
export function goOn(url: string, text: string): Html {
  const [address = '', query = ''] = url.split('?');
  // A form sent by GET replaces the query of its address with its fields.
  const fields = [...new URLSearchParams(query)].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="get" action="${address}">${fields}<button type="submit">${text}</button></form>`;
}

/**
 * Answers with a page to look at, in a frame of this service's own pages: its document has no origin, sends no forms,
 * and runs only what a page shows by script.
 */
export function sendPicture(
  reply: FastifyReply,
  look: Look,
  { script: _, ...content }: Content,
  baseUrl: string,
): FastifyReply {
  const { 'content-security-policy': policy, ...headers } = pageHeaders(look, undefined, {
    runs: scriptsFor(content.body),
    framedBy: baseUrl,
  });
  // A document without an origin cannot ask to have its origin's processes for itself; Chromium complains.
  reply.raw.removeHeader('origin-agent-cluster');
  return reply
    .headers({
      ...headers,
      'content-security-policy': `${policy}; form-action 'none'; sandbox allow-scripts`,
      'cross-origin-resource-policy': 'same-origin',
    })
    .send(page(content, look, ''));
}

/** Answers with a page. Without a query, it offers no other language. */
export const sendPage = (
  reply: FastifyReply,
  look: Look,
  content: Content,
  query?: string,
): FastifyReply =>
  reply
    .headers(
      pageHeaders(look, content.script, {
        runs: scriptsFor(content.body),
        picture: content.picture?.url,
      }),
    )
    .send(page(content, look, query));
