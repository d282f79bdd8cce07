import { mayProve } from '../auth/granting/prove.ts';
import { lockUsers } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { type Failed, suspended, tryGuess } from '../protection/attempts.ts';
import { findUserByAddress, identifierOf } from '../proving/codes.ts';
import { guessAt } from '../proving/guesses.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { withoutSpaceAround } from '../text/typed.ts';
import { redeemToken } from '../users/one-time-tokens/one-time-token.ts';
import {
  authenticate,
  type Interaction,
  moveInteraction,
  readInteraction,
  throughAll,
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
  const address = { type: 'EMAIL' as const, recipient: withoutSpaceAround(email) };
  const known = await findUserByAddress(prisma, address);
  const guess = guessAt(context, 'ONE_TIME_TOKEN', identifierOf(address), {
    userId: known?.id,
    applicationId: access.applicationId,
  });
  const redeem = async (tx: Transaction, found: Interaction): Promise<Interaction | Failed> => {
    await lockUsers(tx, known ? [known.id] : []);
    const redeemed = await redeemToken(tx, context, { email: address.recipient, token });
    const holder = await findUserByAddress(tx, address);
    if (!redeemed) return null;
    if (holder?.isSuspended) return suspended;
    const { setterScopes } = redeemed;
    if (holder) {
      if (!(await mayProve(tx, throughAll(found, setterScopes), holder.id))) return null;
      const named = await updateInteraction(tx, found, { identifier: address.recipient });
      return authenticate(tx, context, named, {
        userId: holder.id,
        methods: ['otp'],
        event: 'SIGN_IN',
        through: setterScopes,
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
        setterScopes,
        verifiedAt: now,
        createdAt: now,
        expiresAt: redeemed.expiresAt,
      },
    });
    return updateInteraction(tx, found, { event: 'REGISTER', identifier: redeemed.email });
  };
  return tryGuess(context, settings, guess, () => moveInteraction(context, access, redeem));
}
