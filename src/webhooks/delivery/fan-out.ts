import { hintAfterCommit, transaction } from '../../db/transaction.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';

/** The name under which the log remembers how far deliveries have been made. */
export const webhookConsumer = 'webhooks';

// A batch is one statement, in a transaction that has a bound.
const maxEvents = 500;
const maxDeliveries = 20_000;

/** Begins to read the log where it ends now, unless an earlier start has begun. */
export async function registerConsumer(prisma: PrismaClient): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    VALUES (${webhookConsumer}, pg_snapshot_xmin(pg_current_snapshot()), 0)
    ON CONFLICT ("name") DO NOTHING`;
}

/**
 * Makes the deliveries of the next events in the log that are settled: one for each webhook that was on, and took
 * that type, when the event was committed. One node does so at a time; the others come back with nothing.
 *
 * @returns The webhooks that got deliveries, and whether there may be more events.
 */
export async function fanOut({
  database,
  clock,
}: Pick<Services, 'database' | 'clock'>): Promise<{ webhookIds: string[]; hasMore: boolean }> {
  return transaction(database, async (tx) => {
    // A crash of the database that forgets deliveries forgets as well that they were made: no commit waits for the disk.
    const [cursor] = await tx.$queryRaw<{ xid: string; position: bigint; periods: bigint }[]>`
      SELECT "xid"::text AS "xid", "position", (SELECT count(*) FROM "WebhookPeriod") AS "periods",
             set_config('synchronous_commit', 'off', true) AS "commit"
        FROM "EventConsumer"
       WHERE "name" = ${webhookConsumer} FOR UPDATE SKIP LOCKED`;
    if (!cursor) return { webhookIds: [], hasMore: false };
    const now = clock.now();
    const share = Math.floor(maxDeliveries / Math.max(1, Number(cursor.periods)));
    const batchSize = Math.min(Math.max(1, share), maxEvents);
    // The delivery's id is a UUIDv7 of the event's millisecond and of a hash over event and webhook: made by the
    // statement itself, and the same if ever the same event were read twice.
    const [made] = await tx.$queryRaw<{ events: number; webhookIds: string[] | null }[]>`
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
        SELECT 'dlv_' || substr(e."id", 5, 10) || 'e' || substr(h."hash", 1, 2) || '8' || substr(h."hash", 3, 12),
               p."webhookId", e."id", e."type", ${now}, ${now}, ${now}
          FROM "batch" e
          JOIN "WebhookPeriod" p
            ON (p."events" = '{}' OR e."type" = ANY(p."events"))
           AND NOT pg_visible_in_snapshot(e."xid", p."since")
           AND (p."until" IS NULL OR pg_visible_in_snapshot(e."xid", p."until"))
         CROSS JOIN LATERAL (SELECT md5(e."id" || p."webhookId") AS "hash") h
         ORDER BY e."xid", e."position"
        ON CONFLICT ("id") DO NOTHING
        RETURNING "webhookId"
      )
      SELECT (SELECT count(*)::int FROM "batch") AS "events",
             (SELECT array_agg(DISTINCT "webhookId") FROM "made") AS "webhookIds"`;
    // This node's dispatcher is told which webhooks; those of other nodes look at all.
    if (made?.webhookIds) hintAfterCommit(tx, 'queues');
    return {
      webhookIds: made?.webhookIds ?? [],
      hasMore: made?.events === batchSize,
    };
  });
}
