import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { purgedName } from './log.ts';

// As long as it takes: nothing is served before.
const timeoutMs = 60 * 60 * 1000;

/**
 * Makes a log readable that was restored from a dump. Its events were written by transactions of another cluster, and
 * where that one had counted further they lie in the future here: no reader would come to them, and consumers that
 * stand behind them would not see what is written from now on.
 *
 * All of it is written anew, in its order, by one transaction of this cluster. Consumers keep their place. Cursors that
 * clients hold are from the other cluster and mean nothing here: from now on they have expired.
 */
export async function adoptRestoredLog(
  { prisma }: Pick<Database, 'prisma'>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const events = await prisma.$transaction(
    async (tx) => {
      // Nodes that start together take turns, however long one of them takes.
      await tx.$executeRaw`SET LOCAL lock_timeout = 0`;
      if (!(await isOfAnotherCluster(tx))) return undefined;
      await tx.$executeRaw`LOCK TABLE "EventConsumer", "Event" IN ACCESS EXCLUSIVE MODE`;
      if (!(await isOfAnotherCluster(tx))) return undefined;
      const [row] = await tx.$queryRaw<{ base: bigint; events: bigint }[]>`
        SELECT greatest(nextval(pg_get_serial_sequence('"Event"', 'position')), max("position")) AS "base",
               count(*) AS "events"
          FROM "Event"`;
      const { base = 0n, events = 0n } = row ?? {};
      await tx.$executeRaw`
        UPDATE "EventConsumer" c
           SET "xid" = pg_current_xact_id(),
               "position" = ${base}::bigint
                 + (SELECT count(*) FROM "Event" e WHERE (e."xid", e."position") <= (c."xid", c."position"))`;
      await tx.$executeRaw`
        UPDATE "Event" e SET "xid" = pg_current_xact_id(), "position" = ${base}::bigint + o."place"
          FROM (SELECT "id", row_number() OVER (ORDER BY "xid", "position") AS "place" FROM "Event") o
         WHERE o."id" = e."id"`;
      await tx.$executeRaw`
        SELECT setval(pg_get_serial_sequence('"Event"', 'position'), ${base + events}::bigint)`;
      await tx.$executeRaw`
        INSERT INTO "EventConsumer" ("name", "xid", "position")
        VALUES (${purgedName}, pg_current_xact_id(), ${base}::bigint)
        ON CONFLICT ("name") DO UPDATE SET "position" = EXCLUDED."position"`;
      // What was still to be fanned out goes to the webhooks that are on now: since just before this transaction, of
      // which its own snapshot would say that it is over where a later one is.
      await tx.$executeRaw`DELETE FROM "WebhookPeriod" WHERE "until" IS NOT NULL`;
      await tx.$executeRaw`
        UPDATE "WebhookPeriod"
           SET "since" = format('%s:%s:', pg_current_xact_id(), pg_current_xact_id())::pg_snapshot`;
      await tx.$executeRaw`UPDATE "Delivery" SET "changedIn" = pg_current_xact_id()`;
      return events;
    },
    { timeout: timeoutMs },
  );
  if (events === undefined) return;
  log.warn(
    { events: Number(events) },
    'the event log was restored from another cluster: cursors from there have expired',
  );
}

async function isOfAnotherCluster(prisma: Pick<PrismaClient, '$queryRaw'>): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ isAhead: boolean | null }[]>`
    SELECT greatest((SELECT "xid" FROM "Event" ORDER BY "Event"."xid" DESC, "position" DESC LIMIT 1),
                    (SELECT max("xid"::text::numeric)::text::xid8 FROM "EventConsumer"))
           >= pg_snapshot_xmax(pg_current_snapshot()) AS "isAhead"`;
  return row?.isAhead ?? false;
}
