import { lockRow, lockUsers } from '../../db/lock.ts';
import { untold } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import { type Origin, recordEvent } from '../../events/record.ts';
import type { Session } from '../../generated/prisma/client.ts';
import type { Context, Services } from '../../services.ts';
import type { SessionPolicy } from '../../sign-in-experience/settings.ts';
import type { SessionEnd } from '../../users/sign-out.ts';
import { endGrantsWithin } from '../provider/storage/adapter.ts';

/** A browser in which a user has signed in. */
export interface NewSession {
  /** The `uid` of oidc-provider's session: a TypeID with the prefix `session`. */
  readonly id: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  /** How the person authenticated (RFC 8176). */
  readonly authenticationMethods: readonly string[];
}

/** Records that a browser is signed in; an existing session continues with the new values. */
export async function beginSession(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  policy: SessionPolicy,
  { id, userId, applicationId, ...seen }: NewSession,
): Promise<void> {
  const now = clock.now();
  const ttlSeconds = Math.min(policy.idleSeconds, policy.maxSeconds);
  const state = {
    ...seen,
    authenticationMethods: [...seen.authenticationMethods],
    lastActiveAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
  };
  await tx.session.upsert({
    where: { id },
    create: { id, userId, applicationIds: [applicationId], createdAt: now, ...state },
    update: state,
  });
}

/** The seconds that a session has left, from the time of its sign-in in seconds since the epoch. */
export const sessionTtl = (
  { idleSeconds, maxSeconds }: SessionPolicy,
  { signedInAt, now }: { readonly signedInAt: number; readonly now: number },
): number => Math.max(Math.min(idleSeconds, signedInAt + maxSeconds - now), 1);

/**
 * Ends one of a user's sessions: the browser is signed out, and its codes, refresh tokens and access tokens end too.
 * Raises `User.Session.Ended`.
 *
 * @returns The session in its last state.
 * @throws {NotFoundError} of the user, or of the session if it is not the user's.
 */
export async function endUserSession(
  context: Context,
  {
    userId,
    sessionId,
    reason = 'ENDED',
  }: { readonly userId: string; readonly sessionId: string; readonly reason?: SessionEnd },
): Promise<Session> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', userId);
    const session = await tx.session.findFirst({
      where: { id: sessionId, userId, expiresAt: { gt: context.clock.now() } },
    });
    if (!session) throw new NotFoundError(sessionId);
    await tx.session.deleteMany({ where: { id: sessionId } });
    // The library stores each application's grant in the session's record.
    const grants = await tx.$queryRaw<{ grantId: string }[]>`
      WITH "ended" AS (
        DELETE FROM "OidcRecord" WHERE "model" = 'Session' AND "uid" = ${sessionId} RETURNING "payload")
      SELECT DISTINCT a."value" ->> 'grantId' AS "grantId"
        FROM "ended", jsonb_each(coalesce("payload" -> 'authorizations', '{}')) a
       WHERE a."value" ->> 'grantId' IS NOT NULL`;
    await endGrantsWithin(
      tx,
      context,
      grants.map(({ grantId }) => grantId),
    );
    const told = await recordEvent(tx, context, 'User.Session.Ended', {
      userId,
      sessionId,
      reason,
    });
    return told.with(session);
  });
}

/** A session of the provider, signed in or not. */
export interface BrowserSession {
  readonly id: string;
  /** Undefined while nobody is signed in. */
  readonly userId: string | undefined;
  readonly grantIds: readonly string[];
}

/**
 * Ends the session of a browser, with its codes, refresh tokens and access tokens. Raises `User.Session.Ended` if it was
 * in force.
 */
export async function endBrowserSession(
  context: Origin & Pick<Services, 'database'>,
  { id, userId, grantIds }: BrowserSession,
  reason: SessionEnd,
): Promise<void> {
  const { database, clock } = context;
  await transaction(database, async (tx) => {
    // Whoever ends sessions locks the user first, so that one of them tells it. The user may be gone.
    await lockUsers(tx, userId === undefined ? [] : [userId]);
    const session = await tx.session.findUnique({ where: { id } });
    await endGrantsWithin(tx, { clock }, grantIds);
    await tx.session.deleteMany({ where: { id } });
    if (!session || session.expiresAt <= clock.now()) return untold(undefined);
    return recordEvent(tx, context, 'User.Session.Ended', {
      userId: session.userId,
      sessionId: id,
      reason,
    });
  });
}
