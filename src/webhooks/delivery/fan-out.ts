import { runSql } from '../../db/sql.ts';
import { hintAfterCommit, quietTransaction, sqlOf } from '../../db/transaction.ts';
import { holdConsumer, moveOver, moveToEndOfBatch, nextSettled } from '../../events/consumers.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { derivedDeliveryId } from './id.ts';

/** The name of the consumer whose position says how far deliveries have been made. */
export const webhookConsumer = 'webhooks';

// A batch is one statement in a transaction with a time limit.
const maxEvents = 500;
const maxDeliveries = 20_000;

/**
 * Makes the deliveries of the next settled events: one for each webhook that was enabled and took the type when the
 * event was committed. No webhook is told of itself: an endpoint that answered by changing its webhook would never come
 * to rest. One node does so at a time; for the others it returns nothing.
 *
 * @returns The webhooks that got deliveries, whether there may be more events, and whether any webhook may want them.
 */
export async function fanOut({ database, clock }: Pick<Services, 'database' | 'clock'>): Promise<{
  webhookIds: string[];
  hasMore: boolean;
  isWanted: boolean;
}> {
  return quietTransaction(database, async (tx) => {
    // No commit waits for the disk. If a crash of the database loses deliveries, it also loses the position, so they
    // are made again.
    const sql = sqlOf(tx);
    const also = Prisma.sql`(SELECT count(*)::int FROM "WebhookPeriod") AS "periods",
      EXISTS (SELECT 1 FROM "WebhookPeriod" WHERE "events" = '{}') AS "takesAll",
      set_config('synchronous_commit', 'off', true) AS "commit"`;
    const held = await holdConsumer<{ periods: number; takesAll: boolean }>(
      sql,
      webhookConsumer,
      also,
    );
    if (!held) return { webhookIds: [], hasMore: false, isWanted: true };
    const now = clock.now();
    const share = Math.floor(maxDeliveries / Math.max(1, held.periods));
    const batchSize = Math.min(Math.max(1, share), maxEvents);
    // If the same event were ever read twice, its deliveries would have the same ids.
    const make = Prisma.sql`
      WITH "batch" AS MATERIALIZED (
        ${nextSettled(held, batchSize)}
      ), "moved" AS (
        ${moveToEndOfBatch(webhookConsumer)}
      ), "made" AS (
        INSERT INTO "Delivery"
               ("id", "webhookId", "eventId", "eventType", "nextAttemptAt", "createdAt", "updatedAt")
        SELECT ${derivedDeliveryId(Prisma.sql`e."id"`, Prisma.sql`e."id" || p."webhookId"`)},
               p."webhookId", e."id", e."type", ${now}, ${now}, ${now}
          FROM "batch" e
          JOIN "WebhookPeriod" p
            ON (p."events" = '{}' OR e."type" = ANY(p."events"))
           AND e."subjectId" IS DISTINCT FROM p."webhookId"
           AND NOT pg_visible_in_snapshot(e."xid", p."since")
           AND (p."until" IS NULL OR pg_visible_in_snapshot(e."xid", p."until"))
         ORDER BY e."xid", e."position"
        ON CONFLICT ("id") DO NOTHING
        RETURNING "webhookId"
      )
      SELECT (SELECT count(*)::int FROM "batch") AS "events",
             (SELECT array_agg(DISTINCT "webhookId") FROM "made") AS "webhookIds"`;
    const [made] = await runSql<{ events: number; webhookIds: string[] | null }>(sql, make);
    // This node's dispatcher is told which webhooks; those of other nodes look at all.
    if (made?.webhookIds) hintAfterCommit(tx, 'queues');
    // Nobody wanted these: the next that somebody may want can be far.
    else if (made?.events === batchSize && !held.takesAll) {
      const types = Prisma.sql`SELECT DISTINCT unnest("events") FROM "WebhookPeriod"`;
      await runSql(sql, moveOver(webhookConsumer, held, types));
    }
    return {
      webhookIds: made?.webhookIds ?? [],
      hasMore: made?.events === batchSize,
      isWanted: held.periods > 0,
    };
  });
}
