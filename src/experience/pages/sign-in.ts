import { html } from '../../html/markup.ts';
import { type Look, page } from '../../html/page.ts';
import { cancel, type FormFrame, field, form, problemNote, submit } from './form.ts';
import { type PasskeyFrame, passkeyWay } from './passkey-form.ts';
import { type ProviderChoice, providerButtons } from './providers.ts';
import { type Texts, texts } from './texts.ts';

/** A kind of identifier that people sign in with. */
export type Identifier = 'USERNAME' | 'EMAIL' | 'PHONE';

/** The data that every page of a sign-in needs. */
export interface PageFrame extends FormFrame {
  readonly look: Look;
  readonly application: string;
  /** The URL of the interaction. Its pages are below it. */
  readonly base: string;
  /** The text of the problem, in the page's language. */
  readonly problem?: string | undefined;
}

/** Puts "Error" before the window's title if there is a problem, so that a screen reader reads it first. */
export const titled = (t: Texts, title: string, problem: string | undefined): string =>
  problem === undefined ? title : `${t.error}: ${title}`;

/** The label of a field that takes any of these identifiers: "E-mail address or user name". */
export function identifierLabel(t: Texts, identifiers: readonly Identifier[]): string {
  const names = identifiers.map((identifier) => t.identifier[identifier]);
  const last = names.at(-1) ?? '';
  const label = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${t.or} ${last}`;
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/** The content of the first page of a sign-in. */
export interface SignInPage extends PageFrame {
  readonly identifiers: readonly Identifier[];
  readonly identifier: string;
  readonly offersCode: boolean;
  readonly offersRecovery: boolean;
  readonly offersSignUp: boolean;
  /** Absent where passkeys are off. */
  readonly passkey: PasskeyFrame | undefined;
  /** Whether the problem is that what was typed does not fit. */
  readonly isRefused: boolean;
  /** Without: the identifier alone, whose domain may lead to an identity provider. */
  readonly asksPassword: boolean;
  readonly providers: readonly ProviderChoice[];
}

/** The sign-in page. It asks for an identifier and the password. */
export function signInPage(shown: SignInPage): string {
  const { look, application, base, problem, passkey } = shown;
  const t = texts[look.language];
  const hasFailed = problem !== undefined;
  const knowsWho = shown.identifier !== '' && !hasFailed;
  // The problem describes both fields: the page must not say which of them is wrong.
  const isProblem = shown.isRefused;
  const fields = html`${field({
    name: 'identifier',
    label: identifierLabel(t, shown.identifiers),
    autocomplete: passkey ? 'username webauthn' : 'username',
    value: shown.identifier,
    autofocus: !hasFailed && !knowsWho,
    isProblem,
  })}
${
  shown.asksPassword &&
  field({
    name: 'password',
    label: t.password,
    type: 'password',
    autocomplete: 'current-password',
    autofocus: knowsWho,
    isProblem,
    ...(shown.offersRecovery
      ? { aside: html`<a href="${base}/forgot-password">${t.forgotPassword}</a>` }
      : {}),
  })
}
${submit(shown.asksPassword ? t.signIn : t.addressFirst)}
${cancel(t)}`;
  return page(
    {
      heading: t.signIn,
      title: titled(t, t.signInTo(application), problem),
      lead: t.toContinueTo(application),
      script: passkey?.script,
      body: html`${problemNote(problem)}${form(shown, fields)}${passkey && passkeyWay(passkey, t)}${
        shown.offersCode &&
        html`<ul class="ways"><li><a class="button quiet" href="${base}/code">${t.useCode}</a></li></ul>`
      }${providerButtons(shown, t, shown.providers, true)}${
        shown.offersSignUp &&
        html`<p class="below">${t.noAccount} <a href="${base}/register">${t.createAccount}</a></p>`
      }`,
    },
    look,
  );
}

/** The content of the page of a one-time link. */
export interface OneTimeLinkPage extends PageFrame {
  /** Whether the page asks for the address that the link was sent to. */
  readonly asksEmail: boolean;
  readonly email: string;
}

/** The page of a one-time link. It asks for a click, so that scanners, which only fetch the link, do not use it up. */
export function oneTimeLinkPage(shown: OneTimeLinkPage): string {
  const { look, application, base, problem, asksEmail } = shown;
  const t = texts[look.language];
  const email =
    asksEmail &&
    field({
      name: 'email',
      label: t.email,
      type: 'email',
      autocomplete: 'email',
      value: shown.email,
      hint: t.linkEmailHint,
      autofocus: problem === undefined,
      isProblem: problem !== undefined,
    });
  return page(
    {
      heading: t.linkTitle,
      title: titled(t, t.linkTitle, problem),
      lead: t.toContinueTo(application),
      body: html`${problemNote(problem) ?? html`<p>${t.linkLead}</p>`}${form(shown, html`${email}${submit(t.continue)}${cancel(t)}`)}<ul class="ways"><li><a class="button quiet" href="${base}?sign-in">${t.anotherWay}</a></li></ul>`,
    },
    look,
  );
}
