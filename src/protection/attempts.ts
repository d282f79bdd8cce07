import { transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { type Context, systemActor } from '../services.ts';
import type { LockoutPolicy } from '../sign-in-experience/settings.ts';
import { type Identifier, identifierDigest, normalValue } from './identifier.ts';

/** The services that count attempts. The user is not known yet, so events name Signet itself as the actor. */
export type ProtectionContext = Pick<Context, 'database' | 'clock' | 'cipher' | 'log' | 'traceId'>;

/** One attempt to prove to be the owner of an identifier. */
export interface Guess extends Identifier {
  readonly check: 'password' | 'code' | 'one-time-token' | 'factor';
  /**
   * The id of the device cookie, if this person signed in before in this browser ({@link readDevice}). Such a browser
   * has its own counter, so that strangers cannot lock the person out.
   */
  readonly device?: string | undefined;
}

/** Whether a guess may be checked. */
export type Attempt =
  | {
      readonly allowed: true;
      /** Set if this is the last attempt within the limit: the end of the lock if it fails. */
      readonly locksUntil: Date | null;
    }
  | { readonly allowed: false; readonly lockedUntil: Date };

/**
 * Takes one of a person's attempts before the expensive check. It counts as a failure until {@link forgetAttempts}.
 * Never call it inside a transaction: a rollback would give the attempt back.
 *
 * One statement counts and decides, so that concurrent guesses on all nodes never exceed the limit. Raises
 * `Identifier.Lockout` when it refuses because of a lock that was not reported yet.
 */
export async function takeAttempt(
  context: ProtectionContext,
  policy: LockoutPolicy,
  guess: Guess,
): Promise<Attempt> {
  const { maxAttempts, windowSeconds, lockSeconds } = policy;
  const now = context.clock.now();
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  const { identifier, check, device } = keyOf(context, guess);
  const window = later(windowSeconds);
  const lock = later(lockSeconds);
  const firstLock = maxAttempts <= 1 ? lock : null;
  // An expired row counts as absent.
  const [row] = await context.database.prisma.$queryRaw<Row[]>`
    INSERT INTO "AttemptCount" AS a
           ("identifier", "check", "device", "count", "lockedUntil", "expiresAt")
    VALUES (${identifier}::bytea, ${check}, ${device}, 1, ${firstLock}::timestamptz,
            ${firstLock ?? window}::timestamptz)
    ON CONFLICT ("identifier", "check", "device") DO UPDATE SET
      ("count", "refused", "lockedUntil", "isAnnounced", "expiresAt") = (
        SELECT n.*
          FROM (SELECT 1, 0, EXCLUDED."lockedUntil", false, EXCLUDED."expiresAt"
                 WHERE a."expiresAt" <= ${now}::timestamptz
                UNION ALL
                SELECT a."count", least(a."refused", 1000000) + 1, a."lockedUntil", a."isAnnounced", a."expiresAt"
                 WHERE a."expiresAt" > ${now}::timestamptz AND a."lockedUntil" IS NOT NULL
                UNION ALL
                SELECT a."count" + 1, 0, ${lock}::timestamptz, false, ${lock}::timestamptz
                 WHERE a."expiresAt" > ${now}::timestamptz AND a."lockedUntil" IS NULL
                   AND a."count" + 1 >= ${maxAttempts}
                UNION ALL
                SELECT a."count" + 1, 0, NULL, false, a."expiresAt"
                 WHERE a."expiresAt" > ${now}::timestamptz AND a."lockedUntil" IS NULL
                   AND a."count" + 1 < ${maxAttempts}) n)
    RETURNING "refused", "lockedUntil", "isAnnounced"`;
  if (!row) throw new Error('An upsert gave no row.');
  const { refused, lockedUntil, isAnnounced } = row;
  if (lockedUntil === null || refused === 0) return { allowed: true, locksUntil: lockedUntil };
  if (!isAnnounced) await announceLock(context, guess);
  return { allowed: false, lockedUntil };
}

interface Row {
  readonly refused: number;
  readonly lockedUntil: Date | null;
  readonly isAnnounced: boolean;
}

/**
 * Reports a failed attempt. The last one locks the identifier, which raises `Identifier.Lockout`. Earlier ones need
 * nothing more, because {@link takeAttempt} has counted them.
 *
 * @returns The end of the lock that this failure caused, or null.
 */
export async function failAttempt(
  context: ProtectionContext,
  guess: Guess,
  attempt: Attempt,
): Promise<Date | null> {
  if (!attempt.allowed) return attempt.lockedUntil;
  if (attempt.locksUntil === null) return null;
  return (await announceLock(context, guess)) ?? attempt.locksUntil;
}

/**
 * Runs the check that an attempt was taken for. If the check gives no result, because the service is too busy or the
 * database is down, the attempt is given back: that must lock nobody out.
 */
export async function whileTaken<T>(
  context: ProtectionContext,
  guess: Guess,
  attempt: Attempt,
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    await giveBack(context, guess, attempt).catch((cause: unknown) =>
      context.log.warn({ err: cause }, 'an attempt could not be given back'),
    );
    throw error;
  }
}

async function giveBack(context: ProtectionContext, guess: Guess, attempt: Attempt) {
  const ownLock = attempt.allowed && attempt.locksUntil ? { lockedUntil: null, refused: 0 } : {};
  await context.database.prisma.attemptCount.updateMany({
    where: { ...keyOf(context, guess), count: { gt: 0 } },
    data: { count: { decrement: 1 }, ...ownLock },
  });
}

/** Forgets failures after a success, of the same check and browser; those of strangers still count. */
export async function forgetAttempts(
  context: Pick<ProtectionContext, 'database' | 'cipher'>,
  guess: Guess,
): Promise<void> {
  await context.database.prisma.attemptCount.deleteMany({ where: keyOf(context, guess) });
}

// Whoever sets the mark also records the event, in one transaction: each lock has one event.
async function announceLock(context: ProtectionContext, guess: Guess): Promise<Date | null> {
  const now = context.clock.now();
  return transaction(context.database, async (tx) => {
    const [row] = await tx.attemptCount.updateManyAndReturn({
      where: { ...keyOf(context, guess), isAnnounced: false, lockedUntil: { gt: now } },
      data: { isAnnounced: true },
    });
    if (!row?.lockedUntil) return null;
    await recordEvent(tx, { ...context, actor: systemActor }, 'Identifier.Lockout', {
      type: guess.type,
      value: normalValue(guess),
      lockedUntil: row.lockedUntil.toISOString(),
    });
    return row.lockedUntil;
  });
}

const keyOf = ({ cipher }: Pick<ProtectionContext, 'cipher'>, guess: Guess) => ({
  identifier: identifierDigest(cipher, guess),
  check: guess.check,
  device: guess.device ?? '',
});
