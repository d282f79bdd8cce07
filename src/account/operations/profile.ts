import { z } from 'zod';
import type { User } from '../../generated/prisma/client.ts';
import { name, parseInput, webUrl } from '../../input.ts';
import type { ViewerContext } from '../../services.ts';
import { deleteUserWithin } from '../../users/delete.ts';
import { userProfile } from '../../users/fields.ts';
import { merge, writeUser } from '../../users/operations.ts';
import { tellViewer } from './notice.ts';
import { changeProved } from './proof.ts';
import { changeViewer } from './viewer.ts';

const input = z.object({
  name: name().nullish(),
  avatar: webUrl.nullish(),
  profile: userProfile.nullish(),
});

/** A change of what others see of a person. An absent field stays; null clears it. The profile is merged. */
export type UpdateViewerInput = z.input<typeof input>;

/**
 * Changes the person's name, picture and profile. The profile merges at the first level. Raises `User.Data.Updated` if
 * something changed.
 *
 * @throws {InvalidInputError}
 */
export async function updateViewer(
  context: ViewerContext,
  given: UpdateViewerInput,
): Promise<User> {
  const { profile, ...patch } = parseInput(input, given);
  return changeViewer(context, (tx, before) =>
    writeUser(tx, context, before, {
      ...(patch as Partial<User>),
      ...(profile === undefined
        ? {}
        : { profile: profile === null ? {} : merge(before.profile, profile) }),
    }),
  );
}

/**
 * Deletes the person's account, as `deleteUser` does. Raises the same events.
 *
 * @returns The user in its last state.
 * @throws {VerificationRequiredError}
 */
export async function deleteViewer(context: ViewerContext): Promise<User> {
  return changeProved(context, async (tx, before) => {
    await tellViewer(tx, context, before, { template: 'ACCOUNT_DELETED' });
    return deleteUserWithin(tx, context, before.id);
  });
}
