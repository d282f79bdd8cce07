import { createHash } from 'node:crypto';
import type { Language } from '../languages.ts';
import { type Branding, defaultSignInExperience } from '../sign-in-experience/settings.ts';
import { Html, html } from './markup.ts';
import { styleOf } from './style.ts';

/** The look and the language of a page. */
export interface Look {
  readonly branding: Branding;
  readonly language: Language;
}

const signetColor = '#3447d4';

/** The look of a page when nothing else is known. */
export const plainLook: Look = {
  branding: defaultSignInExperience.branding,
  language: 'en',
};

const footerTexts = {
  en: { terms: 'Terms', privacy: 'Privacy' },
  de: { terms: 'Nutzungsbedingungen', privacy: 'Datenschutz' },
} as const satisfies Record<Language, object>;

const styles = new Map<string, { readonly style: string; readonly digest: string }>();

// The map holds every colour used since the start. That stays few: an operator tries some and keeps one.
function styleFor({ branding }: Look) {
  const primaryColor = branding.primaryColor ?? signetColor;
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

/** What a page may do that others may not. */
export interface PageExceptions {
  /** The URL whose origin may show the page in a frame. */
  readonly framedBy?: string;
  /** Whether another origin that gets the page's form learns that it came from this one. */
  readonly tellsOrigin?: boolean;
}

/** The response headers of a page in this look. Without a script, the page can run none. */
export function pageHeaders(
  look: Look = plainLook,
  script?: PageScript | InlineScript,
  { framedBy, tellsOrigin = false }: PageExceptions = {},
): Record<string, string> {
  const { logoUrl } = look.branding;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': look.language,
    'cache-control': 'no-store',
    // No form-action: browsers apply it to all redirects after a form. These lead to the application, which may
    // redirect to an address that is unknown here.
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${styleFor(look).digest}'`,
      ...(logoUrl === null ? [] : [`img-src ${sourceOf(logoUrl)}`]),
      ...(script ? scriptPolicy(script) : []),
      "base-uri 'none'",
      `frame-ancestors ${framedBy === undefined ? "'none'" : sourceOf(framedBy)}`,
    ].join('; '),
    // Not no-referrer, which would remove the Origin header from the page's own form.
    'referrer-policy': tellsOrigin ? 'strict-origin' : 'same-origin',
    'x-content-type-options': 'nosniff',
    ...(framedBy === undefined ? { 'x-frame-options': 'DENY' } : {}),
  };
}

const scriptPolicy = (script: PageScript | InlineScript): string[] =>
  'code' in script
    ? [`script-src 'sha256-${digestOf(script.code)}'`]
    : [`script-src ${exactSource(script.src)}`, `connect-src ${exactSource(script.connect)}`];

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

function footer({ branding: { termsUrl, privacyUrl }, language }: Look): Html {
  const texts = footerTexts[language];
  const link = (url: string, text: string) =>
    html`<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;
  return html`<footer>${termsUrl !== null && link(termsUrl, texts.terms)}${
    privacyUrl !== null && link(privacyUrl, texts.privacy)
  }</footer>`;
}

/** The content of a page. */
export interface Content {
  /** The heading. It is also the window's title unless `title` is set. */
  readonly heading: string;
  readonly title?: string;
  /** A line under the heading. */
  readonly lead?: HtmlText;
  readonly body: Html;
  readonly script?: PageScript | InlineScript | undefined;
}

type HtmlText = Html | string | undefined;

const scriptElement = (script: PageScript | InlineScript): Html =>
  'code' in script
    ? html`<script type="module">${new Html(script.code)}</script>`
    : html`<script type="module" src="${script.src}"></script>`;

/** A whole page. It loads nothing but the operator's logo, and its script if it has one. */
export const page = (
  { heading, title = heading, lead, body, script }: Content,
  look: Look = plainLook,
) =>
  html`<!doctype html>
<html lang="${look.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · ${look.branding.productName}</title>
<style>${new Html(styleFor(look).style)}</style>${script && scriptElement(script)}
</head>
<body>
${brand(look.branding)}
<main>
<h1>${heading}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${body}
</main>
${footer(look)}
</body>
</html>
`.markup;

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

const unavailableTexts = {
  en: {
    heading: 'Back in a moment',
    lead: 'The service cannot answer now. Nothing was lost: load this page again in a few seconds.',
    tryAgain: 'Try again',
  },
  de: {
    heading: 'Gleich geht es weiter',
    lead: 'Der Dienst kann gerade nicht antworten. Nichts ging verloren: Laden Sie diese Seite in einigen Sekunden noch einmal.',
    tryAgain: 'Noch einmal versuchen',
  },
} as const satisfies Record<Language, object>;

/**
 * A page which says that the service cannot answer now, but may soon.
 *
 * @param retryUrl The URL to load again; absent if a repetition could do harm.
 */
export function unavailablePage(look: Look = plainLook, retryUrl?: string): string {
  const { tryAgain, ...content } = unavailableTexts[look.language];
  const body = retryUrl === undefined ? html`` : goOn(retryUrl, tryAgain);
  return page({ ...content, body }, look);
}
