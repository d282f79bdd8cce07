import { z } from 'zod';
import { refuseConflict } from '../../db/conflict.ts';
import { VerificationFailedError } from '../../errors.ts';
import type { Address } from '../../experience/codes.ts';
import type { User } from '../../generated/prisma/client.ts';
import { parseInput } from '../../input.ts';
import type { ViewerContext } from '../../services.ts';
import { userConflicts, username } from '../../users/fields.ts';
import { writeUser } from '../../users/operations.ts';
import { tellViewer } from './notice.ts';
import { changeProved, proofTtlSeconds } from './proof.ts';

const usernameInput = z.object({ username });

/**
 * Changes the own user name. Raises `User.Data.Updated` if it is another.
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
      const after = await writeUser(tx, context, before, patch);
      if (after !== before && before.username !== null)
        await tellViewer(tx, context, before, { template: 'USERNAME_CHANGED' });
      return after;
    }),
  );
}

/** A verified address. */
export interface NewAddress {
  /** The id that `sendViewerCode` returned; the code has been verified. */
  readonly verificationId: string;
}

/**
 * Makes a verified e-mail address that of the account. Raises `User.Data.Updated`. Tells the person at the address that
 * was there before. That somebody else has the address appears only now, to one who has shown to hold it.
 *
 * @throws {VerificationFailedError} if the address was not verified in this session, or too long ago;
 *   {@link ConflictError} {@link VerificationRequiredError}
 */
export const updateViewerEmail = (context: ViewerContext, input: NewAddress): Promise<User> =>
  takeAddress(context, 'EMAIL', input);

/**
 * Makes a verified telephone number that of the account, as {@link updateViewerEmail} does with an e-mail address.
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
      const since = new Date(context.clock.now().getTime() - proofTtlSeconds * 1000);
      const [verified] = await tx.viewerCode.findMany({
        where: { id: verificationId, userId, session, type, verifiedAt: { gt: since } },
      });
      if (!verified) throw new VerificationFailedError();
      await tx.viewerCode.delete({ where: { id: verified.id } });
      const after = await writeUser(tx, context, before, patches[type](verified.recipient));
      const template = type === 'EMAIL' ? 'EMAIL_CHANGED' : 'PHONE_CHANGED';
      if (after !== before) {
        await tellViewer(tx, context, before, {
          template,
          first: type === 'EMAIL' ? 'EMAIL' : 'SMS',
        });
      }
      return after;
    }),
  );
}
