import { untold } from '../../db/told.ts';
import { NotAllowedError, PasswordRejectedError } from '../../errors.ts';
import type { User } from '../../generated/prisma/client.ts';
import { forgetAttempts, suspended, tryGuess } from '../../protection/attempts.ts';
import { identifiersOf } from '../../protection/identifier.ts';
import { guessOf } from '../../proving/guesses.ts';
import { checkPassword, replaceImported } from '../../proving/password.ts';
import type { ViewerContext } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { hashQueue } from '../../users/hash-queue.ts';
import { writePasswordDigest } from '../../users/operations.ts';
import { hashPassword } from '../../users/password.ts';
import { rejections } from '../../users/password-policy.ts';
import { tellViewer } from './notice.ts';
import { assertProved, changeProved, rememberProof } from './proof.ts';
import { endOtherSessions } from './sessions.ts';
import { changeViewer, readViewer } from './viewer.ts';

/**
 * Proves who the person is by their password.
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
  const { prisma } = context.database;
  const inForce = await readSettingsInForce(prisma, context.viewer.userId);
  if (!inForce.passwordEnabled) throw new NotAllowedError('Passwords are not used here.');
  const rules = { settings: await readSignInExperience(prisma), inForce };
  const user = await readViewer(context);
  const applicationId = context.viewer.clientId;
  const guess = guessOf(context, 'PASSWORD', user, { applicationId });
  const until = await tryGuess(context, inForce, guess, async () => {
    const right = await checkPassword(context, rules, user, password);
    if (right === null || right === suspended) return right;
    return changeViewer(context, async (tx, { passwordDigest }) =>
      // The password may have been changed while it was checked.
      passwordDigest === user.passwordDigest ? rememberProof(tx, context) : untold(null),
    );
  });
  await replaceImported(context, user, password);
  return until;
}

/**
 * Sets the person's password. Ends all other sessions and the personal access tokens, with all that came from them.
 * Voids codes that were sent before, and ends the lock on guesses of the old password. Raises `User.Data.Updated`
 * and `User.Credential.Updated`, the events of {@link endOtherSessions}, and `Identifier.Unlocked` if that lock was there.
 *
 * @throws {VerificationRequiredError} {@link PasswordRejectedError} {@link NotAllowedError} when passwords are off;
 *   {@link HashingBusy}
 */
export async function updateViewerPassword(
  context: ViewerContext,
  { password }: { password: string },
): Promise<User> {
  hashQueue.assertRoom();
  const settings = await readSettingsInForce(context.database.prisma, context.viewer.userId);
  if (!settings.passwordEnabled) throw new NotAllowedError('Passwords are not used here.');
  await assertProved(context);
  const subject = await readViewer(context);
  const about = { ...subject, productName: settings.branding.productName };
  const reasons = rejections(settings.passwordPolicy, password, about);
  if (reasons.length > 0) throw new PasswordRejectedError(reasons);
  const digest = await hashPassword(context, password);
  const user = await changeProved(context, async (tx, before) => {
    const after = await writePasswordDigest(tx, context, before, digest);
    await endOtherSessions(tx, context, 'PASSWORD');
    await tellViewer(tx, context, before, { template: 'PASSWORD_CHANGED' });
    return after;
  });
  for (const identifier of identifiersOf(user))
    await forgetAttempts(context, { ...identifier, check: 'password' });
  return user;
}
