import { lockUser } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import { LockedError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { User } from '../generated/prisma/client.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { forgetAttempts, type Guess, takeAttempt, whileTaken } from '../protection/attempts.ts';
import { readDevice } from '../protection/device.ts';
import { readIdentifier } from '../protection/identifier.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSignInExperience, type SignInExperience } from '../sign-in-experience/settings.ts';
import { findUserByIdentifier } from '../users/find.ts';
import { hashQueue } from '../users/hash-queue.ts';
import { needsRehash, rehashPassword, verifyPassword } from '../users/password.ts';
import { isOfPossibleLength } from '../users/password-policy.ts';
import { failureOf } from './failure.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from './interaction.ts';
import { newcomerOf } from './steps.ts';

/**
 * Signs a person in by identifier and password. An unknown or suspended user, a missing and a wrong password fail the
 * same way, with the same statements and in the same time.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} when passwords are off;
 *   or the address is that of an identity provider; {@link InteractionExpiredError}; {@link HashingBusy} with no
 *   attempt taken.
 */
export async function signInWithPassword(
  context: VisitContext,
  access: InteractionAccess,
  { identifier: typed, password }: { identifier: string; password: string },
): Promise<Interaction> {
  const { database } = context;
  hashQueue.assertRoom();
  const settings = await readSignInExperience(database.prisma);
  if (!settings.passwordEnabled) throw new NotAllowedError('Nobody signs in by password here.');
  const identifier = readIdentifier(typed);
  const newcomer = newcomerOf(await readInteraction(context, access), identifier.value);
  await assertNotElsewhere(database.prisma, identifier.value, newcomer);
  const found = await findUserByIdentifier(database.prisma, settings, identifier);
  const device = readDevice(context, context.visitor.cookies, found?.id);
  const guess: Guess = { ...identifier, check: 'password', device };
  const user = await provePassword(context, settings, guess, { user: found, password });
  const interaction = await changeInteraction(context, access, async (tx, running) => {
    if (!(await isUnchanged(tx, user))) return null;
    const named = await updateInteraction(tx, running, { identifier: identifier.value });
    const { id: userId } = user;
    return authenticate(tx, context, named, { userId, methods: ['pwd'], event: 'SIGN_IN' });
  });
  if (!interaction) return signInWithPassword(context, access, { identifier: typed, password });
  await forgetAttempts(context, guess);
  await replaceImported(context, user, password);
  return interaction;
}

/** Whether a password that was just checked is still the user's. Locks the user, so that it stays so. */
async function isUnchanged(tx: Transaction, { id, passwordDigest }: User): Promise<boolean> {
  try {
    const now = await lockUser(tx, id);
    return now.passwordDigest === passwordDigest && !now.isSuspended;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/**
 * Checks a guess of a password. An unknown or suspended user, a missing and a wrong password fail the same way, with
 * the same statements and in the same time.
 *
 * @returns The user. The caller forgets the attempts once the whole step has succeeded.
 * @throws {VerificationFailedError} {@link LockedError}; {@link HashingBusy} with no attempt taken.
 */
export async function provePassword(
  context: VisitContext,
  { lockoutPolicy }: Pick<SignInExperience, 'lockoutPolicy'>,
  guess: Guess,
  { user, password }: { readonly user: User | null; readonly password: string },
): Promise<User> {
  const attempt = await takeAttempt(context, lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const isRight = await whileTaken(context, guess, attempt, () =>
    // The time of hashing grows with the length.
    verifyPassword(user?.passwordDigest ?? null, isOfPossibleLength(password) ? password : ''),
  );
  if (!user || !isRight || user.isSuspended) throw await failureOf(context, guess, attempt);
  return user;
}

/** Replaces an imported digest as soon as possible: only now is the password known. */
export async function replaceImported(
  { database }: Pick<VisitContext, 'database'>,
  { id, passwordDigest }: User,
  password: string,
): Promise<void> {
  if (passwordDigest === null || !needsRehash(passwordDigest)) return;
  await rehashPassword(database, { id, passwordDigest }, password);
}
