import { kindOfId } from '../ids.ts';
import type { Actor, Services } from '../services.ts';
import type { AccessTokenClaims } from './access-token.ts';
import { type PresentedToken, verifyPresentedToken } from './presented-token.ts';
import { managementIndicator } from './scopes.ts';
import { readTokenFault } from './token-state.ts';

/** The caller of the management API, proved by an access token or by a session of the console. */
export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: Date;
  readonly claims: AccessTokenClaims;
  /** The session of the console that stands for a token; absent with a token. */
  readonly consoleSessionId?: string;
}

/** Why a caller whose token was accepted is no longer accepted; undefined if it still is. */
export async function faultOfCaller(
  { clock, database }: Pick<Services, 'clock' | 'database'>,
  { claims, expiresAt }: Caller,
): Promise<string | undefined> {
  if (expiresAt <= clock.now()) return 'token expired';
  return readTokenFault(database.tokens, claims);
}

/**
 * Finds out who calls the management API.
 *
 * @throws {TokenFault} when the header or its token cannot be accepted.
 */
export async function authenticate(services: Services, presented: PresentedToken): Promise<Caller> {
  const claims = await verifyPresentedToken(services, presented, managementIndicator);
  return {
    actor:
      kindOfId(claims.sub) === 'User'
        ? { type: 'USER', id: claims.sub, clientId: claims.client_id }
        : { type: 'APPLICATION', id: claims.client_id },
    scopes: new Set(claims.scope?.split(' ')),
    expiresAt: new Date(claims.exp * 1000),
    claims,
  };
}
