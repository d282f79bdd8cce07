import { folded } from '../../db/sql.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type NewEvent, recordEvents } from '../../events/record.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { foldCase } from '../../input.ts';
import type { Context } from '../../services.ts';
import { invitationRecord, withRoles } from './payload.ts';

/** How many invitations are written at once: an address may have been invited by thousands of organizations. */
const batchSize = 1_000;

/**
 * Revokes the pending invitations of addresses that an account gives up: they were meant for who had the address then.
 * Raises `OrganizationInvitation.Data.Updated` for each.
 */
export async function revokeInvitations(
  tx: Transaction,
  context: Context,
  addresses: readonly string[],
): Promise<void> {
  const written = { status: 'REVOKED', updatedAt: context.clock.now() } as const;
  for (;;) {
    const pending = await tx.$queryRaw<{ id: string }[]>`
      SELECT "id" FROM "OrganizationInvitation"
       WHERE ${folded(Prisma.sql`"invitee"`)} = ANY (${addresses.map(foldCase)}::text[])
         AND "status" = 'PENDING' AND "expiresAt" > ${written.updatedAt}::timestamptz
       ORDER BY "id" LIMIT ${batchSize} FOR UPDATE`;
    if (pending.length === 0) return;
    const where = { id: { in: pending.map(({ id }) => id) } };
    const invitations = await tx.organizationInvitation.findMany({
      where,
      orderBy: { id: 'asc' },
      include: withRoles,
    });
    await tx.organizationInvitation.updateMany({ where, data: written });
    await recordEvents(
      tx,
      context,
      invitations.map((before): NewEvent => {
        const after = invitationRecord({ ...before, ...written });
        const changes = { status: { from: before.status, to: written.status } };
        return { type: 'OrganizationInvitation.Data.Updated', data: { ...after, changes } };
      }),
    );
  }
}
