import { z } from 'zod';
import { mayProve } from '../../auth/granting/prove.ts';
import { refuseConflict } from '../../db/conflict.ts';
import { VerificationFailedError } from '../../errors.ts';
import type { User } from '../../generated/prisma/client.ts';
import { parseInput } from '../../input.ts';
import type { Address } from '../../proving/codes.ts';
import type { ViewerContext } from '../../services.ts';
import { userConflicts, username } from '../../users/fields.ts';
import { writeUser } from '../../users/operations.ts';
import { tellViewer } from './notice.ts';
import { changeProved } from './proof.ts';

const usernameInput = z.object({ username });

/**
 * Changes the person's user name. Raises `User.Data.Updated` if it is another.
 *
 * @throws {InvalidInputError} {@link ConflictError} {@link VerificationRequiredError}
 */
export async function updateViewerUsername(
  context: ViewerContext,
  input: z.input<typeof usernameInput>,
): Promise<User> {
  const patch = parseInput(usernameInput, input);
  return refuseConflict(userConflicts, () =>
    changeProved(context, async (tx, before) => {
      const told = await writeUser(tx, context, before, patch);
      if (told.result !== before && before.username !== null)
        await tellViewer(tx, context, before, { template: 'USERNAME_CHANGED' });
      return told;
    }),
  );
}

/** A verified address. */
export interface NewAddress {
  /** The id that `sendViewerCode` returned; the code has been verified. */
  readonly verificationId: string;
}

/**
 * Replaces the account's e-mail address with a verified one, and notifies the old address. Raises `User.Data.Updated`,
 * and `OrganizationInvitation.Data.Updated` for each invitation of the old address. Only now, with the address verified,
 * may the person learn that another account has it.
 *
 * @throws {VerificationFailedError} if the address was not verified in this session, or its code has expired;
 *   {@link ConflictError} {@link VerificationRequiredError}
 */
export const updateViewerEmail = (context: ViewerContext, input: NewAddress): Promise<User> =>
  takeAddress(context, 'EMAIL', input);

/**
 * Replaces the account's telephone number with a verified one, and notifies the person. Otherwise like
 * {@link updateViewerEmail}.
 *
 * @throws {VerificationFailedError} {@link ConflictError} {@link VerificationRequiredError}
 */
export const updateViewerPhone = (context: ViewerContext, input: NewAddress): Promise<User> =>
  takeAddress(context, 'PHONE', input);

const patches = {
  EMAIL: (recipient: string) => ({ primaryEmail: recipient, isEmailVerified: true }),
  PHONE: (recipient: string) => ({ primaryPhone: recipient, isPhoneVerified: true }),
} as const;

async function takeAddress(
  context: ViewerContext,
  type: Address['type'],
  { verificationId }: NewAddress,
): Promise<User> {
  const { userId, session } = context.viewer;
  return refuseConflict(userConflicts, () =>
    changeProved(context, async (tx, before) => {
      const alive = { verifiedAt: { not: null }, expiresAt: { gt: context.clock.now() } };
      const verified = await tx.verification.findUnique({
        where: { id: verificationId, userId, session, type, ...alive },
      });
      // If the sender may not vouch for this person, the right code was already answered like a wrong one.
      if (!verified || !(await mayProve(tx, verified.setterScopes, userId)))
        throw new VerificationFailedError();
      // Who had the address may be giving it up: that voids what was sent to it.
      const { count } = await tx.verification.deleteMany({ where: { id: verified.id } });
      if (count === 0) throw new VerificationFailedError();
      const told = await writeUser(tx, context, before, patches[type](verified.recipient));
      const template = type === 'EMAIL' ? 'EMAIL_CHANGED' : 'PHONE_CHANGED';
      if (told.result !== before) {
        await tellViewer(tx, context, before, {
          template,
          first: type === 'EMAIL' ? 'EMAIL' : 'SMS',
        });
      }
      return told;
    }),
  );
}
