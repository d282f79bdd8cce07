import { html, page } from '../html/page.ts';

/** What the sign-in page shows. */
export interface SignInPage {
  /** Where the form goes: this page's own address. */
  readonly action: string;
  /** The application that the user signs in to. */
  readonly application: string;
  readonly csrfToken: string;
  readonly identifier: string;
  readonly hasFailed: boolean;
}

/** The sign-in page: a form for user name or e-mail address, and password. */
export const signInPage = (shown: SignInPage): string =>
  page(
    `Sign in to ${shown.application}`,
    html`${
      shown.hasFailed &&
      html`<div id="error" class="error" role="alert" tabindex="-1" autofocus>
The user name, e-mail address or password is not right, or the account cannot be used.</div>
`
    }<form method="post" action="${shown.action}">
<input type="hidden" name="csrf" value="${shown.csrfToken}">
<label for="identifier">User name or e-mail address</label>
<input id="identifier" name="identifier" type="text" value="${shown.identifier}" maxlength="320" required autocomplete="username" autocapitalize="none" spellcheck="false"${
      shown.hasFailed ? html` aria-invalid="true" aria-describedby="error"` : html` autofocus`
    }>
<label for="password">Password</label>
<input id="password" name="password" type="password" maxlength="256" required autocomplete="current-password"${
      shown.hasFailed && html` aria-invalid="true" aria-describedby="error"`
    }>
<button type="submit">Sign in</button>
<button type="submit" name="cancel" value="yes" class="quiet" formnovalidate>Cancel</button>
</form>`,
  );

/** Says that a sign-in cannot go on, and what to do. */
export const brokenSignInPage = (): string =>
  page(
    'This sign-in cannot go on',
    html`<p>It took too long, was finished already, or was begun in another browser.
Go back to the application and sign in again.</p>`,
  );
