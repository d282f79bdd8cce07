import { kindOfId } from '../ids.ts';
import type { Services, Viewer } from '../services.ts';
import { type AccessTokenClaims, TokenFault, verifyAccessToken } from './access-token.ts';
import { bearerToken } from './caller.ts';
import { accountIndicator } from './scopes.ts';
import { readTokenFault } from './token-state.ts';

/**
 * Finds out who calls the Account API: a signed-in person.
 *
 * @param authorization The `Authorization` header: `Bearer` and an access token (RFC 6750 §2.1).
 * @throws {TokenFault} when the header or its token cannot be accepted.
 */
export async function authenticateViewer(
  services: Services,
  authorization: string,
): Promise<Viewer> {
  const claims = await verifyAccessToken(services, bearerToken(authorization), {
    audience: accountIndicator,
  });
  if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not the token of a person');
  const fault = await readTokenFault(services.database.tokens, claims);
  if (fault) throw new TokenFault(fault);
  return {
    userId: claims.sub,
    clientId: claims.client_id,
    session: sessionOf(claims),
    scopes: new Set(claims.scope?.split(' ')),
  };
}

/**
 * The session of a token. An exchanged token is its own: whoever acts for the person has not seen the proof that the
 * person gave elsewhere.
 */
const sessionOf = ({ act, jti, lineage = [] }: AccessTokenClaims): string =>
  act === undefined ? (lineage[0] ?? jti) : jti;
