import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';

/**
 * Signs a user out everywhere: sessions, refresh tokens and all access tokens issued so far end. Raises no event.
 *
 * @throws {NotFoundError}
 */
export async function signOutUser(context: Context, { id }: { id: string }): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    await endSessions(tx, context, id);
    return tx.user.findUniqueOrThrow({ where: { id } });
  });
}

/** The provider's records of one browser during a sign-in. */
export interface OwnBrowser {
  /** The id under which its interaction is stored. */
  readonly interactionId: string;
  /** The `uid` of the session it had at the start; empty without one. */
  readonly sessionUid: string;
}

/**
 * Ends a user's sessions, codes, refresh tokens and personal access tokens, and all access tokens issued so far for
 * services that check, with those by which applications act for others on this user's behalf.
 *
 * @param keep A browser in which the user stays signed in.
 */
export async function endSessions(
  tx: Transaction,
  context: Context,
  userId: string,
  keep?: OwnBrowser,
): Promise<void> {
  const kept = keep
    ? [
        { model: 'Interaction', id: keep.interactionId },
        { model: 'Session', uid: keep.sessionUid },
      ]
    : [];
  await tx.oidcRecord.deleteMany({ where: { accountId: userId, NOT: { OR: kept } } });
  await tx.session.deleteMany({ where: { userId, NOT: { id: keep?.sessionUid ?? '' } } });
  await endSignInsUnderWay(tx, context, userId);
  await tx.personalAccessToken.deleteMany({ where: { userId } });
  await endImpersonation(tx, context, userId);
  await tx.user.update({
    where: { id: userId },
    data: { tokensValidAfter: context.clock.now() },
  });
}

/** Ends the interactions in which a user has signed in and which are not done: the old password may have begun them. */
export async function endSignInsUnderWay(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  userId: string,
): Promise<void> {
  await tx.interaction.updateMany({
    where: { userId, submittedAt: null },
    data: { expiresAt: clock.now() },
  });
}

/** Ends the subject tokens that an agent created, and what was issued for them. */
export async function endImpersonation(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  agentId: string,
): Promise<void> {
  // What was issued for a subject token names it in its lineage, and ends when it does.
  await tx.$executeRaw`
    INSERT INTO "RevokedToken" ("jti", "expiresAt")
    SELECT "id", "expiresAt" FROM "SubjectToken"
     WHERE "act" ->> 'sub' = ${agentId} AND "expiresAt" > ${clock.now()}::timestamptz
    ON CONFLICT ("jti") DO NOTHING`;
}
