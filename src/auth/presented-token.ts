import type { Services } from '../services.ts';
import { type AccessTokenClaims, TokenFault, verifyAccessToken } from './access-token.ts';
import { credentialsOf } from './authorization.ts';
import { DpopFault, type PresentedProof, verifyProof } from './dpop/proof.ts';
import { readTokenFault } from './token-state.ts';

/** A token as a request brings it. */
export interface PresentedToken extends PresentedProof {
  /** The `Authorization` header: `Bearer` (RFC 6750 §2.1) or `DPoP` (RFC 9449 §7.1), and a token. */
  readonly authorization: string;
}

/**
 * Verifies the access token of a request: that it is good for this API, and in force, and that the sender has the key
 * that it is bound to.
 *
 * @throws {TokenFault}
 */
export async function verifyPresentedToken(
  services: Services,
  presented: PresentedToken,
  audience: string,
): Promise<AccessTokenClaims> {
  const { token, isBearer } = readToken(presented.authorization);
  const claims = await verifyAccessToken(services, token, { audience });
  const fault = await readTokenFault(services.database.tokens, claims);
  if (fault) throw new TokenFault(fault);
  const bound = claims.cnf?.jkt;
  if (isBearer) {
    if (bound === undefined) return claims;
    throw new DpopFault('invalid_token', 'a token that is bound to a key is no bearer token');
  }
  if (bound === undefined)
    throw new DpopFault('invalid_token', 'a bearer token is not bound to a key');
  if ((await verifyProof(services, presented, { accessToken: token })) !== bound)
    throw new DpopFault('invalid_token', 'the proof is of another key than the token');
  return claims;
}

function readToken(authorization: string): { token: string; isBearer: boolean } {
  const bearer = credentialsOf(authorization, 'Bearer');
  const token = bearer ?? credentialsOf(authorization, 'DPoP');
  if (!token || !/^[\w.~+/-]+=*$/.test(token))
    throw new TokenFault('the Authorization header is not "Bearer" and a token');
  return { token, isBearer: bearer !== undefined };
}
