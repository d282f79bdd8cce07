import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { purgedName } from './log.ts';

// Long enough for any log: the service starts only after this.
const timeoutMs = 60 * 60 * 1000;

/**
 * Makes a log readable after a restore from a dump. Its events carry transaction ids of another cluster. Ids above the
 * current one of this cluster would never settle, and consumers positioned there would miss the events written now.
 *
 * One transaction of this cluster renumbers all events in their order and moves the consumers along. The cursors that
 * clients hold mean nothing in this cluster; they count as expired.
 */
export async function adoptRestoredLog(
  { prisma }: Pick<Database, 'prisma'>,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const events = await prisma.$transaction(
    async (tx) => {
      // Nodes that start together wait for each other, without a limit.
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
      // The events that are not fanned out yet go to the webhooks that are enabled now. Their period begins just before
      // this transaction. The transaction's own snapshot would not do: it counts this transaction as over if a later
      // one is.
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
