import { decodeJwt, type JWTPayload } from 'jose';
import {
  issuedAt,
  TokenFault,
  verifyAccessToken,
  withLineage,
} from '../../../auth/access-token.ts';
import { listsIndicator } from '../../../auth/indicators.ts';
import { faultOfOrigin } from '../../../auth/token-state.ts';
import { kindOfId } from '../../../ids.ts';
import type { SubjectState } from '../grant-state.ts';
import { boundsOf, readInheritedBounds } from './bounds.ts';
import {
  assertUser,
  firstActor,
  isNamedIn,
  SubjectFault,
  type SubjectTokenType,
} from './subject.ts';

/** The access token of a user's call. */
export const accessToken: SubjectTokenType = {
  isAllowed: () => true,
  endsWithApplication: true,

  async present({ keys, issuer, database }, token, at) {
    const unproved = readUnproved(token);
    const bounds = await readInheritedBounds(database.tokens, unproved['lineage']);
    return {
      claims: unproved,
      async verify(state) {
        const claims = await verifyAccessToken({ keys, issuer, clock: { now: () => at } }, token);
        if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not a token of a user');
        const fault = faultOfOrigin(state);
        if (fault) throw new TokenFault(fault);
        assertUser(state, issuedAt(claims));
        if (!bounds) throw new TokenFault('token revoked');
        assertSubjectAudience(claims.aud, state);
        return {
          userId: claims.sub,
          issuedAt: issuedAt(claims),
          exp: claims.exp,
          act: claims.act ?? firstActor(claims.client_id, state),
          mayAct: claims.may_act,
          boundTo: claims.cnf?.jkt,
          lineage: [
            ...(claims.lineage ?? []),
            claims.jti,
            // Later ones are actors, unless they sent the token of another.
            ...(isNamedIn(claims.act, claims.client_id) ? [] : [claims.client_id]),
          ],
          bounds: {
            ...boundsOf(claims, bounds, state),
            organizationId: claims.organization_id,
          },
        };
      },
    };
  },
};

/** @throws {SubjectFault} when the application may not exchange tokens for this audience. */
export function assertSubjectAudience(
  audience: string,
  { exchangeSubjectAudiences }: Pick<SubjectState, 'exchangeSubjectAudiences'>,
): void {
  const audiences = exchangeSubjectAudiences ?? [];
  if (audiences.length > 0 && !listsIndicator(audiences, audience)) {
    const message = 'not a token for an audience that this application may exchange';
    throw new SubjectFault('SUBJECT_AUDIENCE', message);
  }
}

// Enough to query the database.
function readUnproved(token: string): JWTPayload {
  try {
    return withLineage(decodeJwt(token));
  } catch {
    return {};
  }
}
