import { deleteWithin } from '../../applications/operations.ts';
import { tryLockName } from '../../db/lock.ts';
import { sqlOf, type Transaction } from '../../db/transaction.ts';
import { bySignet } from '../../events/record.ts';
import type { Services } from '../../services.ts';

const unusedMs = 30 * 24 * 60 * 60 * 1000;
const batch = 100;

/**
 * An application that nobody has allowed anything, that no administrator has given anything, and that has not shown
 * itself since a moment.
 */
const isUnused = `
  "createdAt" <= $1::timestamptz
  AND ("origin" = 'DYNAMIC_REGISTRATION' OR "origin" = 'METADATA_DOCUMENT' AND NOT EXISTS (
        SELECT 1 FROM "MetadataDocument" d WHERE d."applicationId" = "Application"."id" AND d."readAt" > $1::timestamptz))
  AND NOT EXISTS (SELECT 1 FROM "UserGrant" g WHERE g."applicationId" = "Application"."id")
  AND NOT EXISTS (SELECT 1 FROM "TrustedIssuer" t WHERE t."applicationId" = "Application"."id")
  AND NOT EXISTS (SELECT 1 FROM "OrganizationApplication" o WHERE o."applicationId" = "Application"."id")`;

const dueStatement = `SELECT "id" FROM "Application" WHERE ${isUnused} ORDER BY "id" LIMIT ${batch}`;
const lockStatement = 'SELECT 1 FROM "Application" WHERE "id" = $1 FOR UPDATE SKIP LOCKED';
const stillStatement = `SELECT 1 FROM "Application" WHERE ${isUnused} AND "id" = $2`;

/**
 * Deletes applications that nobody has set up here, and that nobody has allowed or given anything: those that registered
 * themselves 30 days ago, and those whose metadata document was last read then. What is in use at this moment is left
 * for the next time.
 */
export async function purgeUnused(
  tx: Transaction,
  services: Pick<Services, 'clock'>,
): Promise<boolean> {
  const sql = sqlOf(tx);
  const line = new Date(services.clock.now().getTime() - unusedMs).toISOString();
  const due = await sql.query<{ id: string }>('unused-applications', dueStatement, [line]);
  let deleted = 0;
  for (const { id } of due) {
    if (!(await isFree(tx, id))) continue;
    // A consent may have come since it was chosen. From here on none can, nor the rest: its row refers to the locked one.
    const [still] = await sql.query('still-unused-application', stillStatement, [line, id]);
    if (!still) continue;
    await deleteWithin(tx, { ...services, ...bySignet }, id);
    deleted += 1;
  }
  return deleted > 0 && due.length === batch;
}

/** Locks an application as `lockRow` does, unless somebody changes it now, or is about to allow it something. */
async function isFree(tx: Transaction, id: string): Promise<boolean> {
  if (!(await tryLockName(tx, id))) return false;
  return (await sqlOf(tx).query('lock-unused-application', lockStatement, [id])).length > 0;
}
