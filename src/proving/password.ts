import type { User } from '../generated/prisma/client.ts';
import { type Failed, suspended, Unanswered } from '../protection/attempts.ts';
import type { VisitContext } from '../services.ts';
import type { SignInExperience } from '../sign-in-experience/settings.ts';
import { HashingBusy } from '../users/hash-queue.ts';
import { needsRehash, rehashPassword, verifyPassword } from '../users/password.ts';
import { isOfPossibleLength, rejections } from '../users/password-policy.ts';

/** The rules that a password has to meet to prove anything. */
interface PasswordRules {
  readonly settings: SignInExperience;
  /** The settings in force for the person. */
  readonly inForce: SignInExperience;
}

/**
 * Checks a password, as part of {@link tryGuess}. An unknown or suspended user, a missing and a wrong password fail the
 * same way, with the same statements and in the same time; so does one that the settings in force for the person do not
 * allow.
 *
 * @returns The user, unless the password proves nothing.
 * @throws {HashingBusy}, with the attempt taken only if imported digests were the reason.
 */
export async function checkPassword(
  context: Pick<VisitContext, 'database' | 'passwordCost'>,
  rules: PasswordRules,
  user: User | null,
  password: string,
): Promise<User | Failed> {
  // The time of hashing grows with the length.
  const hashed = isOfPossibleLength(password) ? password : '';
  const result = await verifyPassword(context, user?.passwordDigest ?? null, hashed);
  // Otherwise whoever fills the queue could guess at digests of ours without end.
  if (result === 'unchecked') throw new Unanswered(new HashingBusy());
  if (result !== 'right' || !user || !isAllowed(rules, user, password)) return null;
  return user.isSuspended ? suspended : user;
}

/**
 * Whether a right password may prove who somebody is. One that is too easy for them, and not by the settings, was set
 * under these: whoever weakened them answers for nobody with more rights.
 */
function isAllowed({ settings, inForce }: PasswordRules, user: User, password: string): boolean {
  if (!inForce.passwordEnabled) return false;
  const about = { ...user, productName: settings.branding.productName };
  const isHard = ({ passwordPolicy }: SignInExperience) =>
    rejections(passwordPolicy, password, about).length === 0;
  return isHard(inForce) || !isHard(settings);
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
