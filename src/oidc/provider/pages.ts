import type { KoaContextWithOIDC } from 'oidc-provider';
import { retryAfterSeconds } from '../../failures.ts';
import { lookFor, lookWithoutDatabase } from '../../html/look.ts';
import { Html, html } from '../../html/markup.ts';
import { type Content, goOn, page, pageHeaders, unavailablePage } from '../../html/page.ts';
import type { Language } from '../../languages.ts';
import type { Services } from '../../services.ts';
import { TemporarilyUnavailable } from '../token/oauth-errors.ts';

const en = {
  failed: 'This did not work',
  failedLead:
    'Go back to the application and try again. If it happens again, tell its operator this:',
  toAccount: 'Go to your account',
  signOut: 'Sign out',
  askSignOut: 'Sign out?',
  askSignOutLead: 'Applications that you are signed in to here may ask you to sign in again.',
  stay: 'Stay signed in',
  signedOut: 'You are signed out',
  signedOutLead: 'You can close this page.',
};

const texts: Readonly<Record<Language, typeof en>> = {
  en,
  de: {
    failed: 'Das hat nicht geklappt',
    failedLead:
      'Gehen Sie zurück zur Anwendung und versuchen Sie es noch einmal. Wenn es wieder geschieht, sagen Sie dem Betreiber dies:',
    toAccount: 'Zu Ihrem Konto',
    signOut: 'Abmelden',
    askSignOut: 'Abmelden?',
    askSignOutLead:
      'Anwendungen, bei denen Sie hier angemeldet sind, können Sie um eine neue Anmeldung bitten.',
    stay: 'Angemeldet bleiben',
    signedOut: 'Sie sind abgemeldet',
    signedOutLead: 'Sie können diese Seite schließen.',
  },
};

const spokenIn = (ctx: KoaContextWithOIDC) => ({
  uiLocales: ctx.oidc?.params?.['ui_locales'],
  acceptLanguage: ctx.get('accept-language'),
});

async function show(
  services: Services,
  ctx: KoaContextWithOIDC,
  contentIn: (t: typeof en) => Content,
): Promise<void> {
  const look = await lookFor(services, spokenIn(ctx));
  ctx.set(pageHeaders(look));
  ctx.body = page(contentIn(texts[look.language]), look);
}

/** Tells a person why a request failed, when no application can be informed. */
export const showError = (
  services: Services,
  ctx: KoaContextWithOIDC,
  {
    error,
    error_description: description,
  }: { error: string; error_description?: string | undefined },
): Promise<void> =>
  show(services, ctx, (t) => ({
    heading: t.failed,
    lead: t.failedLead,
    body: html`<p><code>${error}</code>${description ? `: ${description}` : undefined}</p>${goOn(`${services.baseUrl}/account`, t.toAccount)}`,
  }));

/**
 * Says that the database cannot be reached: as a page for people, as RFC 6749 §5.2 for programs.
 *
 * @param retryUrl The URL that the page leads to; absent if a repetition could do harm.
 */
export function showUnavailable(ctx: KoaContextWithOIDC, retryUrl: string | undefined): void {
  const { status, code, message } = new TemporarilyUnavailable(undefined);
  ctx.status = status;
  ctx.remove('Location');
  ctx.set('Retry-After', String(retryAfterSeconds));
  if (ctx.accepts('json', 'html') === 'html') {
    const look = lookWithoutDatabase(spokenIn(ctx));
    ctx.set(pageHeaders(look));
    ctx.body = unavailablePage(look, retryUrl);
  } else {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error: code, error_description: message };
  }
}

/**
 * Asks whether to sign out.
 *
 * @param form The library's form, with its token against forgery; the buttons belong to it.
 */
export const askSignOut = (
  services: Services,
  ctx: KoaContextWithOIDC,
  form: string,
): Promise<void> =>
  show(services, ctx, (t) => ({
    heading: t.askSignOut,
    lead: t.askSignOutLead,
    body: html`${new Html(form)}
<button type="submit" form="op.logoutForm" name="logout" value="yes">${t.signOut}</button>
<button type="submit" form="op.logoutForm" class="quiet">${t.stay}</button>`,
  }));

/** Says that the person is signed out, when no application wants them back. */
export const showSignedOut = (services: Services, ctx: KoaContextWithOIDC): Promise<void> =>
  show(services, ctx, (t) => ({ heading: t.signedOut, lead: t.signedOutLead, body: html`` }));
