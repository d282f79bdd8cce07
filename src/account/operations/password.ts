import { NotAllowedError, PasswordRejectedError, VerificationFailedError } from '../../errors.ts';
import { provePassword, replaceImported } from '../../experience/password.ts';
import type { User } from '../../generated/prisma/client.ts';
import { forgetAttempts, type Guess } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import { identifiersOf } from '../../protection/identifier.ts';
import type { ViewerContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { deletePersonalAccessTokensOf } from '../../subject-tokens/personal-access-token.ts';
import { hashQueue } from '../../users/hash-queue.ts';
import { writePasswordDigest } from '../../users/operations.ts';
import { hashPassword } from '../../users/password.ts';
import { rejections } from '../../users/password-policy.ts';
import { tellViewer } from './notice.ts';
import { assertProved, changeProved, rememberProof } from './proof.ts';
import { endOtherSessions } from './sessions.ts';
import { changeViewer, readViewer } from './viewer.ts';

/**
 * Proves by the password that it is the owner of the account.
 *
 * @returns Until when the proof counts.
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} when passwords are off;
 *   {@link HashingBusy}
 */
export async function verifyViewerPassword(
  context: ViewerContext,
  { password }: { password: string },
): Promise<Date> {
  hashQueue.assertRoom();
  const settings = await readSignInExperience(context.database.prisma);
  if (!settings.passwordEnabled) throw new NotAllowedError('Passwords are not used here.');
  const user = await readViewer(context);
  const guess = guessOf(context, user, 'password');
  const { passwordDigest } = await provePassword(context, settings, guess, { user, password });
  const until = await changeViewer(context, async (tx, now) =>
    now.passwordDigest === passwordDigest ? rememberProof(tx, context) : null,
  );
  // The password was changed while it was checked.
  if (until === null) throw new VerificationFailedError();
  await forgetAttempts(context, guess);
  await replaceImported(context, user, password);
  return until;
}

/** A guess of something that proves who a person is, counted by their first identifier. */
export function guessOf(context: ViewerContext, user: User, check: Guess['check']): Guess {
  const [identifier = { type: 'username' as const, value: user.id }] = identifiersOf(user);
  const device = readDevice(context, context.visitor.cookies, user.id);
  return { ...identifier, check, device };
}

/**
 * Sets the own password. Ends all other sessions of the person and the personal access tokens, with all that came from them, and the lock on guesses of
 * the old password. Raises `User.Data.Updated`.
 *
 * @throws {VerificationRequiredError} {@link PasswordRejectedError} {@link NotAllowedError} when passwords are off;
 *   {@link HashingBusy}
 */
export async function updateViewerPassword(
  context: ViewerContext,
  { password }: { password: string },
): Promise<User> {
  hashQueue.assertRoom();
  const settings = await readSignInExperience(context.database.prisma);
  if (!settings.passwordEnabled) throw new NotAllowedError('Passwords are not used here.');
  await assertProved(context);
  const subject = await readViewer(context);
  const about = { ...subject, productName: settings.branding.productName };
  const reasons = rejections(settings.passwordPolicy, password, about);
  if (reasons.length > 0) throw new PasswordRejectedError(reasons);
  const digest = await hashPassword(password);
  const user = await changeProved(context, async (tx, before) => {
    const after = await writePasswordDigest(tx, context, before, digest);
    await endOtherSessions(tx, context);
    await deletePersonalAccessTokensOf(tx, context, before.id);
    await tellViewer(tx, context, before, { template: 'PASSWORD_CHANGED' });
    return after;
  });
  for (const identifier of identifiersOf(user))
    await forgetAttempts(context, { ...identifier, check: 'password' });
  return user;
}
