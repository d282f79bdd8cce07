import { html } from '../../html/markup.ts';
import { page } from '../../html/page.ts';
import {
  action,
  cancel,
  doneNote,
  type FormFrame,
  field,
  form,
  problemNote,
  submit,
} from './form.ts';
import { type PasskeyFrame, passkeyWay } from './passkey-form.ts';
import { type ProviderChoice, providerButtons } from './providers.ts';
import { type PageFrame, titled } from './sign-in.ts';
import { texts } from './texts.ts';

/** The purpose of a code. */
export type CodePurpose = 'SIGN_IN' | 'REGISTER' | 'RESET_PASSWORD';

/** The content of the page that asks where to send a code. */
export interface AddressPage extends PageFrame {
  readonly purpose: CodePurpose;
  readonly kind: 'EMAIL' | 'PHONE';
  /** The URL of the same page for the other kind of address; undefined if there is none. */
  readonly otherKind: string | undefined;
  /** The URL that skips the address; absent if an address is required. */
  readonly skip?: string | undefined;
  readonly value: string;
  readonly faults?: readonly string[];
  readonly offersPassword: boolean;
  /** Absent where nobody signs in by passkey on this page. */
  readonly passkey?: PasskeyFrame | undefined;
  readonly providers: readonly ProviderChoice[];
}

/** The page that asks where to send a code. */
export function addressPage(shown: AddressPage): string {
  const { look, base, problem, purpose, kind, value, faults = [], passkey } = shown;
  const t = texts[look.language];
  const { heading, lead } = {
    SIGN_IN: { heading: t.signInByCode, lead: t.signInByCodeLead },
    REGISTER: { heading: t.createAccount, lead: t.registerLead },
    RESET_PASSWORD: { heading: t.resetPassword, lead: t.resetPasswordLead },
  }[purpose];
  const common = {
    value,
    faults,
    autofocus: problem === undefined,
    isProblem: problem !== undefined,
  };
  const autocomplete = (token: string) => (passkey ? `${token} webauthn` : token);
  const address =
    kind === 'EMAIL'
      ? field({
          name: 'email',
          label: t.email,
          type: 'email',
          autocomplete: autocomplete('email'),
          ...common,
        })
      : field({
          name: 'phone',
          label: t.phone,
          type: 'tel',
          autocomplete: autocomplete('tel'),
          hint: t.phoneHint,
          ...common,
        });
  const other =
    shown.otherKind !== undefined &&
    html`<li><a class="button quiet" href="${shown.otherKind}">${kind === 'EMAIL' ? t.usePhone : t.useEmail}</a></li>`;
  const password =
    shown.offersPassword &&
    html`<li><a class="button quiet" href="${base}?sign-in">${t.usePassword}</a></li>`;
  const skip =
    shown.skip !== undefined &&
    html`<li><a class="button quiet" href="${shown.skip}">${t.notNow}</a></li>`;
  return page(
    {
      heading,
      title: titled(t, heading, problem),
      lead,
      script: passkey?.script,
      body: html`${problemNote(problem)}${form(shown, html`${address}${submit(t.sendCode)}${cancel(t)}`)}${passkey && passkeyWay(passkey, t)}${
        (other || password || skip) && html`<ul class="ways">${other}${password}${skip}</ul>`
      }${providerButtons(shown, t, shown.providers, true)}${
        purpose === 'REGISTER' &&
        html`<p class="below">${t.haveAccount} <a href="${base}?sign-in">${t.signIn}</a></p>`
      }`,
    },
    look,
  );
}

/** The content of the page that asks for a code. */
export interface CodePage extends PageFrame {
  /** The address, partly hidden. */
  readonly recipient: string;
  readonly ttlMinutes: number;
  /** The form that requests another code. */
  readonly resend: FormFrame;
  /** The URL of the page for another address. */
  readonly back: string;
  readonly offersPassword: boolean;
  /** Whether this code was sent again on request. */
  readonly isSentAgain: boolean;
}

/** The page that asks for the code. It says the same whether or not one was sent. */
export function codePage(shown: CodePage): string {
  const { look, base, problem, recipient } = shown;
  const t = texts[look.language];
  const code = field({
    name: 'code',
    label: t.code,
    autocomplete: 'one-time-code',
    maxLength: 20,
    hint: t.codeMinutes(shown.ttlMinutes),
    autofocus: problem === undefined,
    isProblem: problem !== undefined,
  });
  return page(
    {
      heading: t.enterCode,
      title: titled(t, t.enterCode, problem),
      lead: t.codeSent(recipient),
      body: html`${problemNote(problem)}${shown.isSentAgain && problem === undefined && doneNote(t.sentAgain)}${form(shown, html`${code}${submit(t.continue)}${cancel(t)}`)}${
        shown.offersPassword &&
        html`<ul class="ways"><li><a class="button quiet" href="${base}?sign-in">${t.usePassword}</a></li></ul>`
      }<div class="below">${t.notArrived}<br>${action(shown.resend, 'resend', t.sendAnother)}<span class="apart" aria-hidden="true">·</span><a href="${shown.back}">${t.otherAddress}</a></div>`,
    },
    look,
  );
}
