import { mayProve } from '../auth/granting/prove.ts';
import { lockUsers } from '../db/lock.ts';
import { type Told, untold } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { type Failed, suspended, tryGuess } from '../protection/attempts.ts';
import { findUserByAddress, identifierOf } from '../proving/codes.ts';
import { guessAt } from '../proving/guesses.ts';
import type { InteractionAccess, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { withoutSpaceAround } from '../text/typed.ts';
import { redeemToken } from '../users/one-time-tokens/one-time-token.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  throughAll,
  updateInteraction,
} from './interaction.ts';

/**
 * Uses up a one-time token. The owner of its address is signed in, and `User.Data.Updated` raised if it was not verified. If nobody has the address and registration is open,
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
  await readInteraction(context, access);
  const address = { type: 'EMAIL' as const, recipient: withoutSpaceAround(email) };
  const known = await findUserByAddress(prisma, address);
  const settings = await readSettingsInForce(prisma, known?.id);
  const guess = guessAt(context, 'ONE_TIME_TOKEN', identifierOf(address), {
    userId: known?.id,
    applicationId: access.applicationId,
  });
  const redeem = async (
    tx: Transaction,
    found: Interaction,
  ): Promise<Told<Interaction | Failed>> => {
    await lockUsers(tx, known ? [known.id] : []);
    const redeemed = await redeemToken(tx, context, { email: address.recipient, token });
    const holder = await findUserByAddress(tx, address);
    if (!redeemed) return untold(null);
    if (holder?.isSuspended) return untold(suspended);
    const { setterScopes } = redeemed;
    if (holder) {
      if (!(await mayProve(tx, throughAll(found, setterScopes), holder.id))) return untold(null);
      return authenticate(tx, context, found, {
        userId: holder.id,
        identifier: address.recipient,
        methods: ['otp'],
        event: 'SIGN_IN',
        through: setterScopes,
        proved: address,
      });
    }
    if (!settings.signUpEnabled) return untold(null);
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
    const named = { event: 'REGISTER' as const, identifier: redeemed.email };
    return untold(await updateInteraction(tx, found, named));
  };
  return tryGuess(context, settings, guess, () => changeInteraction(context, access, redeem));
}
