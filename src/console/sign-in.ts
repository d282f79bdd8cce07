import { consoleApplicationId } from '../applications/own.ts';
import { toNumericDate } from '../clock.ts';
import { newId } from '../ids.ts';
import { challengeOf } from '../oidc/code-challenge.ts';
import { redeemOwnCode } from '../oidc/own/code.ts';
import {
  type BegunSignIn,
  beginOwnSignIn,
  finishOwnSignIn,
  type OwnApplication,
  ownScope,
  pathWithin,
  type Returned,
  randomValue,
  redirectUriOf,
} from '../oidc/own/sign-in.ts';
import { acrOf } from '../oidc/provider/assurance.ts';
import { issueCode } from '../oidc/provider/headless.ts';
import { recordSignIn } from '../oidc/provider/record-sign-in.ts';
import type { Services, Visitor } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { beginConsoleSession, sessionIdleSeconds } from './session.ts';

const application: OwnApplication = {
  id: consoleApplicationId,
  purpose: 'console-sign-in',
  // The provider's session lasts for weeks: without this, an idle session would begin again by itself.
  maxAgeSeconds: sessionIdleSeconds,
};

const root = '/console';
const passing = new Set(
  ['sign-in', 'callback', 'signed-out', 'setup', 'session', 'graphql'].map(
    (name) => `${root}/${name}`,
  ),
);

/** Where to come back to: a path of a page of the console, whatever was asked for. */
export function pathToReturnTo(baseUrl: string, to: unknown): string {
  const path = pathWithin({ baseUrl }, { root, passing }, to);
  return path.startsWith(`${root}/assets/`) ? root : path;
}

/** Begins a sign-in to the console. */
export const beginSignIn = (services: Services, to: string): BegunSignIn =>
  beginOwnSignIn(services, application, to);

/**
 * Ends a sign-in that {@link beginSignIn} began in the same browser.
 *
 * @returns The cookie's value of the new session, and where to go; undefined if anything does not fit.
 */
export async function finishSignIn(
  services: Services,
  returned: Returned,
): Promise<{ readonly secret: string; readonly to: string } | undefined> {
  const finished = await finishOwnSignIn(services, application, returned);
  if (!finished) return undefined;
  return { secret: await beginConsoleSession(services, finished.redeemed), to: finished.to };
}

/** Signs in whoever has just set a password, without asking for it again. Raises `PostSignIn`. */
export async function signInAtSetup(
  services: Services & { readonly traceId: string },
  userId: string,
  { ip, userAgent }: Pick<Visitor, 'ip' | 'userAgent'>,
): Promise<string> {
  const { clock, database } = services;
  const { sessionPolicy } = await readSignInExperience(database.prisma);
  const sessionId = newId('Session');
  const [codeVerifier, nonce] = [randomValue(), randomValue()];
  const request = {
    redirectUri: redirectUriOf(services, consoleApplicationId),
    scope: ownScope,
    codeChallenge: challengeOf(codeVerifier),
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
