import { runSql } from '../../db/sql.ts';
import { hintAfterCommit, sqlOf, transaction } from '../../db/transaction.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { derivedDeliveryId } from './id.ts';

/** The name of the consumer whose position says how far deliveries have been made. */
export const webhookConsumer = 'webhooks';

// A batch is one statement in a transaction with a time limit.
const maxEvents = 500;
const maxDeliveries = 20_000;

/** Registers the consumer at the current end of the log, unless it is registered already. */
export async function registerConsumer(prisma: PrismaClient): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    VALUES (${webhookConsumer}, pg_snapshot_xmin(pg_current_snapshot()), 0)
    ON CONFLICT ("name") DO NOTHING`;
}

/**
 * Makes the deliveries of the next settled events: one for each webhook that was enabled and took the type when the
 * event was committed. One node does so at a time; for the others it returns nothing.
 *
 * @returns The webhooks that got deliveries, and whether there may be more events.
 */
export async function fanOut({
  database,
  clock,
}: Pick<Services, 'database' | 'clock'>): Promise<{ webhookIds: string[]; hasMore: boolean }> {
  return transaction(database, async (tx) => {
    // No commit waits for the disk. If a crash of the database loses deliveries, it also loses the position, so they
    // are made again.
    const sql = sqlOf(tx);
    const hold = Prisma.sql`
      SELECT "xid"::text AS "xid", "position"::text AS "position", (SELECT count(*)::int FROM "WebhookPeriod") AS "periods",
             set_config('synchronous_commit', 'off', true) AS "commit"
        FROM "EventConsumer"
       WHERE "name" = ${webhookConsumer} FOR UPDATE SKIP LOCKED`;
    const [cursor] = await runSql<{ xid: string; position: string; periods: number }>(sql, hold);
    if (!cursor) return { webhookIds: [], hasMore: false };
    const now = clock.now();
    const share = Math.floor(maxDeliveries / Math.max(1, cursor.periods));
    const batchSize = Math.min(Math.max(1, share), maxEvents);
    // If the same event were ever read twice, its deliveries would have the same ids.
    const make = Prisma.sql`
      WITH "batch" AS MATERIALIZED (
        SELECT "xid", "position", "id", "type" FROM "Event"
         WHERE ("xid", "position") > (${cursor.xid}::xid8, ${cursor.position}::bigint)
           AND "xid" < (SELECT "signet_settled_xid"())
         ORDER BY "xid", "position" LIMIT ${batchSize}
      ), "moved" AS (
        UPDATE "EventConsumer" SET ("xid", "position") = (
            SELECT "xid", "position" FROM "batch" ORDER BY "xid" DESC, "position" DESC LIMIT 1)
         WHERE "name" = ${webhookConsumer} AND EXISTS (SELECT 1 FROM "batch")
      ), "made" AS (
        INSERT INTO "Delivery"
               ("id", "webhookId", "eventId", "eventType", "nextAttemptAt", "createdAt", "updatedAt")
        SELECT ${derivedDeliveryId(Prisma.sql`e."id"`, Prisma.sql`e."id" || p."webhookId"`)},
               p."webhookId", e."id", e."type", ${now}, ${now}, ${now}
          FROM "batch" e
          JOIN "WebhookPeriod" p
            ON (p."events" = '{}' OR e."type" = ANY(p."events"))
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
    return {
      webhookIds: made?.webhookIds ?? [],
      hasMore: made?.events === batchSize,
    };
  });
}
