import { lockUsers } from '../db/lock.ts';
import { NotAllowedError, PasswordRejectedError, VerificationFailedError } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { tellPerson } from '../messages/notice.ts';
import { browserOf } from '../oidc/provider/finish-interaction.ts';
import { getProvider } from '../oidc/provider/provider.ts';
import { forgetAttempts } from '../protection/attempts.ts';
import { identifiersOf } from '../protection/identifier.ts';
import { findUserByAddress, methodsOf } from '../proving/codes.ts';
import { verifiedBy } from '../proving/proved.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { languageOf } from '../sign-in-experience/language.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { hashQueue } from '../users/hash-queue.ts';
import { writePassword } from '../users/operations.ts';
import { hashPassword } from '../users/password.ts';
import { rejections } from '../users/password-policy.ts';
import { userRecord } from '../users/payload.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from './interaction.ts';
import { newcomerOf, recoveredAddress } from './steps.ts';

/**
 * Replaces a forgotten password after a code for that purpose. Ends the person's other sessions, and the lock on
 * guesses of the old password. Raises `User.Data.Updated` and `User.Credential.Updated`, `User.Session.Ended` for each
 * other session, `PostResetPassword`, and `Identifier.Unlocked` if that lock was there.
 *
 * @throws {NotAllowedError} without such a code, when passwords are off, or when the address is that of an identity
 *   provider; {@link PasswordRejectedError}
 *   {@link VerificationFailedError} when the account no longer exists; {@link InteractionExpiredError}
 *   {@link HashingBusy}
 */
export async function resetPassword(
  context: VisitContext,
  access: InteractionAccess,
  { password }: { password: string },
): Promise<Interaction> {
  const { prisma } = context.database;
  hashQueue.assertRoom();
  const settings = await readSignInExperience(prisma);
  if (!settings.passwordEnabled) throw new NotAllowedError('Nobody signs in by password here.');
  const running = await readInteraction(context, access);
  const shown = shownAddress(context, running);
  await assertNotElsewhere(prisma, shown.recipient, newcomerOf(running));
  const user = await findUserByAddress(prisma, shown);
  if (!user || user.isSuspended) throw new VerificationFailedError();
  const inForce = await readSettingsInForce(prisma, user.id);
  if (!inForce.passwordEnabled) throw new VerificationFailedError();
  const subject = { ...user, productName: settings.branding.productName };
  const reasons = rejections(inForce.passwordPolicy, password, subject);
  if (reasons.length > 0) throw new PasswordRejectedError(reasons);
  const digest = await hashPassword(context, password);
  const keep = access.uid === null ? undefined : await browserOf(getProvider(context), access.uid);
  const person = asPerson(context, running, user.id);
  const changed = await changeInteraction(context, access, async (tx, interaction) => {
    const verification = shownAddress(context, interaction);
    await lockUsers(tx, [user.id]);
    const holder = await findUserByAddress(tx, verification);
    if (holder?.id !== user.id || holder.isSuspended) throw new VerificationFailedError();
    // Of two recoveries at once, the first has voided the other's.
    const { count } = await tx.verification.deleteMany({ where: { id: verification.id } });
    if (count === 0) throw new VerificationFailedError();
    const { result: after } = await writePassword(tx, person, {
      id: user.id,
      digest,
      keep,
      verified: verifiedBy(holder, verification),
    });
    const { ip, userAgent } = context;
    const told = await recordEvent(tx, person, 'PostResetPassword', {
      user: userRecord(after),
      applicationId: interaction.applicationId,
      ip,
      userAgent,
      sessionId: null,
    });
    const language = languageOf(context, settings);
    await tellPerson(tx, person, after, { template: 'PASSWORD_CHANGED', language });
    const methods = methodsOf(verification);
    // All sign-ins under way have ended; this one goes on.
    await updateInteraction(tx, interaction, { expiresAt: interaction.expiresAt });
    const { result: known } = await authenticate(tx, context, interaction, {
      userId: user.id,
      methods,
      event: 'RESET_PASSWORD',
      through: verification.setterScopes,
      proved: verification,
    });
    return told.with(known);
  });
  for (const identifier of identifiersOf(user))
    await forgetAttempts(person, { ...identifier, check: 'password' });
  return changed;
}

function shownAddress(context: VisitContext, interaction: Interaction) {
  const verification = recoveredAddress(context, interaction);
  if (!verification) throw new NotAllowedError('A code has to be verified first.');
  return verification;
}
