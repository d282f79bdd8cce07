import { kindOfId } from '../ids.ts';
import type { Services, Viewer } from '../services.ts';
import { type AccessTokenClaims, TokenFault } from './access-token.ts';
import { type PresentedToken, verifyPresentedToken } from './presented-token.ts';
import { accountIndicator } from './scopes.ts';

/**
 * Finds out who calls the Account API: a signed-in person.
 *
 * @throws {TokenFault} when the header or its token cannot be accepted.
 */
export async function authenticateViewer(
  services: Services,
  presented: PresentedToken,
): Promise<Viewer> {
  const claims = await verifyPresentedToken(services, presented, accountIndicator);
  if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not the token of a person');
  return {
    userId: claims.sub,
    clientId: claims.client_id,
    session: sessionOf(claims),
    scopes: new Set(claims.scope?.split(' ')),
  };
}

/**
 * The session of a token. An exchanged token has a session of its own: whoever acts for the person must not use the
 * proof that the person gave elsewhere.
 */
const sessionOf = ({ act, jti, lineage = [] }: AccessTokenClaims): string =>
  act === undefined ? (lineage[0] ?? jti) : jti;
