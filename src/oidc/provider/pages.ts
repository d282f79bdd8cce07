import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { retryAfterSeconds } from '../../failures.ts';
import type { Language } from '../../languages.ts';
import { Html, html } from '../../markup.ts';
import type { Services } from '../../services.ts';
import { lookFor, lookWithoutDatabase, spokenBy } from '../../web/look.ts';
import { type Content, goOn, type PageExceptions, page, pageHeaders } from '../../web/page.ts';
import { unavailablePage } from '../../web/stopped.ts';
import { withShared } from '../../web/texts.ts';
import { TemporarilyUnavailable } from '../token/oauth-errors.ts';

const en = {
  failed: 'This did not work',
  failedLead:
    'Go back to the application and try again. If it happens again, tell its operator this:',
  askSignOut: 'Sign out?',
  askSignOutLead: 'Applications that you are signed in to here may ask you to sign in again.',
  stay: 'Stay signed in',
  signedOutLead: 'You can close this page.',
};

const de: typeof en = {
  failed: 'Das hat nicht geklappt',
  failedLead:
    'Gehen Sie zurück zur Anwendung und versuchen Sie es noch einmal. Wenn es wieder geschieht, sagen Sie dem Betreiber dies:',
  askSignOut: 'Abmelden?',
  askSignOutLead:
    'Anwendungen, bei denen Sie hier angemeldet sind, können Sie um eine neue Anmeldung bitten.',
  stay: 'Angemeldet bleiben',
  signedOutLead: 'Sie können diese Seite schließen.',
};

const texts = withShared({ en, de });

/** The name of the parameter by which an application asks for a language (OpenID Connect Core §3.1.2.1). */
export const localesParameter = 'ui_locales';

/**
 * The languages that the application asked for; empty if it asked for none. A request that continues another finds them
 * where that one left them: in its interaction, in its form, or in the address.
 */
export function localesOf(ctx: KoaContextWithOIDC): string {
  const { params, entities, body } = ctx.oidc ?? {};
  const [asked] = [params, entities?.Interaction?.params, body, ctx.query].flatMap(
    (parameters) => parameters?.[localesParameter] ?? [],
  );
  return typeof asked === 'string' ? asked : '';
}

const spokenIn = (ctx: KoaContextWithOIDC) => ({
  ...spokenBy({ headers: ctx.headers }),
  uiLocales: localesOf(ctx),
});

/** Answers with a page in the look of the service and in the person's language. */
export async function showPage(
  services: Services,
  ctx: KoaContextWithOIDC,
  contentIn: (language: Language) => Content,
  exceptions?: PageExceptions,
): Promise<void> {
  const look = await lookFor(services, spokenIn(ctx));
  const content = contentIn(look.language);
  ctx.set(pageHeaders(look, content.script, exceptions));
  ctx.body = page(content, look);
}

const show = (
  services: Services,
  ctx: KoaContextWithOIDC,
  contentIn: (t: (typeof texts)['en']) => Content,
): Promise<void> => showPage(services, ctx, (language) => contentIn(texts[language]));

interface OAuthFault {
  readonly error: string;
  readonly error_description?: string | undefined;
}

/** A page that tells a person why a request failed. */
export const failedPage = (
  { baseUrl }: Pick<Services, 'baseUrl'>,
  language: Language,
  { error, error_description: description }: OAuthFault,
): Content => {
  const t = texts[language];
  return {
    heading: t.failed,
    lead: t.failedLead,
    body: html`<p><code>${error}</code>${description ? `: ${description}` : undefined}</p>${goOn(`${baseUrl}/account`, t.toAccount)}`,
  };
};

/** Tells a person why a request failed, when no application can be informed. */
export async function showError(
  services: Services,
  ctx: KoaContextWithOIDC,
  out: OAuthFault,
  fault: Error,
): Promise<void> {
  if (fault instanceof errors.SessionNotFound && (await isOver(ctx))) {
    // The page of the sign-in knows how to begin it again.
    ctx.status = 303;
    ctx.redirect(`${services.baseUrl}/sign-in/${encodeURIComponent(uidOf(ctx))}`);
    return;
  }
  await showPage(services, ctx, (language) => failedPage(services, language, out));
}

const uidOf = (ctx: KoaContextWithOIDC): string => ctx.path.replace(/.*\//, '');

/** Whether the interaction that a request continues has ended, or is of a session that this browser had before. */
async function isOver(ctx: KoaContextWithOIDC): Promise<boolean> {
  const { route, entities, provider } = ctx.oidc;
  if (route !== 'resume') return false;
  return entities.Interaction !== undefined || !(await provider.Interaction.find(uidOf(ctx)));
}

/**
 * Redirects after a sign-out if the application gave no address to return to: to the page that confirms the sign-out,
 * in the language of the question, or to the account if the person declined.
 */
export function leadOnAfterSignOut(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  ctx: KoaContextWithOIDC,
): void {
  const to: string | undefined = ctx.response.get('location');
  if (ctx.oidc?.route !== 'end_session_confirm' || !to) return;
  const url = new URL(to);
  const success = new URL(ctx.oidc.urlFor('end_session_success'));
  if (url.origin !== success.origin || url.pathname !== success.pathname) return;
  const locales = localesOf(ctx);
  if (locales !== '') url.searchParams.set(localesParameter, locales);
  ctx.redirect(ctx.oidc.params?.['logout'] ? url.href : `${baseUrl}/account`);
}

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
    ctx.body = page(unavailablePage(look, retryUrl), look);
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
<input type="hidden" form="op.logoutForm" name="${localesParameter}" value="${localesOf(ctx)}">
<button type="submit" form="op.logoutForm" name="logout" value="yes">${t.signOut}</button>
<button type="submit" form="op.logoutForm" class="quiet">${t.stay}</button>`,
  }));

/** Says that the person is signed out, if the application gave no address to return to. */
export const showSignedOut = (services: Services, ctx: KoaContextWithOIDC): Promise<void> =>
  show(services, ctx, (t) => ({
    heading: t.signedOut,
    lead: t.signedOutLead,
    body: goOn(`${services.baseUrl}/account`, t.toAccount),
  }));
