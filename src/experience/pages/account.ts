import { html } from '../../html/markup.ts';
import { page } from '../../html/page.ts';
import { cancel, doneNote, field, form, problemNote, submit } from './form.ts';
import { type ProviderChoice, providerButtons } from './providers.ts';
import { type PageFrame, titled } from './sign-in.ts';
import { texts } from './texts.ts';

/** The reasons why a password is refused: codes of the password policy. */
export type PasswordFaults = readonly { readonly code: string; readonly message: string }[];

/** The content of a page that asks for a new password. */
interface PasswordFields {
  readonly minLength: number;
  readonly passwordFaults?: PasswordFaults;
}

function passwordField(
  { look, minLength, passwordFaults = [] }: PasswordFields & PageFrame,
  label: string,
  autofocus: boolean,
) {
  const t = texts[look.language];
  return field({
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    hint: t.passwordHint(minLength),
    faults: passwordFaults.map(({ code, message }) => {
      const text = t.rejected[code];
      return typeof text === 'function' ? text(minLength) : (text ?? message);
    }),
    autofocus,
  });
}

/** The content of the page that creates an account. */
export interface RegisterPage extends PageFrame, PasswordFields {
  readonly asksUsername: boolean;
  readonly needsUsername: boolean;
  readonly asksPassword: boolean;
  readonly username: string;
  readonly usernameFaults?: readonly string[];
  /** The verified addresses. */
  readonly verified: readonly string[];
  readonly providers: readonly ProviderChoice[];
}

/** The page that creates an account. It asks for a user name, a password, or both. */
export function registerPage(shown: RegisterPage): string {
  const { look, application, base, problem, verified } = shown;
  const t = texts[look.language];
  const calm = problem === undefined;
  const terms = look.branding.termsUrl !== null || look.branding.privacyUrl !== null;
  const fields = html`${
    shown.asksUsername &&
    field({
      name: 'username',
      label: shown.needsUsername ? t.username : `${t.username} (${t.optional})`,
      isOptional: !shown.needsUsername,
      autocomplete: 'username',
      maxLength: 128,
      value: shown.username,
      hint: t.usernameHint,
      faults: shown.usernameFaults ?? [],
      autofocus: calm,
    })
  }${
    !shown.asksUsername &&
    verified[0] !== undefined &&
    html`<input class="visually-hidden" type="text" name="account" autocomplete="username" value="${verified[0]}" readonly tabindex="-1" aria-hidden="true">`
  }${shown.asksPassword && passwordField(shown, t.password, calm && !shown.asksUsername)}
${submit(t.createAccount)}
${cancel(t)}`;
  return page(
    {
      heading: t.createAccount,
      title: titled(t, t.createAccount, problem),
      lead: t.toContinueTo(application),
      body: html`${problemNote(problem)}${calm && verified.map((address) => doneNote(t.verified(address)))}${form(shown, fields)}${
        terms && html`<p><small>${t.agree}</small></p>`
      }${providerButtons(shown, t, shown.providers, true)}<p class="below">${t.haveAccount} <a href="${base}?sign-in">${t.signIn}</a></p>`,
    },
    look,
  );
}

/** The content of the page that asks for an account's new password. */
export interface NewPasswordPage extends PageFrame, PasswordFields {
  /** The identifier that the person typed. Password managers save the password under it. */
  readonly account: string;
}

/** The page that asks for a new password, after a code has proved whose account it is. */
export function newPasswordPage(shown: NewPasswordPage): string {
  const { look, problem, account } = shown;
  const t = texts[look.language];
  const fields = html`<input class="visually-hidden" type="text" name="account" autocomplete="username" value="${account}" readonly tabindex="-1" aria-hidden="true">
${passwordField(shown, t.newPassword, problem === undefined)}
${submit(t.savePassword)}
${cancel(t)}`;
  return page(
    {
      heading: t.chooseNewPassword,
      title: titled(t, t.chooseNewPassword, problem),
      body: html`${problemNote(problem)}${form(shown, fields)}`,
    },
    look,
  );
}
