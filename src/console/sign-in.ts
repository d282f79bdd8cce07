import { createHash, randomBytes } from 'node:crypto';
import { consoleApplicationId, consoleRedirectUri } from '../applications/console.ts';
import { toNumericDate } from '../clock.ts';
import { newId } from '../ids.ts';
import { acrOf } from '../oidc/provider/assurance.ts';
import { issueCode } from '../oidc/provider/headless.ts';
import { redeemOwnCode } from '../oidc/provider/own-code.ts';
import { recordSignIn } from '../oidc/provider/record-sign-in.ts';
import type { Services, Visitor } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { beginConsoleSession, sessionIdleSeconds } from './session.ts';

/** How long a sign-in may take, in seconds: as long as the provider waits for it. */
export const signInTtlSeconds = 3600;

/** How long a browser may take from the provider back to here, in seconds: a minute, as long as a code lives. */
const onTheWaySeconds = 60;

const scope = 'openid';
const root = '/console';

/** Paths that lead on by themselves, and are no place to come back to. */
const passing = new Set(
  ['sign-in', 'callback', 'signed-out', 'setup', 'session', 'graphql'].map(
    (name) => `${root}/${name}`,
  ),
);

/** A sign-in under way; only the browser that began it has it, sealed in a cookie. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly to: string;
  /** In seconds. */
  readonly at: number;
}

/** Where to come back to: a path of a page of the console, whatever was asked for. */
export function pathToReturnTo(baseUrl: string, to: unknown): string {
  const { origin } = new URL(baseUrl);
  // A backslash, a tab or a line break means something else to some of those who read URLs.
  if (typeof to !== 'string' || !/^\/console(?:[/?#]|$)/.test(to) || /[\\\p{Cc}]/u.test(to))
    return root;
  if (!URL.canParse(to, origin)) return root;
  const url = new URL(to, origin);
  const isPage =
    url.origin === origin &&
    (url.pathname === root || url.pathname.startsWith(`${root}/`)) &&
    !url.pathname.startsWith(`${root}/assets/`) &&
    !passing.has(url.pathname);
  return isPage ? `${url.pathname}${url.search}${url.hash}` : root;
}

const random = () => randomBytes(32).toString('base64url');

/**
 * Begins a sign-in by authorization code with PKCE.
 *
 * @returns Where the browser goes, and what it has to keep until it comes back.
 */
export function beginSignIn(
  { baseUrl, issuer, cipher, clock }: Services,
  to: string,
): { readonly url: string; readonly state: string; readonly sealed: string } {
  const begun: Begun = {
    state: random(),
    nonce: random(),
    codeVerifier: random(),
    to,
    at: toNumericDate(clock.now()),
  };
  const { state, nonce, codeVerifier } = begun;
  const parameters = new URLSearchParams({
    client_id: consoleApplicationId,
    response_type: 'code',
    redirect_uri: consoleRedirectUri(baseUrl),
    scope,
    state,
    nonce,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    // The provider's session lasts for weeks: without this, an idle session would begin again by itself.
    max_age: String(sessionIdleSeconds),
  });
  const sealed = cipher.encrypt(JSON.stringify(begun), `console-sign-in:${state}`);
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
 * Ends a sign-in that {@link beginSignIn} began in the same browser.
 *
 * @returns The cookie's value of the new session, and where to go; undefined if anything does not fit.
 */
export async function finishSignIn(
  services: Services,
  { state, code, iss, sealed }: Returned,
): Promise<{ readonly secret: string; readonly to: string } | undefined> {
  const { baseUrl, issuer, clock } = services;
  const begun = unseal(services, state, sealed);
  const now = toNumericDate(clock.now());
  // The issuer is named against a mix-up with another provider (RFC 9207 §2.4).
  if (!begun || begun.state !== state || iss !== issuer || begun.at + signInTtlSeconds < now)
    return undefined;
  const redeemed = await redeemOwnCode(services, {
    code,
    clientId: consoleApplicationId,
    redirectUri: consoleRedirectUri(baseUrl),
    codeVerifier: begun.codeVerifier,
    nonce: begun.nonce,
  });
  // OpenID Connect Core §3.1.2.1: whoever asks with max_age checks when that was.
  if (!redeemed || redeemed.authTime + sessionIdleSeconds + onTheWaySeconds < now) return undefined;
  return { secret: await beginConsoleSession(services, redeemed), to: begun.to };
}

function unseal({ cipher }: Services, state: string, sealed: string): Begun | undefined {
  try {
    const bytes = Buffer.from(sealed, 'base64url');
    return JSON.parse(cipher.decrypt(bytes, `console-sign-in:${state}`)) as Begun;
  } catch {
    // Another state's, or none that was sealed here.
    return undefined;
  }
}

/** Signs in whoever has just set a password, without asking for it again. Raises `PostSignIn`. */
export async function signInAtSetup(
  services: Services & { readonly traceId: string },
  userId: string,
  { ip, userAgent }: Pick<Visitor, 'ip' | 'userAgent'>,
): Promise<string> {
  const { baseUrl, clock, database } = services;
  const { sessionPolicy } = await readSignInExperience(database.prisma);
  const sessionId = newId('Session');
  const [codeVerifier, nonce] = [random(), random()];
  const request = {
    redirectUri: consoleRedirectUri(baseUrl),
    scope,
    codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    nonce,
  };
  const methods = ['pwd'];
  const { code } = await issueCode(services, consoleApplicationId, request, {
    userId,
    authenticatedAt: toNumericDate(clock.now()),
    acr: acrOf(methods),
    amr: methods,
    sessionId,
    sessionTtlSeconds: Math.min(sessionPolicy.idleSeconds, sessionPolicy.maxSeconds),
  });
  await recordSignIn(services, {
    userId,
    applicationId: consoleApplicationId,
    sessionId,
    ip,
    userAgent,
    isRegistration: false,
    authenticationMethods: methods,
  });
  const { redirectUri } = request;
  const clientId = consoleApplicationId;
  const own = { code, clientId, redirectUri, codeVerifier, nonce };
  const redeemed = await redeemOwnCode(services, own);
  if (!redeemed) throw new Error('The code was issued just now.');
  return beginConsoleSession(services, redeemed);
}
