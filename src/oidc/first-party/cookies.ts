import type { Services } from '../../services.ts';
import { type FirstPartyApp, rootOf } from './app.ts';
import { type BegunSignIn, signInTtlSeconds } from './sign-in.ts';

type Site = Pick<Services, 'baseUrl'>;

/** The most sign-ins that a browser can have under way, in different tabs. The oldest have to begin again. */
const maxSignIns = 5;

interface Cookie {
  readonly name: string;
  /** The path of the app's pages, below the public URL's. */
  readonly root: string;
  readonly sameSite: 'Strict' | 'Lax';
}

/** The cookies of a request, by name. */
function readCookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').flatMap((part): [string, string][] => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]];
  });
  return new Map(pairs);
}

// The prefix keeps a subdomain, or a page without TLS, from setting the cookie (RFC 6265bis §4.1.3.2).
const nameAt = ({ baseUrl }: Site, name: string): string =>
  baseUrl.startsWith('https:') ? `__Host-${name}` : name;

function headerOf(
  site: Site,
  { name, root, sameSite }: Cookie,
  value: string,
  maxAge: string | number,
): string {
  const { protocol, pathname } = new URL(site.baseUrl);
  const place =
    protocol === 'https:'
      ? 'Path=/; Secure; HttpOnly'
      : `Path=${pathname.replace(/\/$/, '')}${root}; HttpOnly`;
  return `${nameAt(site, name)}=${value}; Max-Age=${maxAge}; SameSite=${sameSite}; ${place}`;
}

const findCookie = (site: Site, { name }: Cookie, header: string | undefined): string | undefined =>
  readCookies(header).get(nameAt(site, name)) || undefined;

const deleteCookie = (site: Site, cookie: Cookie): string =>
  headerOf(site, cookie, '', '0; Expires=Thu, 01 Jan 1970 00:00:00 GMT');

const sessionCookieOf = (app: FirstPartyApp): Cookie => ({
  name: `signet_${app.name}`,
  root: rootOf(app),
  sameSite: app.sameSite,
});

/** The secret of a browser's session, from its `Cookie` header; undefined without one. */
export const findSessionSecret = (
  site: Site,
  app: FirstPartyApp,
  header: string | undefined,
): string | undefined => findCookie(site, sessionCookieOf(app), header);

/** The `Set-Cookie` header of a new session. */
export const setSessionCookie = (
  site: Site,
  app: FirstPartyApp,
  secret: string,
  maxAgeSeconds: number,
): string => headerOf(site, sessionCookieOf(app), secret, maxAgeSeconds);

/** The `Set-Cookie` header that deletes the session's cookie. */
export const deleteSessionCookie = (site: Site, app: FirstPartyApp): string =>
  deleteCookie(site, sessionCookieOf(app));

// Each sign-in has a cookie, so that two tabs do not disturb each other. They are `Lax`, because the way back may begin
// at another site: at a link, or at an identity provider.
const signInCookieOf = (app: FirstPartyApp, state: string): Cookie => ({
  name: `signet_${app.name}_sign_in.${state.replaceAll(/[^\w-]/g, '').slice(0, 16)}`,
  root: rootOf(app),
  sameSite: 'Lax',
});

/** The `Set-Cookie` headers that keep a new sign-in, and delete the oldest beyond the limit. */
export function setSignInCookies(
  site: Site,
  app: FirstPartyApp,
  header: string | undefined,
  { state, sealed }: BegunSignIn,
): string[] {
  const prefix = nameAt(site, signInCookieOf(app, '').name);
  const known = [...readCookies(header).keys()].filter((one) => one.startsWith(prefix));
  return [
    ...known
      .slice(0, -(maxSignIns - 1))
      .map((one) => deleteCookie(site, signInCookieOf(app, one.slice(prefix.length)))),
    headerOf(site, signInCookieOf(app, state), sealed, signInTtlSeconds),
  ];
}

/** What the browser kept of the sign-in with this state; undefined if it began none. */
export const findSignIn = (
  site: Site,
  app: FirstPartyApp,
  header: string | undefined,
  state: string,
): string | undefined => findCookie(site, signInCookieOf(app, state), header);

/** The `Set-Cookie` header that deletes the cookie of a sign-in. */
export const deleteSignInCookie = (site: Site, app: FirstPartyApp, state: string): string =>
  deleteCookie(site, signInCookieOf(app, state));
