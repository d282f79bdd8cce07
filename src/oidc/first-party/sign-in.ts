import { randomBytes } from 'node:crypto';
import { builtInRedirectUri } from '../../applications/built-in.ts';
import { toNumericDate } from '../../clock.ts';
import { newId } from '../../ids.ts';
import type { Purpose } from '../../keys/sealed-columns.ts';
import type { RequestCall, Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { challengeOf } from '../code-challenge.ts';
import { acrOf } from '../provider/assurance.ts';
import { issueCode } from '../provider/headless.ts';
import { recordSignIn } from '../provider/record-sign-in.ts';
import { type FirstPartyApp, rootOf } from './app.ts';
import { redeemCode, type SignedIn } from './code.ts';

/** How long a sign-in may take, in seconds: as long as the provider waits for it. */
export const signInTtlSeconds = 3600;

/** How long a browser may take from the provider back to here, in seconds: a minute, as long as a code lives. */
const onTheWaySeconds = 60;

const scope = 'openid';

/** A sign-in under way. Only the browser that began it has it, sealed in a cookie. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly to: string;
  /** In seconds. */
  readonly at: number;
}

function redirectUriOf(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { applicationId }: FirstPartyApp,
): string {
  const uri = builtInRedirectUri(applicationId, baseUrl);
  if (uri === undefined) throw new Error(`${applicationId} is no built-in application.`);
  return uri;
}

const randomValue = (): string => randomBytes(32).toString('base64url');

/** A new sign-in: where the browser goes, and what it keeps until it comes back. */
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly sealed: string;
}

/** Begins a sign-in by authorization code with PKCE. Afterwards the browser goes to the path `to`. */
export function beginSignIn(
  services: Pick<Services, 'baseUrl' | 'issuer' | 'cipher' | 'clock'>,
  app: FirstPartyApp,
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
    client_id: app.applicationId,
    response_type: 'code',
    redirect_uri: redirectUriOf(services, app),
    scope,
    state,
    nonce,
    code_challenge: challengeOf(codeVerifier),
    code_challenge_method: 'S256',
    // The provider's session lasts for weeks: without this, an idle session would begin again by itself.
    ...(app.idleSeconds === undefined ? {} : { max_age: String(app.idleSeconds) }),
  });
  const sealed = cipher.encrypt(JSON.stringify(begun), purposeOf(app, state));
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
 * @returns Who has signed in, and where to go; undefined if anything does not fit.
 */
export async function finishSignIn(
  services: Services,
  app: FirstPartyApp,
  { state, code, iss, sealed }: Returned,
): Promise<{ readonly signedIn: SignedIn; readonly to: string } | undefined> {
  const { issuer, clock } = services;
  const begun = unseal(services, purposeOf(app, state), sealed);
  const now = toNumericDate(clock.now());
  // The issuer is named against a mix-up with another provider (RFC 9207 §2.4).
  if (!begun || begun.state !== state || iss !== issuer || begun.at + signInTtlSeconds < now)
    return undefined;
  const { codeVerifier, nonce, to } = begun;
  const signedIn = await redeemCode(services, {
    code,
    clientId: app.applicationId,
    redirectUri: redirectUriOf(services, app),
    codeVerifier,
    nonce,
  });
  if (!signedIn) return undefined;
  // OpenID Connect Core §3.1.2.1: a client that sends max_age must check auth_time.
  const isLate =
    app.idleSeconds !== undefined && signedIn.authTime + app.idleSeconds + onTheWaySeconds < now;
  return isLate ? undefined : { signedIn, to };
}

/**
 * Signs in a person who has just set their password, without asking for it. Raises `PostSignIn`.
 *
 * @returns Who has signed in.
 */
export async function signInAtOnce(
  services: Services & RequestCall,
  app: FirstPartyApp,
  userId: string,
): Promise<SignedIn> {
  const { clock, database } = services;
  const { applicationId } = app;
  const { sessionPolicy } = await readSettingsInForce(database.prisma, userId);
  const sessionId = newId('Session');
  const [codeVerifier, nonce] = [randomValue(), randomValue()];
  const redirectUri = redirectUriOf(services, app);
  const methods = ['pwd'];
  const { code } = await issueCode(
    services,
    applicationId,
    { redirectUri, scope, codeChallenge: challengeOf(codeVerifier), nonce },
    {
      userId,
      authenticatedAt: toNumericDate(clock.now()),
      acr: acrOf(methods),
      amr: methods,
      sessionId,
      sessionTtlSeconds: Math.min(sessionPolicy.idleSeconds, sessionPolicy.maxSeconds),
    },
  );
  await recordSignIn(services, {
    userId,
    applicationId,
    sessionId,
    isRegistration: false,
    authenticationMethods: methods,
  });
  const presented = { code, clientId: applicationId, redirectUri, codeVerifier, nonce };
  const signedIn = await redeemCode(services, presented);
  if (!signedIn) throw new Error('The code was issued just now.');
  return signedIn;
}

const purposeOf = ({ name }: FirstPartyApp, state: string): Purpose => `${name}-sign-in:${state}`;

function unseal(
  { cipher }: Pick<Services, 'cipher'>,
  purpose: Purpose,
  sealed: string,
): Begun | undefined {
  try {
    const bytes = Buffer.from(sealed, 'base64url');
    return JSON.parse(cipher.decrypt(bytes, purpose)) as Begun;
  } catch {
    // Sealed for another state, or not sealed here.
    return undefined;
  }
}

/** The path of the app's page to come back to: `to` if it is one, and the first page otherwise. */
export function pathToReturnTo(
  { baseUrl }: Pick<Services, 'baseUrl'>,
  app: Pick<FirstPartyApp, 'name' | 'notPages'>,
  to: unknown,
): string {
  const { origin } = new URL(baseUrl);
  const root = rootOf(app);
  // Programs that read URLs disagree about backslashes, tabs and line breaks.
  if (typeof to !== 'string' || !to.startsWith(root) || /[\\\p{Cc}]/u.test(to)) return root;
  if (!URL.canParse(to, origin)) return root;
  const url = new URL(to, origin);
  const [, first, name = ''] = url.pathname.split('/');
  const isPage = url.origin === origin && first === app.name && !app.notPages.includes(name);
  return isPage ? `${url.pathname}${url.search}${url.hash}` : root;
}
