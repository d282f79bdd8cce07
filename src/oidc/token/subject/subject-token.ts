import { type ActClaim, type MayActClaim, TokenFault } from '../../../auth/access-token.ts';
import { toNumericDate } from '../../../clock.ts';
import { digestInHex } from '../../../subject-tokens/opaque-token.ts';
import { agentBounds } from './bounds.ts';
import { assertUser, type SubjectTokenType } from './subject.ts';

interface Found {
  readonly id: string;
  readonly userId: string;
  readonly applicationId: string | null;
  readonly act: ActClaim;
  readonly mayAct: MayActClaim | null;
  readonly origin: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly isUsed: boolean;
  readonly isAgentActive: boolean;
}

// What ends the agent's own tokens ends this one too.
const findStatement = `
  SELECT s."id", s."userId", s."applicationId", s."act", s."mayAct", s."origin", s."createdAt", s."expiresAt",
         s."usedAt" IS NOT NULL AS "isUsed",
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

  async present({ database, log }, token, at) {
    const [found] = await database.tokens.query<Found>('subject-token', findStatement, [
      digestInHex(token),
    ]);
    // The subject token comes first in the lineage: `readInheritedBounds` looks for it there.
    const lineage = found ? [found.id, ...(found.origin === null ? [] : [found.origin])] : [];
    return {
      claims: { sub: found?.userId, jti: found?.id, lineage },
      verify(state, clientId) {
        if (!found) throw new TokenFault('unknown token');
        const exp = toNumericDate(found.expiresAt);
        if (exp <= toNumericDate(at)) throw new TokenFault('token expired');
        if (found.isUsed) throw new TokenFault('token already used');
        if (state.isRevoked) throw new TokenFault('token revoked');
        if (found.applicationId !== null && found.applicationId !== clientId) {
          throw new TokenFault('not a token for this application');
        }
        if (!found.isAgentActive) throw new TokenFault('token of an inactive agent');
        assertUser(state, found.createdAt);
        return {
          userId: found.userId,
          issuedAt: found.createdAt,
          exp,
          act: found.act,
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
