import type { FastifyRequest } from 'fastify';
import { sessionMaxSeconds } from '../../console/session.ts';
import {
  cookieOf,
  goneCookie,
  keptCookie,
  type OwnCookie,
  signInCookiesOf,
} from '../../oidc/own/cookies.ts';
import type { BegunSignIn } from '../../oidc/own/sign-in.ts';
import type { Services } from '../../services.ts';

type Own = Pick<Services, 'baseUrl'>;
type Headers = Pick<FastifyRequest, 'headers'>;

const root = '/console';
// Other sites' pages cannot send it, not even by a link.
const session: OwnCookie = { name: 'signet_console', root, sameSite: 'Strict' };
const signIns = signInCookiesOf({ name: 'signet_console_sign_in.', root });

/** What proves the session of the console; undefined without one. */
export const sessionSecretOf = (own: Own, cookieHeader: string | undefined): string | undefined =>
  cookieOf(own, session, cookieHeader);

/** The cookie of a new session. */
export const sessionCookie = (own: Own, secret: string): string =>
  keptCookie(own, session, secret, sessionMaxSeconds);

/** Takes the session's cookie away. */
export const noSessionCookie = (own: Own): string => goneCookie(own, session);

/** The cookies of a new sign-in: its own, and those of the oldest taken away. */
export const signInCookies = (own: Own, { headers }: Headers, begun: BegunSignIn): string[] =>
  signIns.begin(own, headers.cookie, begun);

/** What the browser kept of the sign-in with this state; undefined if it began none. */
export const signInOf = (own: Own, { headers }: Headers, state: string): string | undefined =>
  signIns.find(own, headers.cookie, state);

/** Takes the cookie of a sign-in away. */
export const noSignInCookie = (own: Own, state: string): string => signIns.forget(own, state);
