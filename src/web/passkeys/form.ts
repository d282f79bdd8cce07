import { type Html, html } from '../../markup.ts';
import { type FormFrame, field } from '../form.ts';
import type { SharedTexts } from '../texts.ts';

/** A form that asks the browser for a passkey. */
export interface PasskeyForm {
  readonly ceremony: 'get' | 'create';
  readonly button: string;
  readonly isQuiet?: boolean;
  readonly fields?: Html;
  /** What to say when the person gave up, or took too long. */
  readonly cancelled: string;
}

/** A form that asks the browser for a passkey. The page's script shows it if the browser can use passkeys. */
export const passkeyForm = (
  { action, csrfToken }: FormFrame,
  t: SharedTexts,
  { ceremony, button, isQuiet = false, fields, cancelled }: PasskeyForm,
): Html =>
  html`<form class="passkey" method="post" action="${action}" data-passkey="${ceremony}" hidden>
<input type="hidden" name="csrf" value="${csrfToken}">
<input type="hidden" name="response" value="">
${fields}<button type="submit"${isQuiet && html` class="quiet"`}>${button}</button>
<p class="wrong" role="alert" data-when="cancelled" hidden>${cancelled}</p>
<p class="wrong" role="alert" data-when="known" hidden>${t.passkeyKnown}</p>
</form>`;

/** A form that creates a passkey under a name. */
export const newPasskeyForm = (frame: FormFrame, t: SharedTexts, sent: URLSearchParams): Html =>
  passkeyForm(frame, t, {
    ceremony: 'create',
    button: t.createPasskey,
    fields: field({
      name: 'name',
      label: t.passkeyName,
      autocomplete: 'off',
      value: sent.get('name') ?? '',
      hint: t.passkeyNameHint,
      isOptional: true,
      maxLength: 128,
    }),
    cancelled: t.passkeyNotMade,
  });

/** Says that the browser cannot use passkeys. The page's script hides it if the browser can. */
export const withoutPasskeys = (t: SharedTexts): Html =>
  html`<p data-without-passkeys>${t.passkeysUnavailable}</p>`;
