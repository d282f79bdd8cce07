import { type Html, html } from '../../html/markup.ts';
import type { PageScript } from '../../html/page.ts';
import type { FormFrame } from './form.ts';
import type { Texts } from './texts.ts';

/** What the forms of passkeys need. */
export interface PasskeyFrame extends FormFrame {
  readonly script: PageScript;
}

/** A form of a passkey: what it asks the authenticator, and what it says. */
export interface PasskeyForm {
  readonly ceremony: 'get' | 'create';
  readonly button: string;
  readonly isQuiet?: boolean;
  readonly fields?: Html;
  /** What to say when the person gave up, or took too long. */
  readonly cancelled: string;
}

/** A form that the script shows, where the browser can use passkeys. */
export const passkeyForm = (
  { action, csrfToken }: FormFrame,
  t: Texts,
  { ceremony, button, isQuiet = false, fields, cancelled }: PasskeyForm,
): Html =>
  html`<form class="passkey" method="post" action="${action}" data-passkey="${ceremony}" hidden>
<input type="hidden" name="csrf" value="${csrfToken}">
<input type="hidden" name="response" value="">
${fields}<button type="submit"${isQuiet && html` class="quiet"`}>${button}</button>
<p class="wrong" role="alert" data-when="cancelled" hidden>${cancelled}</p>
<p class="wrong" role="alert" data-when="known" hidden>${t.passkeyKnown}</p>
</form>`;

/** The button on the pages where people sign in. */
export const passkeyWay = (frame: PasskeyFrame, t: Texts): Html =>
  passkeyForm(frame, t, {
    ceremony: 'get',
    button: t.signInByPasskey,
    isQuiet: true,
    cancelled: t.passkeyCancelled,
  });
