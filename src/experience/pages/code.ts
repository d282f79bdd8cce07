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
import { type PageFrame, titled } from './sign-in.ts';
import { texts } from './texts.ts';

/** What a code is for. */
export type CodePurpose = 'SIGN_IN' | 'REGISTER' | 'RESET_PASSWORD';

/** What the page shows that asks where to send a code. */
export interface AddressPage extends PageFrame {
  readonly purpose: CodePurpose;
  readonly kind: 'EMAIL' | 'PHONE';
  /** The address of the same page for the other kind, where it is offered. */
  readonly otherKind: string | undefined;
  /** Where to go on without an address, where none is required. */
  readonly skip?: string | undefined;
  readonly value: string;
  readonly faults?: readonly string[];
  readonly offersPassword: boolean;
}

/** Asks for the address that a code is to go to. */
export function addressPage(shown: AddressPage): string {
  const { look, base, problem, purpose, kind, value, faults = [] } = shown;
  const t = texts[look.language];
  const { heading, lead } = {
    SIGN_IN: { heading: t.signInByCode, lead: t.signInByCodeLead },
    REGISTER: { heading: t.createAccount, lead: t.registerLead },
    RESET_PASSWORD: { heading: t.resetPassword, lead: t.resetPasswordLead },
  }[purpose];
  const common = { value, faults, autofocus: problem === undefined };
  const address =
    kind === 'EMAIL'
      ? field({ name: 'email', label: t.email, type: 'email', autocomplete: 'email', ...common })
      : field({
          name: 'phone',
          label: t.phone,
          type: 'tel',
          autocomplete: 'tel',
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
      body: html`${problemNote(problem)}${form(shown, html`${address}${submit(t.sendCode)}${cancel(t)}`)}${
        (other || password || skip) && html`<ul class="ways">${other}${password}${skip}</ul>`
      }${
        purpose === 'REGISTER' &&
        html`<p class="below">${t.haveAccount} <a href="${base}?sign-in">${t.signIn}</a></p>`
      }`,
    },
    look,
  );
}

/** What the page shows that asks for a code. */
export interface CodePage extends PageFrame {
  /** Masked. */
  readonly recipient: string;
  readonly ttlMinutes: number;
  /** Where to ask for another code. */
  readonly resend: FormFrame;
  /** Where to name another address. */
  readonly back: string;
  readonly offersPassword: boolean;
  /** Whether it is another one than the first. */
  readonly isSentAgain: boolean;
}

/** Asks for the code that was sent. Says the same whether or not one was. */
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
