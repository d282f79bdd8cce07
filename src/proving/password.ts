import type { User } from '../generated/prisma/client.ts';
import { type Failed, suspended, Unanswered } from '../protection/attempts.ts';
import type { VisitContext } from '../services.ts';
import { HashingBusy } from '../users/hash-queue.ts';
import { needsRehash, rehashPassword, verifyPassword } from '../users/password.ts';
import { isOfPossibleLength } from '../users/password-policy.ts';

/**
 * Checks a password, as part of {@link tryGuess}. An unknown or suspended user, a missing and a wrong password fail the
 * same way, with the same statements and in the same time.
 *
 * @returns The user, unless the password proves nothing.
 * @throws {HashingBusy}, with the attempt taken only if imported digests were the reason.
 */
export async function checkPassword(
  context: Pick<VisitContext, 'database' | 'passwordCost'>,
  user: User | null,
  password: string,
): Promise<User | Failed> {
  // The time of hashing grows with the length.
  const hashed = isOfPossibleLength(password) ? password : '';
  const result = await verifyPassword(context, user?.passwordDigest ?? null, hashed);
  // Otherwise whoever fills the queue could guess at digests of ours without end.
  if (result === 'unchecked') throw new Unanswered(new HashingBusy());
  if (result !== 'right' || !user) return null;
  return user.isSuspended ? suspended : user;
}

/** Replaces an imported digest as soon as possible: only now is the password known. */
export async function replaceImported(
  services: Pick<VisitContext, 'database' | 'passwordCost'>,
  { id, passwordDigest }: User,
  password: string,
): Promise<void> {
  if (passwordDigest === null || !needsRehash(services, passwordDigest)) return;
  await rehashPassword(services, { id, passwordDigest }, password);
}
