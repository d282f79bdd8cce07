import type { Told } from '../../db/told.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { Session } from '../../generated/prisma/client.ts';
import type { Context } from '../../services.ts';
import { endSignInsUnderWay, recordSessionsEnded, type SessionEnd } from '../../users/sign-out.ts';
import { grantReference, revokeGrantsWithin } from '../provider/storage/adapter.ts';

/** A person, and the grant that their token was issued under, as access tokens name it. */
export interface GrantOfPerson {
  readonly userId: string;
  readonly grant: string;
}

/** A session of the provider, and the ids of the grants in it. */
interface ProviderSession {
  readonly id: string;
  readonly grantIds: readonly string[];
}

/** Finds the session in which a grant was given; undefined if it is over. */
export async function findSessionOfGrant(
  client: Pick<Transaction, '$queryRaw'>,
  { userId, grant }: GrantOfPerson,
): Promise<ProviderSession | undefined> {
  // The library stores each application's grant in the session's record.
  const sessions = await client.$queryRaw<ProviderSession[]>`
    SELECT r."uid" AS "id",
           ARRAY(SELECT a."value" ->> 'grantId'
                   FROM jsonb_each(coalesce(r."payload" -> 'authorizations', '{}')) a
                  WHERE a."value" ->> 'grantId' IS NOT NULL) AS "grantIds"
      FROM "OidcRecord" r
     WHERE r."model" = 'Session' AND r."accountId" = ${userId} AND r."uid" IS NOT NULL`;
  return sessions.find(({ grantIds }) => grantIds.some((id) => grantReference(id) === grant));
}

/**
 * Ends a person's sessions and grants, and all that came from them, but for the session of one grant; and all sign-ins
 * under way, which somebody with the old password may have begun. Call it with the user locked. Raises
 * `User.Session.Ended` for each session, or once if there were only tokens.
 *
 * @returns The sessions that ended, in their last state.
 */
export async function endOtherSessionsWithin(
  tx: Transaction,
  context: Context,
  of: GrantOfPerson,
  reason: SessionEnd,
): Promise<Told<Session[]>> {
  const { clock } = context;
  const { userId, grant } = of;
  const kept = await findSessionOfGrant(tx, of);
  const keptGrants = new Set([grant, ...(kept?.grantIds ?? []).map(grantReference)]);
  const records = await tx.oidcRecord.findMany({
    where: { accountId: userId },
    select: { model: true, id: true, uid: true, grantId: true, expiresAt: true },
  });
  const isKept = ({ model, id, uid, grantId }: (typeof records)[number]) =>
    model === 'Session'
      ? uid === kept?.id
      : model === 'Grant'
        ? keptGrants.has(id)
        : grantId !== null && keptGrants.has(grantReference(grantId));
  const ended = records.filter((record) => !isKept(record));
  const grants = ended.filter(({ model }) => model === 'Grant');
  const grantIds = ended.flatMap(({ grantId }) => grantId ?? []);
  await revokeGrantsWithin(tx, { clock }, [
    ...grants.map(({ id }) => id),
    ...grantIds.map(grantReference),
  ]);
  await tx.oidcRecord.deleteMany({
    where: { accountId: userId, OR: ended.map(({ model, id }) => ({ model, id })) },
  });
  await endSignInsUnderWay(tx, { clock }, userId);
  const others = { userId, NOT: { id: kept?.id ?? '' } };
  const sessions = await tx.session.findMany({
    where: { ...others, expiresAt: { gt: clock.now() } },
    orderBy: { id: 'asc' },
  });
  await tx.session.deleteMany({ where: others });
  const endsTokens = grants.some(({ expiresAt }) => expiresAt === null || expiresAt > clock.now());
  const told = await recordSessionsEnded(tx, context, { userId, reason, sessions, endsTokens });
  return told.with(sessions);
}
