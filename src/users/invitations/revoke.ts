import { folded } from '../../db/sql.ts';
import type { Transaction } from '../../db/transaction.ts';
import { recordChange } from '../../events/record.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { foldCase } from '../../input.ts';
import type { Context } from '../../services.ts';
import { invitations, withRoles } from './payload.ts';

/**
 * Revokes the pending invitations of addresses that an account gives up: they were meant for who had the address then.
 * Raises `OrganizationInvitation.Data.Updated` for each.
 */
export async function revokeInvitations(
  tx: Transaction,
  context: Context,
  addresses: readonly string[],
): Promise<void> {
  const pending = await tx.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "OrganizationInvitation"
     WHERE ${folded(Prisma.sql`"invitee"`)} = ANY (${addresses.map(foldCase)}::text[])
       AND "status" = 'PENDING' AND "expiresAt" > ${context.clock.now()}::timestamptz
     ORDER BY "id" FOR UPDATE`;
  for (const { id } of pending) {
    const before = await tx.organizationInvitation.findUniqueOrThrow({
      where: { id },
      include: withRoles,
    });
    await recordChange(tx, context, invitations, before, { status: 'REVOKED' });
  }
}
