import { decodeJwt, type JWTPayload } from 'jose';
import { issuedAt, TokenFault, verifyAccessToken } from '../../../auth/access-token.ts';
import { faultOfState } from '../../../auth/token-state.ts';
import { kindOfId } from '../../../ids.ts';
import type { SubjectTokenType } from './subject.ts';

/** The access token of a user's call. */
export const accessToken: SubjectTokenType = {
  isAllowed: () => true,

  present: ({ keys, issuer }, token, at) => ({
    claims: readUnproved(token),
    async verify(state) {
      const claims = await verifyAccessToken({ keys, issuer, clock: { now: () => at } }, token);
      if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not a token of a user');
      const fault = faultOfState(claims, state);
      if (fault) throw new TokenFault(fault);
      const audiences = state.exchangeSubjectAudiences ?? [];
      if (audiences.length > 0 && !audiences.includes(claims.aud)) {
        throw new TokenFault('not a token for an audience that this application may exchange');
      }
      return {
        userId: claims.sub,
        issuedAt: issuedAt(claims),
        exp: claims.exp,
        act: claims.act,
        lineage: [...(claims.lineage ?? []), claims.jti],
        scopes: undefined,
        reaches: () => true,
      };
    },
  }),
};

// Enough to query the database.
function readUnproved(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
