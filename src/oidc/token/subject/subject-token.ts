import {
  type ActClaim,
  applicationsOf,
  type MayActClaim,
  TokenFault,
} from '../../../auth/access-token.ts';
import { toNumericDate } from '../../../clock.ts';
import { digestInHex } from '../../../subject-tokens/opaque-token.ts';
import type { SubjectState } from '../grant-state.ts';
import { agentBounds } from './bounds.ts';
import { assertUser, firstActor, isNamedIn, type SubjectTokenType } from './subject.ts';

interface Found {
  readonly id: string;
  readonly userId: string;
  readonly applicationId: string | null;
  readonly act: ActClaim;
  /** The application through which a user created it; null: an application did for itself. */
  readonly agentClientId: string | null;
  readonly mayAct: MayActClaim | null;
  readonly origin: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly isUsed: boolean;
  readonly isAgentActive: boolean;
}

// What ends the agent's own tokens ends this one too.
const findStatement = `
  SELECT s."id", s."userId", s."applicationId", s."act", s."actor" ->> 'clientId' AS "agentClientId",
         s."mayAct", s."origin", s."createdAt", s."expiresAt", s."usedAt" IS NOT NULL AS "isUsed",
         EXISTS (SELECT 1 FROM "Application" a WHERE a."id" = s."act" ->> 'sub')
      OR EXISTS (SELECT 1 FROM "User" a
                  WHERE a."id" = s."act" ->> 'sub' AND NOT a."isSuspended"
                    AND (a."tokensValidAfter" IS NULL OR a."tokensValidAfter" < s."createdAt")) AS "isAgentActive"
    FROM "SubjectToken" s
   WHERE s."digest" = decode($1, 'hex')`;

// Of concurrent requests, on any node, one gets the row.
const useStatement = `
  UPDATE "SubjectToken" SET "usedAt" = $2::timestamptz, "usedById" = $3
   WHERE "id" = $1 AND "usedAt" IS NULL
  RETURNING "id"`;

/** A token of `createSubjectToken`. */
export const subjectToken: SubjectTokenType = {
  isAllowed: ({ allowImpersonation }) => allowImpersonation === true,
  endsWithApplication: true,

  async present({ database, log }, token, at) {
    const [found] = await database.tokens.query<Found>('subject-token', findStatement, [
      digestInHex(token),
    ]);
    // The subject token comes first in the lineage: `readInheritedBounds` looks for it there.
    const lineage = found ? [found.id, ...(found.origin?.split(' ') ?? [])] : [];
    const claims = {
      sub: found?.userId,
      jti: found?.id,
      lineage,
      act: found?.act,
      client_id: found?.agentClientId ?? found?.act.sub,
    };
    return {
      claims,
      verify(state, clientId) {
        if (!found) throw new TokenFault('unknown token');
        const exp = toNumericDate(found.expiresAt);
        if (exp <= toNumericDate(at)) throw new TokenFault('token expired');
        if (found.isUsed) throw new TokenFault('token already used');
        if (state.isRevoked) throw new TokenFault('token revoked');
        // One that came through no application has none that could be gone.
        if (applicationsOf(claims).length > 0 && !state.clientsExist)
          throw new TokenFault('token of an application that is gone');
        if (found.applicationId !== null && found.applicationId !== clientId) {
          throw new TokenFault('not a token for this application');
        }
        if (!found.isAgentActive) throw new TokenFault('token of an inactive agent');
        assertUser(state, found.createdAt);
        return {
          userId: found.userId,
          issuedAt: found.createdAt,
          exp,
          act: withAgentsClient(found, state),
          mayAct: found.mayAct ?? undefined,
          lineage,
          bounds: agentBounds,
        };
      },
      async use(clientId) {
        const used = await database.tokens.query('use-subject-token', useStatement, [
          found?.id,
          at.toISOString(),
          clientId,
        ]);
        if (used.length === 0) throw new TokenFault('token already used');
        log.info(
          { subjectTokenId: found?.id, userId: found?.userId, act: found?.act, clientId },
          'a subject token was exchanged',
        );
      },
    };
  },
};

/** Who has acted: innermost the third party through which the agent created the token, if it was one. */
function withAgentsClient(
  { act, agentClientId }: Pick<Found, 'act' | 'agentClientId'>,
  state: Pick<SubjectState, 'thirdParties'>,
): ActClaim {
  const first = agentClientId === null ? undefined : firstActor(agentClientId, state);
  return first === undefined || isNamedIn(act, first.sub) ? act : endingIn(first, act);
}

const endingIn = (first: ActClaim, { act, ...actor }: ActClaim): ActClaim => ({
  ...actor,
  act: act === undefined ? first : endingIn(first, act),
});
