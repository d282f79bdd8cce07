import { decodeJwt, type JWTPayload } from 'jose';
import { issuedAt, TokenFault, verifyAccessToken } from '../../../auth/access-token.ts';
import { faultOfState } from '../../../auth/token-state.ts';
import { kindOfId } from '../../../ids.ts';
import type { SubjectState } from '../grant-state.ts';
import { readInheritedBounds } from './bounds.ts';
import type { SubjectTokenType } from './subject.ts';

/** The access token of a user's call. */
export const accessToken: SubjectTokenType = {
  isAllowed: () => true,

  async present({ keys, issuer, database }, token, at) {
    const unproved = readUnproved(token);
    const bounds = await readInheritedBounds(database.tokens, unproved['lineage']);
    return {
      claims: unproved,
      async verify(state) {
        const claims = await verifyAccessToken({ keys, issuer, clock: { now: () => at } }, token);
        if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not a token of a user');
        const fault = faultOfState(claims, state);
        if (fault) throw new TokenFault(fault);
        if (!bounds) throw new TokenFault('token revoked');
        assertSubjectAudience(claims.aud, state);
        return {
          userId: claims.sub,
          issuedAt: issuedAt(claims),
          exp: claims.exp,
          act: claims.act,
          lineage: [...(claims.lineage ?? []), claims.jti],
          bounds,
        };
      },
    };
  },
};

/** @throws {TokenFault} when the application may not exchange tokens for this audience. */
export function assertSubjectAudience(
  audience: string,
  { exchangeSubjectAudiences }: Pick<SubjectState, 'exchangeSubjectAudiences'>,
): void {
  const audiences = exchangeSubjectAudiences ?? [];
  if (audiences.length > 0 && !audiences.includes(audience)) {
    throw new TokenFault('not a token for an audience that this application may exchange');
  }
}

// Enough to query the database.
function readUnproved(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
