import { folded } from '../db/sql.ts';
import type { Transaction } from '../db/transaction.ts';
import { Prisma, type User } from '../generated/prisma/client.ts';

/**
 * Voids what was sent to a user's addresses before their password changed: codes and verifications in all interactions
 * and at the account, verified ones too, and one-time tokens. Whoever read the messages then may not be the owner.
 *
 * Call it with the user locked. Whoever uses one of these locks the user first, so that neither waits for the other.
 */
export async function voidCodes(
  tx: Transaction,
  { id: userId, primaryEmail, primaryPhone }: User,
): Promise<void> {
  const addresses = [primaryEmail, primaryPhone].filter((address) => address !== null);
  await tx.$executeRaw`
    DELETE FROM "Verification"
     WHERE "userId" = ${userId}
        OR "interactionId" IS NOT NULL
           AND ${folded(Prisma.sql`"recipient"`)} = ANY (ARRAY(SELECT ${folded(Prisma.sql`a`)} FROM unnest(${addresses}::text[]) a))`;
  // Those of nodes of the version before.
  await tx.viewerCode.deleteMany({ where: { userId } });
  await tx.$executeRaw`
    DELETE FROM "OneTimeToken" WHERE ${folded(Prisma.sql`"email"`)} = ${folded(Prisma.sql`${primaryEmail}::text`)}`;
}

const addressFields = { EMAIL: 'primaryEmail', PHONE: 'primaryPhone' } as const;

/**
 * Voids the codes that a user asked for at the account, of each kind of address that changes, verified ones too: they
 * would replace the address that the account had then, and not the one that an administrator has set since.
 *
 * Call it with the user locked.
 */
export async function voidOvertaken(
  tx: Transaction,
  before: User,
  patch: Partial<User>,
): Promise<void> {
  const changed = (['EMAIL', 'PHONE'] as const).filter((type) => {
    const field = addressFields[type];
    return patch[field] !== undefined && patch[field] !== before[field];
  });
  if (changed.length === 0) return;
  await tx.verification.deleteMany({ where: { userId: before.id, type: { in: changed } } });
}
