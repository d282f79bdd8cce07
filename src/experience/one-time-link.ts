import { LockedError } from '../errors.ts';
import { newId } from '../ids.ts';
import { forgetAttempts, type Guess, takeAttempt } from '../protection/attempts.ts';
import { readDevice } from '../protection/device.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { redeemToken } from '../users/one-time-token.ts';
import { findHolder, identifierOf } from './codes.ts';
import { failureOf } from './failure.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from './interaction.ts';

/**
 * Uses up a one-time token. The owner of its address is signed in. If nobody has the address and registration is open,
 * the address is verified and `register` comes next.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link InteractionExpiredError}
 */
export async function redeemOneTimeToken(
  context: VisitContext,
  access: InteractionAccess,
  { email, token }: { email: string; token: string },
): Promise<Interaction> {
  const { prisma } = context.database;
  const settings = await readSignInExperience(prisma);
  await readInteraction(context, access);
  const address = { type: 'EMAIL' as const, recipient: email.trim() };
  const identifier = identifierOf(address);
  const known = await findHolder(prisma, address);
  const device = readDevice(context, context.visitor.cookies, known?.id);
  const guess: Guess = { ...identifier, check: 'one-time-token', device };
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const interaction = await changeInteraction(context, access, async (tx, found) => {
    const redeemed = await redeemToken(tx, context, { email: address.recipient, token });
    const holder = await findHolder(tx, address);
    if (!redeemed || holder?.isSuspended) return null;
    if (holder) {
      const named = await updateInteraction(tx, found, { identifier: address.recipient });
      return authenticate(tx, context, named, {
        userId: holder.id,
        methods: ['otp'],
        event: 'SIGN_IN',
      });
    }
    if (!settings.signUpEnabled) return null;
    const now = context.clock.now();
    await tx.verification.create({
      data: {
        id: newId('Verification'),
        interactionId: found.id,
        purpose: 'REGISTER',
        type: 'EMAIL',
        recipient: redeemed.email,
        verifiedAt: now,
        createdAt: now,
        expiresAt: found.expiresAt,
      },
    });
    return updateInteraction(tx, found, { event: 'REGISTER', identifier: redeemed.email });
  });
  if (!interaction) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return interaction;
}
