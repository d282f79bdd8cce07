import { errors } from 'oidc-provider';
import type { Services } from '../../services.ts';
import { challengeOf } from '../code-challenge.ts';
import { getProvider } from '../provider/provider.ts';
import { endTokens, grantReference } from '../provider/storage/adapter.ts';

/** A code, as a first-party app presents it. */
interface PresentedCode {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** Who has signed in. */
export interface SignedIn {
  readonly userId: string;
  /** The provider's session. */
  readonly providerSessionId: string;
  /** The grant, as access tokens name it. */
  readonly grant: string;
  /** When the person authenticated, in seconds. */
  readonly authTime: number;
}

/**
 * Redeems an authorization code of a first-party app. The checks are those of the token endpoint (RFC 6749 §4.1.3, RFC
 * 7636 §4.6), but no token is issued, so none can leak.
 *
 * @returns Undefined if the code is wrong, expired, used, or another application's. The second use of a code revokes
 *   the grant of the first (RFC 6749 §4.1.2).
 */
export async function redeemCode(
  services: Services,
  { code: value, clientId, redirectUri, codeVerifier, nonce }: PresentedCode,
): Promise<SignedIn | undefined> {
  const provider = getProvider(services);
  const code = await provider.AuthorizationCode.find(value);
  if (!code || code.clientId !== clientId) return undefined;
  const { grantId, accountId, sessionUid, authTime } = code;
  if (!grantId || !accountId || !sessionUid || authTime === undefined) {
    throw new Error('A code is issued under a grant, in a session of a person who signed in.');
  }
  // The library's types omit it.
  if ((code as { consumed?: unknown }).consumed) {
    await endTokens(services, grantId);
    return undefined;
  }
  const isMatching =
    code.isValid &&
    code.redirectUri === redirectUri &&
    code.codeChallengeMethod === 'S256' &&
    code.codeChallenge === challengeOf(codeVerifier) &&
    code.nonce === nonce;
  if (!isMatching) return undefined;
  try {
    await code.consume();
  } catch (error) {
    // A concurrent request has consumed it.
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
