import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';

// A browser that returns late still learns where to begin again.
const keptMs = 24 * 60 * 60 * 1000;
const batchSize = 1_000;

/**
 * Deletes interactions that ended a day ago, with their verifications, and federations that have expired.
 *
 * @returns Whether there may be more.
 */
export async function purgeInteractions(
  { clock }: Pick<Services, 'clock'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - keptMs);
  const deleted = await tx.$executeRaw`
    DELETE FROM "Interaction" WHERE "id" = ANY (ARRAY(
      SELECT "id" FROM "Interaction" WHERE "expiresAt" <= ${before}::timestamptz LIMIT ${batchSize}))`;
  // Those of accounts have no interaction to go with.
  const expired = await tx.$executeRaw`
    DELETE FROM "Federation" WHERE "digest" = ANY (ARRAY(
      SELECT "digest" FROM "Federation" WHERE "expiresAt" <= ${clock.now()}::timestamptz LIMIT ${batchSize}))`;
  return deleted === batchSize || expired === batchSize;
}
