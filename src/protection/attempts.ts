import { runPrepared } from '../db/sql.ts';
import { type Told, untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { LockedError, VerificationFailedError } from '../errors.ts';
import { type Origin, recordEvent } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Context, systemActor, type VisitContext } from '../services.ts';
import type { LockoutPolicy, SignInExperience } from '../sign-in-experience/settings.ts';
import { noteFailure } from './addresses.ts';
import { type Identifier, identifierDigest, normalValue } from './identifier.ts';
import {
  type FailureReason,
  reportFailedSignIn,
  type SignInMethod,
} from './refusals/failed-sign-in.ts';

/** What guesses are counted by. */
interface Counter extends Identifier {
  readonly check: 'password' | 'code' | 'one-time-token' | 'factor' | 'enrollment';
  /**
   * The id of the device cookie, if this person signed in before in this browser ({@link readDevice}). Such a browser
   * has its own counter, so that strangers cannot lock the person out.
   */
  readonly device?: string | undefined;
}

/** A guess at what proves to be the owner of an identifier. */
export interface Guess extends Counter {
  /** What `SignIn.Failed` says if it fails; absent if it would have signed nobody in. */
  readonly told?: {
    readonly method: SignInMethod;
    /** Why it fails if it is wrong. */
    readonly reason: FailureReason;
    readonly userId: string | null;
    readonly applicationId: string;
  };
}

/** The result of a right guess whose owner is suspended. It is answered like a wrong one. */
export const suspended = Symbol('suspended');

/** The result of a guess that proves nothing. */
export type Failed = null | typeof suspended;

/** Ends a check without an answer, and keeps the attempt taken. */
export class Unanswered extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message);
    this.cause = cause;
  }
}

/**
 * Checks a guess. All guesses go through here. Takes one of the person's attempts before the check. A right guess
 * forgets the failures before it. A wrong one counts against the identifier and the client's address; the last one
 * locks the identifier, which raises `Identifier.Lockout` once. Each failure raises `SignIn.Failed` later, as far as its
 * share goes. If the check gives no answer, because the service is
 * too busy or the database is down, the attempt is given back: a fault must lock nobody out.
 *
 * The attempt is counted outside of any transaction, so never call it inside one: a rollback would give it back.
 *
 * @param check The whole step that a right guess allows, with the expensive check.
 * @throws {VerificationFailedError} on a wrong guess; {@link LockedError}, with nothing checked or on the last attempt;
 *   and what the check throws.
 */
export async function tryGuess<T>(
  context: VisitContext,
  { lockoutPolicy }: Pick<SignInExperience, 'lockoutPolicy'>,
  guess: Guess,
  check: () => Promise<T | Failed>,
): Promise<T> {
  const attempt = await takeAttempt(context, lockoutPolicy, guess).catch((error: unknown) => {
    if (error instanceof LockedError) tellFailure(context, guess, 'LOCKED');
    throw error;
  });
  const result = await check().catch(async (error: unknown) => {
    if (error instanceof VerificationFailedError) return null;
    if (error instanceof Unanswered) throw error.cause;
    await orWarn(context, 'an attempt could not be given back', giveBack(context, guess, attempt));
    throw error;
  });
  if (result === null || result === suspended) {
    tellFailure(context, guess, result === null ? guess.told?.reason : 'SUSPENDED');
    throw await failureOf(context, guess, attempt);
  }
  // The step is done, so a failure here must not fail it.
  await orWarn(
    context,
    'failures could not be forgotten',
    forgetAttempts({ ...context, actor: systemActor }, guess),
  );
  return result;
}

function tellFailure(
  context: VisitContext,
  { type, told }: Guess,
  reason: FailureReason | undefined,
): void {
  if (told && reason) reportFailedSignIn(context, { ...told, identifierType: type, reason });
}

const orWarn = ({ log }: VisitContext, message: string, work: Promise<void>): Promise<void> =>
  work.catch((cause: unknown) => log.warn({ err: cause }, message));

/** An attempt that may be checked. */
interface Attempt {
  /** Set if this is the last attempt within the limit: the end of the lock if it fails. */
  readonly locksUntil: Date | null;
}

/**
 * Takes an attempt. One statement counts and decides, so concurrent guesses never exceed the limit, on all nodes
 * together.
 *
 * @throws {LockedError} Raises `Identifier.Lockout` if the lock was not reported yet.
 */
async function takeAttempt(
  context: VisitContext,
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
  const statement = Prisma.sql`
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
  const [row] = await runPrepared<Row>(context.database.sql, 'attempt-count', statement);
  if (!row) throw new Error('An upsert gave no row.');
  const { refused, lockedUntil, isAnnounced } = row;
  if (lockedUntil === null || refused === 0) return { locksUntil: lockedUntil };
  if (!isAnnounced) await announceLock(context, guess);
  throw new LockedError(lockedUntil);
}

interface Row {
  readonly refused: number;
  readonly lockedUntil: Date | null;
  readonly isAnnounced: boolean;
}

// Only the last attempt raises a lock. For the others takeAttempt has done everything.
async function failureOf(
  context: VisitContext,
  guess: Guess,
  { locksUntil }: Attempt,
): Promise<LockedError | VerificationFailedError> {
  await noteFailure(context, context.ip);
  if (locksUntil === null) return new VerificationFailedError();
  return new LockedError((await announceLock(context, guess)) ?? locksUntil);
}

async function giveBack(
  context: VisitContext,
  guess: Guess,
  { locksUntil }: Attempt,
): Promise<void> {
  const ownLock = locksUntil ? { lockedUntil: null, refused: 0 } : {};
  await context.database.prisma.attemptCount.updateMany({
    where: { ...keyOf(context, guess), count: { gt: 0 } },
    data: { count: { decrement: 1 }, ...ownLock },
  });
}

/**
 * Forgets failures after a success, of the same check and browser; those of strangers still count. Raises
 * `Identifier.Unlocked` if that ends a lock.
 */
export async function forgetAttempts(
  context: Origin & Pick<Context, 'database' | 'cipher'>,
  guess: Counter,
): Promise<void> {
  const { count } = await context.database.prisma.attemptCount.deleteMany({
    where: { ...keyOf(context, guess), isAnnounced: false },
  });
  // Most often that was the row of the right guess itself.
  if (count > 0) return;
  await transaction(context.database, (tx) => unlock(tx, context, guess, guess));
}

/**
 * Ends the locks of an identifier and forgets its failures. Raises `Identifier.Unlocked` if `Identifier.Lockout` told of
 * a lock that still holds.
 *
 * @param only The one check, in one browser; by default every check in every browser.
 */
export async function unlock(
  tx: Transaction,
  context: Origin & Pick<Context, 'cipher'>,
  identifier: Identifier,
  only?: Pick<Guess, 'check' | 'device'>,
): Promise<Told<void>> {
  const check = only?.check ?? null;
  const deleted = await tx.$queryRaw<Pick<Row, 'lockedUntil' | 'isAnnounced'>[]>`
    DELETE FROM "AttemptCount"
     WHERE "identifier" = ${identifierDigest(context.cipher, identifier)}::bytea
       AND (${check}::text IS NULL OR ("check" = ${check} AND "device" = ${only?.device ?? ''}))
    RETURNING "lockedUntil", "isAnnounced"`;
  const now = context.clock.now();
  if (!deleted.some((row) => row.isAnnounced && row.lockedUntil && row.lockedUntil > now))
    return untold(undefined);
  return recordEvent(tx, context, 'Identifier.Unlocked', {
    type: identifier.type,
    value: normalValue(identifier),
  });
}

// One transaction sets the mark and records the event, so each lock has one event.
async function announceLock(context: VisitContext, guess: Guess): Promise<Date | null> {
  const now = context.clock.now();
  return transaction(context.database, async (tx) => {
    const [row] = await tx.attemptCount.updateManyAndReturn({
      where: { ...keyOf(context, guess), isAnnounced: false, lockedUntil: { gt: now } },
      data: { isAnnounced: true },
    });
    if (!row?.lockedUntil) return untold(null);
    const told = await recordEvent(tx, { ...context, actor: systemActor }, 'Identifier.Lockout', {
      type: guess.type,
      value: normalValue(guess),
      lockedUntil: row.lockedUntil.toISOString(),
    });
    return told.with(row.lockedUntil);
  });
}

const keyOf = ({ cipher }: Pick<VisitContext, 'cipher'>, guess: Counter) => ({
  identifier: identifierDigest(cipher, guess),
  check: guess.check,
  device: guess.device ?? '',
});
