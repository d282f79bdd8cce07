import { secondsUntil } from '../clock.ts';
import { Html, html } from '../markup.ts';
import { action, type FormFrame, field } from './form.ts';
import type { PageRequest } from './site.ts';
import type { SharedTexts } from './texts.ts';
import type { Visit } from './visit.ts';

/** Tells a password manager which account the new password on the page is for. */
export const accountOfPassword = (name: string): Html =>
  html`<input class="visually-hidden" type="text" name="account" autocomplete="username" value="${name}" readonly tabindex="-1" aria-hidden="true">`;

/** A field for a new password, with the faults that the password policy found. */
export function newPasswordField(
  { texts: t, settings }: Visit,
  { problem }: PageRequest,
  shown: { readonly label: string; readonly autofocus?: boolean },
): Html {
  return field({
    name: 'password',
    type: 'password',
    reveal: t,
    autocomplete: 'new-password',
    hint: t.passwordHint(settings.passwordPolicy.minLength),
    faults: problem?.faults?.['password'],
    ...shown,
  });
}

/** A field for a code of six digits that a message or an app shows. */
export const codeField = (
  label: string,
  { codeSends }: SharedTexts,
  { problem }: PageRequest,
  shown: { readonly hint?: string; readonly autofocus?: boolean } = {},
): Html =>
  field({
    name: 'code',
    label,
    autocomplete: 'one-time-code',
    maxLength: 20,
    autofocus: true,
    isProblem: problem !== undefined,
    sends: codeSends,
    ...shown,
  });

/** How long a message takes to come, usually. Before that, the page offers no other one. */
const resendSeconds = 30;

/**
 * What stands below a field for a code that was sent: a new code, and another address, each on a line of its own.
 *
 * @param sent.expiresAt When the last code expires.
 */
export function belowCode(
  { texts: t, context, settings }: Visit,
  frame: FormFrame,
  { expiresAt, otherUrl }: { readonly expiresAt: Date; readonly otherUrl?: string },
): Html {
  const left = Math.ceil(secondsUntil(context.clock, expiresAt));
  const waitSeconds = left - settings.codePolicy.ttlSeconds + resendSeconds;
  return html`<div class="below">${t.notArrived}<br>${action(frame, 'resend', t.sendAnother, { waitSeconds })}${
    otherUrl !== undefined && html`<br><a href="${otherUrl}">${t.otherAddress}</a>`
  }</div>`;
}

/** A new secret of an authenticator app: as a QR code, as text, and as a link that opens an app. */
export function authenticatorSecret(
  { newFactor: t }: SharedTexts,
  enrolled: { readonly secret: string; readonly uri: string; readonly qrCodeSvg: string },
): Html {
  const picture = enrolled.qrCodeSvg.replace(
    '<svg ',
    html`<svg class="qr" role="img" aria-label="${t.qrCode}" `.markup,
  );
  const key = (enrolled.secret.match(/.{1,4}/g) ?? []).join(' ');
  return html`${new Html(picture)}
<p>${t.typeKey} <code>${key}</code></p>
<p><a href="${enrolled.uri}">${t.openApp}</a></p>
`;
}

/** New backup codes, which are shown once. */
export const backupCodeList = ({ newFactor: t }: SharedTexts, codes: readonly string[]): Html =>
  html`<ol class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol><p>${t.codesOnce}</p>`;
