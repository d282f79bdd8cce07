import type { Services } from '../../services.ts';
import { type BegunSignIn, signInTtlSeconds } from './sign-in.ts';

type Own = Pick<Services, 'baseUrl'>;

/** The most sign-ins under way that a browser keeps, in as many tabs; older ones have to begin again. */
const maxSignIns = 5;

const gone = 'Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT';

/** The cookies of a request, by name. */
export function readCookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').flatMap((part): [string, string][] => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]];
  });
  return new Map(pairs);
}

/** A cookie of one of the service's own applications. */
export interface OwnCookie {
  readonly name: string;
  /** The path of the application's pages, below the public URL's. */
  readonly root: string;
  readonly sameSite: 'Strict' | 'Lax';
}

// The prefix keeps a subdomain, or a page without TLS, from setting the cookie (RFC 6265bis §4.1.3.2).
const nameOf = ({ baseUrl }: Own, { name }: OwnCookie): string =>
  baseUrl.startsWith('https:') ? `__Host-${name}` : name;

function attributesOf({ baseUrl }: Own, { root, sameSite }: OwnCookie): string {
  const { protocol, pathname } = new URL(baseUrl);
  const place =
    protocol === 'https:'
      ? 'Path=/; Secure; HttpOnly'
      : `Path=${pathname.replace(/\/$/, '')}${root}; HttpOnly`;
  return `SameSite=${sameSite}; ${place}`;
}

/** The value of a cookie that a browser sent; undefined without one. */
export const cookieOf = (
  own: Own,
  cookie: OwnCookie,
  header: string | undefined,
): string | undefined => readCookies(header).get(nameOf(own, cookie)) || undefined;

/** The `Set-Cookie` header that keeps a value. */
export const keptCookie = (
  own: Own,
  cookie: OwnCookie,
  value: string,
  maxAgeSeconds: number,
): string =>
  `${nameOf(own, cookie)}=${value}; Max-Age=${maxAgeSeconds}; ${attributesOf(own, cookie)}`;

/** The `Set-Cookie` header that takes a cookie away. */
export const goneCookie = (own: Own, cookie: OwnCookie): string =>
  `${nameOf(own, cookie)}=; ${gone}; ${attributesOf(own, cookie)}`;

/**
 * The cookies of the sign-ins under way of one application, one for each, so that two tabs do not disturb each other.
 * `Lax`, because the way back may begin at another site: at a link, or at an identity provider.
 *
 * @param name The first part of their names.
 */
export function signInCookiesOf({ name, root }: Pick<OwnCookie, 'name' | 'root'>) {
  const cookieFor = (state: string): OwnCookie => ({
    name: `${name}${state.replaceAll(/[^\w-]/g, '').slice(0, 16)}`,
    root,
    sameSite: 'Lax',
  });
  return {
    /** Those of a new sign-in: its own, and those of the oldest taken away. */
    begin(own: Own, header: string | undefined, { state, sealed }: BegunSignIn): string[] {
      const all = { name, root, sameSite: 'Lax' } as const;
      const prefix = nameOf(own, all);
      const known = [...readCookies(header).keys()].filter((one) => one.startsWith(prefix));
      return [
        ...known
          .slice(0, -(maxSignIns - 1))
          .map((one) => `${one}=; ${gone}; ${attributesOf(own, all)}`),
        keptCookie(own, cookieFor(state), sealed, signInTtlSeconds),
      ];
    },
    /** What the browser kept of the sign-in with this state; undefined if it began none. */
    find: (own: Own, header: string | undefined, state: string): string | undefined =>
      cookieOf(own, cookieFor(state), header),
    /** Takes the cookie of a sign-in away. */
    forget: (own: Own, state: string): string => goneCookie(own, cookieFor(state)),
  };
}
