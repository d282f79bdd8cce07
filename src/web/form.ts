import { Html, html } from '../markup.ts';
import { separator } from '../text/typed.ts';

/** The mark of what is wrong. */
export const alertMark = new Html(
  '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8.25" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M10 5.8v5" stroke="currentColor" stroke-width="1.9" stroke-linecap="round"/><circle cx="10" cy="13.8" r="1.15" fill="currentColor"/></svg>',
);
/** The mark of what is well. */
export const doneMark = new Html(
  '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8.25" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="m6.4 10.3 2.4 2.4 4.8-5.1" fill="none" stroke="currentColor" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"/></svg>',
);

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: string;
  readonly type?: 'text' | 'password' | 'email' | 'tel';
  readonly value?: string;
  readonly hint?: string;
  /** The faults of the field, in the page's language. */
  readonly faults?: readonly string[] | undefined;
  readonly maxLength?: number;
  /** Markup below the field. Nothing that takes the focus stands between two fields. */
  readonly aside?: Html;
  readonly autofocus?: boolean;
  readonly isOptional?: boolean;
  /** Whether the page's problem describes this field (`aria-describedby`). Faults of its own come first. */
  readonly isProblem?: boolean;
  /** For a code of six digits: the text that says that it sends itself. */
  readonly sends?: string;
  /** For a password: the texts of the button that shows it and hides it. */
  readonly reveal?: { readonly showPassword: string; readonly hidePassword: string };
}

// As the service reads a code, in the words of browsers' patterns (flag `v`).
const codePattern = String.raw`${separator}*(\p{Nd}${separator}*){6}`;

// With `type="email"`, browsers refuse what is outside ASCII before the "@" (HTML, "valid e-mail address").
const typeOf = ({ type = 'text' }: Pick<Field, 'type'>): Html =>
  type === 'email' ? html`type="text" inputmode="email"` : html`type="${type}"`;

/** The markup of a field with its label, hint and faults. The hint and the faults describe it (`aria-describedby`). */
export function field(shown: Field): Html {
  const { name, faults = [] } = shown;
  // A fault may have the same text as the hint.
  const hint = faults.some((text) => text === shown.hint) ? undefined : shown.hint;
  const isCode = shown.autocomplete === 'one-time-code';
  const described = [
    ...(shown.isProblem && faults.length === 0 ? [problemId] : []),
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(faults.length === 0 ? [] : [`${name}-error`]),
  ];
  const fault =
    faults.length > 1
      ? html`<ul class="wrong" id="${name}-error">${faults.map((text) => html`<li>${text}</li>`)}</ul>`
      : faults.map((text) => html`<p class="wrong" id="${name}-error">${text}</p>`);
  return html`<div class="field">
<label for="${name}">${shown.label}</label>
<input id="${name}" name="${name}" ${typeOf(shown)} autocomplete="${shown.autocomplete}"${
    // No maxlength for passwords: browsers cut longer ones off silently, and count differently from the password
    // policy.
    shown.type !== 'password' && html` maxlength="${String(shown.maxLength ?? 320)}"`
  }${
    shown.value !== undefined && html` value="${shown.value}"`
  }${isCode && html` class="code" inputmode="numeric" pattern="${codePattern}" spellcheck="false"`}${
    !isCode && shown.type !== 'password' && html` autocapitalize="none" spellcheck="false"`
  }${!shown.isOptional && html` required`}${shown.autofocus && html` autofocus`}${
    described.length > 0 && html` aria-describedby="${described.join(' ')}"`
  }${faults.length > 0 && html` aria-invalid="true"`}${
    shown.reveal &&
    html` data-show="${shown.reveal.showPassword}" data-hide="${shown.reveal.hidePassword}"`
  }${shown.sends !== undefined && html` data-sends="${shown.sends}"`}>
${fault}${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${shown.aside && html`<p class="aside">${shown.aside}</p>`}
</div>`;
}

/** A form of these pages. It posts to one of their URLs, with the token against forgery. */
export interface FormFrame {
  readonly action: string;
  readonly csrfToken: string;
}

/** The markup of a form. */
export const form = (
  { action, csrfToken }: FormFrame,
  content: Html | readonly Html[],
  className?: string,
): Html =>
  html`<form method="post" action="${action}"${className !== undefined && html` class="${className}"`}>
<input type="hidden" name="csrf" value="${csrfToken}">
${content}
</form>`;

/**
 * A button in its own form, which looks like a link.
 *
 * @param shown.waitSeconds How long it waits before it can be pressed, where the page runs scripts.
 */
export const action = (
  frame: FormFrame,
  name: string,
  text: string,
  { waitSeconds = 0 }: { readonly waitSeconds?: number } = {},
): Html =>
  html`<form class="inline" method="post" action="${frame.action}"><input type="hidden" name="csrf" value="${frame.csrfToken}"><button class="text" type="submit" name="${name}" value="yes" formnovalidate${
    waitSeconds > 0 && html` data-wait="${String(waitSeconds)}"`
  }>${text}</button></form>`;

/** The button that submits the form. */
export const submit = (text: string): Html => html`<button type="submit">${text}</button>`;

/** The id of the element that shows a form's problem. */
const problemId = 'error';

/**
 * The problem with a form, as a note above it. The note takes the focus, so that a screen reader reads it first; or
 * else the field to fill in again has the focus, and the note describes that field.
 */
export const problemNote = (
  text: string | undefined,
  { hasFocus = true }: { readonly hasFocus?: boolean } = {},
): Html | undefined =>
  text === undefined
    ? undefined
    : html`<div id="${problemId}" class="note bad" role="alert" tabindex="-1"${hasFocus && html` autofocus`}>${alertMark}<p>${text}</p></div>`;

/** A note about a completed action. */
export const doneNote = (text: string): Html =>
  html`<div class="note good" role="status">${doneMark}<p>${text}</p></div>`;
