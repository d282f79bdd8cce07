import { randomBytes } from 'node:crypto';
import { ownRedirectUri } from '../../applications/own.ts';
import { toNumericDate } from '../../clock.ts';
import type { Services } from '../../services.ts';
import { challengeOf } from '../code-challenge.ts';
import { type Redeemed, redeemOwnCode } from './code.ts';

/** How long a sign-in may take, in seconds: as long as the provider waits for it. */
export const signInTtlSeconds = 3600;

/** How long a browser may take from the provider back to here, in seconds: a minute, as long as a code lives. */
const onTheWaySeconds = 60;

/** What an application of the service itself asks of the provider. */
export const ownScope = 'openid';

/** An application that is part of the service, as it signs people in. */
export interface OwnApplication {
  readonly id: string;
  /** What its sealed sign-ins are bound to. */
  readonly purpose: string;
  /** How long ago the person may have authenticated, in seconds; absent: as long as the provider's session lasts. */
  readonly maxAgeSeconds?: number;
}

/** A sign-in under way; only the browser that began it has it, sealed in a cookie. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly to: string;
  /** In seconds. */
  readonly at: number;
}

/** The redirect URI of an application of the service itself. */
export function redirectUriOf({ baseUrl }: Pick<Services, 'baseUrl'>, id: string): string {
  const uri = ownRedirectUri(id, baseUrl);
  if (uri === undefined) throw new Error(`${id} is no application of the service itself.`);
  return uri;
}

/** A random value that nobody can guess. */
export const randomValue = (): string => randomBytes(32).toString('base64url');

/** A sign-in that was begun: where the browser goes, and what it has to keep until it comes back. */
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly sealed: string;
}

/** Begins a sign-in by authorization code with PKCE. Afterwards the browser goes to the path `to`. */
export function beginOwnSignIn(
  services: Services,
  { id, purpose, maxAgeSeconds }: OwnApplication,
  to: string,
): BegunSignIn {
  const { issuer, cipher, clock } = services;
  const begun: Begun = {
    state: randomValue(),
    nonce: randomValue(),
    codeVerifier: randomValue(),
    to,
    at: toNumericDate(clock.now()),
  };
  const { state, nonce, codeVerifier } = begun;
  const parameters = new URLSearchParams({
    client_id: id,
    response_type: 'code',
    redirect_uri: redirectUriOf(services, id),
    scope: ownScope,
    state,
    nonce,
    code_challenge: challengeOf(codeVerifier),
    code_challenge_method: 'S256',
    ...(maxAgeSeconds === undefined ? {} : { max_age: String(maxAgeSeconds) }),
  });
  const sealed = cipher.encrypt(JSON.stringify(begun), `${purpose}:${state}`);
  return {
    url: `${issuer}/auth?${parameters}`,
    state,
    sealed: Buffer.from(sealed).toString('base64url'),
  };
}

/** What the provider sent the browser back with. */
export interface Returned {
  readonly state: string;
  readonly code: string;
  readonly iss: string;
  /** What the browser kept. */
  readonly sealed: string;
}

/**
 * Ends a sign-in that {@link beginOwnSignIn} began in the same browser.
 *
 * @returns Who has signed in, and where to go; undefined if anything does not fit.
 */
export async function finishOwnSignIn(
  services: Services,
  { id, purpose, maxAgeSeconds }: OwnApplication,
  { state, code, iss, sealed }: Returned,
): Promise<{ readonly redeemed: Redeemed; readonly to: string } | undefined> {
  const { issuer, clock } = services;
  const begun = unseal(services, `${purpose}:${state}`, sealed);
  const now = toNumericDate(clock.now());
  // The issuer is named against a mix-up with another provider (RFC 9207 §2.4).
  if (!begun || begun.state !== state || iss !== issuer || begun.at + signInTtlSeconds < now)
    return undefined;
  const redeemed = await redeemOwnCode(services, {
    code,
    clientId: id,
    redirectUri: redirectUriOf(services, id),
    codeVerifier: begun.codeVerifier,
    nonce: begun.nonce,
  });
  if (!redeemed) return undefined;
  // OpenID Connect Core §3.1.2.1: whoever asks with max_age checks when that was.
  const isLate =
    maxAgeSeconds !== undefined && redeemed.authTime + maxAgeSeconds + onTheWaySeconds < now;
  return isLate ? undefined : { redeemed, to: begun.to };
}

function unseal({ cipher }: Services, purpose: string, sealed: string): Begun | undefined {
  try {
    const bytes = Buffer.from(sealed, 'base64url');
    return JSON.parse(cipher.decrypt(bytes, purpose)) as Begun;
  } catch {
    // Another state's, or none that was sealed here.
    return undefined;
  }
}

/**
 * Where to come back to: a path of a page below `root`, whatever was asked for.
 *
 * @param passing Paths that lead on by themselves, and are no place to come back to.
 */
export function pathWithin(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { root, passing }: { readonly root: string; readonly passing: ReadonlySet<string> },
  to: unknown,
): string {
  const { origin } = new URL(baseUrl);
  // A backslash, a tab or a line break means something else to some of those who read URLs.
  if (typeof to !== 'string' || !to.startsWith(root) || /[\\\p{Cc}]/u.test(to)) return root;
  if (!URL.canParse(to, origin)) return root;
  const url = new URL(to, origin);
  const isPage =
    url.origin === origin &&
    (url.pathname === root || url.pathname.startsWith(`${root}/`)) &&
    !passing.has(url.pathname);
  return isPage ? `${url.pathname}${url.search}${url.hash}` : root;
}
