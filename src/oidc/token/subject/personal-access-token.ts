import { TokenFault } from '../../../auth/access-token.ts';
import { toNumericDate } from '../../../clock.ts';
import { digestInHex } from '../../../subject-tokens/opaque-token.ts';
import { personalBounds, withinConsent } from './bounds.ts';
import { assertUser, firstActor, type SubjectTokenType } from './subject.ts';

interface Found {
  readonly id: string;
  readonly userId: string;
  readonly scope: string | null;
  readonly resource: string | null;
  /** The application through which a user created it; null: an application did for itself, or it is gone. */
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
}

const findStatement = `
  SELECT "id", "userId", "scope", "resource", "clientId", "createdAt", "expiresAt", "lastUsedAt"
    FROM "PersonalAccessToken"
   WHERE "digest" = decode($1, 'hex')`;

const noteStatement = `
  UPDATE "PersonalAccessToken" SET "lastUsedAt" = $2::timestamptz
   WHERE "id" = $1 AND ("lastUsedAt" IS NULL OR "lastUsedAt" < $2::timestamptz)`;

// A busy token writes once a minute, not at each exchange.
const noteMs = 60_000;

/** A token of `createPersonalAccessToken`. */
export const personalAccessToken: SubjectTokenType = {
  isAllowed: ({ allowPersonalAccessTokens }) => allowPersonalAccessTokens === true,
  // One that was made through a third party is deleted with the consent.
  endsWithApplication: false,

  async present({ database }, token, at) {
    const [found] = await database.tokens.query<Found>('personal-access-token', findStatement, [
      digestInHex(token),
    ]);
    const clientId = found?.clientId ?? undefined;
    return {
      claims: { sub: found?.userId, client_id: clientId },
      verify(state) {
        if (!found) throw new TokenFault('unknown token');
        const exp = toNumericDate(found.expiresAt);
        if (exp <= toNumericDate(at)) throw new TokenFault('token expired');
        assertUser(state, found.createdAt);
        return {
          userId: found.userId,
          issuedAt: found.createdAt,
          exp,
          act: clientId === undefined ? undefined : firstActor(clientId, state),
          // The application counts for what is exchanged further, whatever it is then.
          lineage: [found.id, ...(clientId === undefined ? [] : [clientId])],
          bounds: withinConsent(personalBounds(found), state),
        };
      },
      async use() {
        const isFresh =
          found?.lastUsedAt != null && at.getTime() - found.lastUsedAt.getTime() < noteMs;
        if (isFresh) return;
        await database.tokens.query('note-personal-access-token', noteStatement, [
          found?.id,
          at.toISOString(),
        ]);
      },
    };
  },
};
