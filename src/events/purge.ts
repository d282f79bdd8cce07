import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';
import { purgedName } from './log.ts';

// Small, because no reader of the log gets past an open transaction.
const batchSize = 2_000;
const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Deletes a batch of expired events, oldest first, and saves the position reached. Events that a consumer has not read
 * yet or that have pending deliveries stay, however old they are.
 *
 * @returns Whether there may be more.
 */
export async function purgeEvents(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - config.eventRetentionDays * dayMs);
  const count = await tx.$executeRaw`
    WITH "old" AS (
      SELECT "position" FROM "Event" AS e
       WHERE "occurredAt" < ${before}
         AND "xid" < (SELECT "signet_settled_xid"())
         AND NOT EXISTS (SELECT 1 FROM "EventConsumer" AS c
                          WHERE c."name" <> ${purgedName}
                            AND (c."xid", c."position") < (e."xid", e."position"))
         AND NOT EXISTS (SELECT 1 FROM "Delivery" AS d
                          WHERE d."eventId" = e."id" AND d."status" = 'PENDING')
       ORDER BY "xid", "position"
       LIMIT ${batchSize}),
    "deleted" AS (
      DELETE FROM "Event" WHERE "position" IN (SELECT "position" FROM "old")
      RETURNING "xid", "position")
    INSERT INTO "EventConsumer" AS c ("name", "xid", "position")
    SELECT ${purgedName}, "xid", "position" FROM "deleted" ORDER BY "xid" DESC, "position" DESC LIMIT 1
    ON CONFLICT ("name") DO UPDATE SET "xid" = EXCLUDED."xid", "position" = EXCLUDED."position"
     WHERE (c."xid", c."position") < (EXCLUDED."xid", EXCLUDED."position")`;
  return count > 0;
}
