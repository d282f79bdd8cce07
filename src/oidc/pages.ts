import type { KoaContextWithOIDC } from 'oidc-provider';
import { Html, html, page, pageHeaders } from '../html/page.ts';

function show(ctx: KoaContextWithOIDC, title: string, content: Html): void {
  ctx.set(pageHeaders);
  ctx.body = page(title, content);
}

/** Tells a person why a request led nowhere, where no application can be told. */
export function showError(
  ctx: KoaContextWithOIDC,
  {
    error,
    error_description: description,
  }: { error: string; error_description?: string | undefined },
): void {
  show(
    ctx,
    'This did not work',
    html`<p>Go back to the application and try again. If it happens again, tell its operator this:</p>
<p><code>${error}</code>${description ? `: ${description}` : undefined}</p>`,
  );
}

/**
 * Asks whether to sign out.
 *
 * @param form The library's form, which carries its token against forgery; the buttons belong to it.
 */
export function askSignOut(ctx: KoaContextWithOIDC, form: string): void {
  show(
    ctx,
    'Sign out?',
    html`${new Html(form)}
<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button type="submit" form="op.logoutForm" class="quiet">Stay signed in</button>`,
  );
}

/** Says that the sign-out is done, where no application wants the person back. */
export function showSignedOut(ctx: KoaContextWithOIDC): void {
  show(ctx, 'You are signed out', html`<p>You can close this page.</p>`);
}
