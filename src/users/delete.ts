import { lockRow } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { recordEvents } from '../events/record.ts';
import type { User } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { endPersonalAccessTokens } from './credentials.ts';
import { userRecord } from './payload.ts';
import { deleteSessions, endActing } from './sign-out.ts';
import { voidFormer } from './void-codes.ts';

/**
 * Deletes a user, with sessions, role assignments, organization memberships and what was sent to their addresses.
 * Raises `User.Session.Ended` for each session, `Organization.Membership.Updated` for each organization that loses a
 * member, `User.Credential.Updated` for each personal access token that a third party had created in their name,
 * `OrganizationInvitation.Data.Updated` for each invitation of their address, and `User.Deleted`.
 *
 * @returns The user in its last state.
 * @throws {NotFoundError}
 */
export async function deleteUser(context: Context, { id }: { id: string }): Promise<User> {
  return transaction(context.database, (tx) => deleteUserWithin(tx, context, id));
}

/** Like {@link deleteUser}, inside a transaction. */
export async function deleteUserWithin(
  tx: Transaction,
  context: Context,
  id: string,
): Promise<Told<User>> {
  await lockRow(tx, 'User', id);
  // The event reports the rows that were actually deleted: a concurrent removal reports its own.
  const memberships = await tx.$queryRaw<{ organizationId: string }[]>`
      WITH "left" AS (DELETE FROM "OrganizationUser" WHERE "userId" = ${id} RETURNING "organizationId")
      SELECT "organizationId" FROM "left" ORDER BY "organizationId"`;
  await deleteSessions(tx, context, id, 'DELETION');
  await endActing(tx, context, id);
  await endPersonalAccessTokens(tx, context, { grant: { userId: id } });
  await forgetInBrowsers(tx, id);
  const user = await tx.user.delete({ where: { id } });
  await voidFormer(tx, context, user);
  const told = await recordEvents(tx, context, [
    ...memberships.map(({ organizationId }) => ({
      type: 'Organization.Membership.Updated' as const,
      data: {
        organizationId,
        addedUserIds: [],
        removedUserIds: [id],
        addedApplicationIds: [],
        removedApplicationIds: [],
      },
    })),
    { type: 'User.Deleted', data: userRecord(user) },
  ]);
  return told.with(user);
}

/** Clears the interactions in which the user signs in, except what is needed to start again. */
const forgetInBrowsers = (tx: Transaction, userId: string): Promise<unknown> =>
  tx.interaction.updateMany({
    where: { userId, restartUrl: { not: null } },
    data: {
      userId: null,
      identifier: null,
      authenticationMethods: [],
      authenticatedAt: null,
      consentedAt: null,
      hasRegistered: false,
      event: 'SIGN_IN',
    },
  });
