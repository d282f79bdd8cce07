import type { FastifyRequest } from 'fastify';
import { sessionMaxSeconds } from '../../console/session.ts';
import { signInTtlSeconds } from '../../console/sign-in.ts';
import type { Services } from '../../services.ts';

type Own = Pick<Services, 'baseUrl'>;

/** The most sign-ins under way that a browser keeps, in as many tabs; older ones have to begin again. */
const maxSignIns = 5;

// The prefix keeps a subdomain, or a page without TLS, from setting the cookie (RFC 6265bis §4.1.3.2).
function nameOf({ baseUrl }: Own, name: string): string {
  return baseUrl.startsWith('https:') ? `__Host-${name}` : name;
}

function attributesOf({ baseUrl }: Own): string {
  const { protocol, pathname } = new URL(baseUrl);
  return protocol === 'https:'
    ? 'Path=/; Secure; HttpOnly'
    : `Path=${pathname.replace(/\/$/, '')}/console; HttpOnly`;
}

const gone = 'Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT';
const sessionName = 'signet_console';
const signInName = 'signet_console_sign_in.';

/** The cookies of a request, by name. */
export function readCookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').flatMap((part): [string, string][] => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]];
  });
  return new Map(pairs);
}

/** What proves the session of the console; undefined without one. */
export const sessionSecretOf = (own: Own, cookieHeader: string | undefined): string | undefined =>
  readCookies(cookieHeader).get(nameOf(own, sessionName)) || undefined;

/** The cookie of a new session. Other sites' pages cannot send it, not even by a link. */
export const sessionCookie = (own: Own, secret: string): string =>
  `${nameOf(own, sessionName)}=${secret}; Max-Age=${sessionMaxSeconds}; SameSite=Strict; ${attributesOf(own)}`;

/** Takes the session's cookie away. */
export const noSessionCookie = (own: Own): string =>
  `${nameOf(own, sessionName)}=; ${gone}; SameSite=Strict; ${attributesOf(own)}`;

// One for each sign-in, so that two tabs do not disturb each other.
const signInNameOf = (own: Own, state: string): string =>
  nameOf(own, `${signInName}${state.replaceAll(/[^\w-]/g, '').slice(0, 16)}`);

/**
 * The cookies of a new sign-in: its own, and those of the oldest taken away. `Lax`, because the way back may begin at
 * another site: at a link to the console, or at an identity provider.
 */
export function signInCookies(
  own: Own,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { state, sealed }: { readonly state: string; readonly sealed: string },
): string[] {
  const prefix = nameOf(own, signInName);
  const known = [...readCookies(headers.cookie).keys()].filter((name) => name.startsWith(prefix));
  const attributes = `SameSite=Lax; ${attributesOf(own)}`;
  return [
    ...known.slice(0, -(maxSignIns - 1)).map((name) => `${name}=; ${gone}; ${attributes}`),
    `${signInNameOf(own, state)}=${sealed}; Max-Age=${signInTtlSeconds}; ${attributes}`,
  ];
}

/** What the browser kept of the sign-in with this state; undefined if it began none. */
export const signInOf = (
  own: Own,
  { headers }: Pick<FastifyRequest, 'headers'>,
  state: string,
): string | undefined => readCookies(headers.cookie).get(signInNameOf(own, state)) || undefined;

/** Takes the cookie of a sign-in away. */
export const noSignInCookie = (own: Own, state: string): string =>
  `${signInNameOf(own, state)}=; ${gone}; SameSite=Lax; ${attributesOf(own)}`;
