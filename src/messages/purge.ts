import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';

const batchSize = 1_000;
// Long enough to find out why a message did not arrive; addresses are not kept longer.
const retentionMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * Deletes a batch of messages that ended a week ago.
 *
 * @returns Whether there may be more.
 */
export async function purgeMessages(
  { clock }: Pick<Services, 'clock'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - retentionMs);
  const count = await tx.$executeRaw`
    DELETE FROM "Message" WHERE "id" IN (
      SELECT "id" FROM "Message"
       WHERE "createdAt" < ${before}::timestamptz AND "nextAttemptAt" IS NULL
       ORDER BY "createdAt" LIMIT ${batchSize})`;
  return count === batchSize;
}
