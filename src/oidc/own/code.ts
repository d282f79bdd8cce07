import { errors } from 'oidc-provider';
import type { Services } from '../../services.ts';
import { challengeOf } from '../code-challenge.ts';
import { getProvider } from '../provider/provider.ts';
import { endGrants, grantReference } from '../provider/storage/adapter.ts';

/** What an application of this service itself shows with a code. */
export interface OwnCode {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** Who has signed in. */
export interface Redeemed {
  readonly userId: string;
  readonly providerSessionId: string;
  /** The grant, as access tokens name it. */
  readonly grant: string;
  /** When the person authenticated, in seconds. */
  readonly authTime: number;
}

/**
 * Redeems an authorization code for an application that is part of this service. The checks are those of the token
 * endpoint (RFC 6749 §4.1.3, RFC 7636 §4.6), but no token is issued, so there is none to lose.
 *
 * @returns Undefined if the code is wrong, expired, used, or another's. What a used code gave ends.
 */
export async function redeemOwnCode(
  services: Services,
  { code: value, clientId, redirectUri, codeVerifier, nonce }: OwnCode,
): Promise<Redeemed | undefined> {
  const provider = getProvider(services);
  const code = await provider.AuthorizationCode.find(value);
  if (!code || code.clientId !== clientId) return undefined;
  const { grantId, accountId, sessionUid, authTime } = code;
  if (!grantId || !accountId || !sessionUid || authTime === undefined) {
    throw new Error('A code is issued under a grant, in a session of a person who signed in.');
  }
  // The library's types omit it.
  if ((code as { consumed?: unknown }).consumed) {
    await endGrants(services, [grantId]);
    return undefined;
  }
  const isOurs =
    code.isValid &&
    code.redirectUri === redirectUri &&
    code.codeChallengeMethod === 'S256' &&
    code.codeChallenge === challengeOf(codeVerifier) &&
    code.nonce === nonce;
  if (!isOurs) return undefined;
  try {
    await code.consume();
  } catch (error) {
    // Another request has consumed it at the same time.
    if (error instanceof errors.InvalidGrant) return undefined;
    throw error;
  }
  const grant = await provider.Grant.find(grantId);
  if (!grant || grant.accountId !== accountId || grant.clientId !== clientId) return undefined;
  return {
    userId: accountId,
    providerSessionId: sessionUid,
    grant: grantReference(grantId),
    authTime,
  };
}
