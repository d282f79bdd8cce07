import { actingReference } from '../auth/access-token.ts';
import { lockRow } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import type { EventData } from '../events/catalogue/catalogue.ts';
import { type Origin, recordEvents } from '../events/record.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { deletePersonalAccessTokens, revokeIssuedFor } from './credentials.ts';

/**
 * Signs a user out everywhere: sessions, refresh tokens and all access tokens issued so far end. Raises
 * `User.Session.Ended` for each session, or once if there were only tokens; `User.Credential.Updated` for each personal
 * access token.
 *
 * @throws {NotFoundError}
 */
export async function signOutUser(context: Context, { id }: { id: string }): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', id);
    const told = await endSessions(tx, context, id, 'ENDED');
    return told.with(await tx.user.findUniqueOrThrow({ where: { id } }));
  });
}

/** Why sessions end. */
export type SessionEnd = EventData<'User.Session.Ended'>['reason'];

/** The provider's records of one browser during a sign-in. */
export interface OwnBrowser {
  /** The id under which its interaction is stored. */
  readonly interactionId: string;
  /** The `uid` of the session it had at the start; empty without one. */
  readonly sessionUid: string;
}

/**
 * Ends a user's sessions, codes, refresh tokens and personal access tokens, and all access tokens issued so far for
 * services that check, with those by which applications act for others on this user's behalf. Call it with the user
 * locked. Raises the events of {@link signOutUser}.
 *
 * @param keep A browser in which the user stays signed in.
 */
export async function endSessions(
  tx: Transaction,
  context: Context,
  userId: string,
  reason: SessionEnd,
  keep?: OwnBrowser,
): Promise<Told<void>> {
  const told = await deleteSessions(tx, context, userId, reason, keep);
  await endSignInsUnderWay(tx, context, userId);
  await deletePersonalAccessTokens(tx, context, userId);
  await endActing(tx, context, userId);
  await tx.user.update({
    where: { id: userId },
    data: { tokensValidAfter: context.clock.now() },
  });
  return told;
}

/**
 * Deletes a user's sessions and the provider's records of them. Call it with the user locked. Raises
 * `User.Session.Ended` for each session in force, or once if only tokens were.
 */
export async function deleteSessions(
  tx: Transaction,
  context: Context,
  userId: string,
  reason: SessionEnd,
  keep?: OwnBrowser,
): Promise<Told<void>> {
  const kept = keep
    ? [
        { model: 'Interaction', id: keep.interactionId },
        { model: 'Session', uid: keep.sessionUid },
      ]
    : [];
  const others = { userId, NOT: { id: keep?.sessionUid ?? '' } };
  const ended = await tx.session.findMany({
    where: { ...others, expiresAt: { gt: context.clock.now() } },
    orderBy: { id: 'asc' },
    select: { id: true },
  });
  const endsTokens = ended.length === 0 && (await hasTokens(tx, context, userId));
  await tx.oidcRecord.deleteMany({ where: { accountId: userId, NOT: { OR: kept } } });
  await tx.session.deleteMany({ where: others });
  return recordSessionsEnded(tx, context, { userId, reason, sessions: ended, endsTokens });
}

/**
 * Whether a user has tokens in force: those that came from a grant or a subject token. Personal access tokens have an
 * event of their own.
 */
async function hasTokens(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  userId: string,
): Promise<boolean> {
  const now = clock.now();
  const [found] = await tx.$queryRaw<{ hasTokens: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM "OidcRecord"
                    WHERE "accountId" = ${userId} AND "model" = 'Grant' AND "expiresAt" > ${now}::timestamptz)
        OR EXISTS (SELECT 1 FROM "SubjectToken" s JOIN "User" u ON u."id" = s."userId"
                    WHERE s."userId" = ${userId} AND s."expiresAt" > ${now}::timestamptz
                      AND (u."tokensValidAfter" IS NULL OR u."tokensValidAfter" < s."createdAt")) AS "hasTokens"`;
  return found?.hasTokens === true;
}

/** What ended of a user. */
interface Ended {
  readonly userId: string;
  readonly reason: SessionEnd;
  /** The sessions that were in force. */
  readonly sessions: readonly { readonly id: string }[];
  /** Whether tokens ended. */
  readonly endsTokens: boolean;
}

/** Records `User.Session.Ended` for each session; once without a session if only tokens ended. */
export async function recordSessionsEnded(
  tx: Transaction,
  context: Origin,
  { userId, reason, sessions, endsTokens }: Ended,
): Promise<Told<void>> {
  const withoutSession = endsTokens ? [null] : [];
  const ids = sessions.length > 0 ? sessions.map(({ id }) => id) : withoutSession;
  return recordEvents(
    tx,
    context,
    ids.map((sessionId) => ({
      type: 'User.Session.Ended',
      data: { userId, sessionId, reason },
    })),
  );
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

/**
 * Ends the tokens by which a user acts for others: what was issued with an `actor_token` of theirs, and what they created
 * as an agent. Call it with the user locked, before `tokensValidAfter` changes.
 */
export async function endActing(
  tx: Transaction,
  context: Pick<Context, 'clock'>,
  userId: string,
): Promise<void> {
  const { tokensValidAfter } = await tx.user.findUniqueOrThrow({
    where: { id: userId },
    select: { tokensValidAfter: true },
  });
  // Nobody has acted since an end at this very instant, and tokens of later have the same reference.
  if (tokensValidAfter?.getTime() !== context.clock.now().getTime())
    await revokeIssuedFor(tx, context, [actingReference(userId, tokensValidAfter)]);
  await endImpersonation(tx, context, userId);
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
