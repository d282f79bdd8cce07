import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { repeat } from '../scheduler.ts';
import type { Services } from '../services.ts';
import { purgedNames } from './consumers.ts';
import { startOf } from './parts/ranges.ts';

// Long enough for any log: the service starts only after this.
const timeoutMs = 60 * 60 * 1000;

/**
 * Makes a log readable after a restore from a dump. Its events carry transaction ids of another cluster. Ids above the
 * current one of this cluster would never settle, and consumers positioned there would miss the events written now.
 *
 * One transaction of this cluster renumbers all events in their order and moves the consumers along; what nodes that kept
 * running have written here since comes last. The cursors that clients hold mean nothing in this cluster; they count as
 * expired.
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
      // What was being made of some parts holds places of before.
      const rests = await tx.$queryRaw<{ table: string }[]>`
        SELECT "relname" AS "table" FROM pg_class
         WHERE "relname" ~ '^Event_[0-9]+_rest$' AND "relkind" = 'r' AND NOT "relispartition"`;
      for (const { table } of rests) await tx.$executeRawUnsafe(`DROP TABLE "${table}"`);
      // Each event keeps its part, or goes to the next one with those that come before it in the log's order. Its new
      // position is above all that the part had.
      await tx.$executeRaw`
        CREATE TEMPORARY TABLE "Renumbered" ON COMMIT DROP AS
        SELECT e."xid", e."position", ${isOfHere('e')} AS "isOfHere",
               max(greatest(e."position", 0) / ${startOf(1)}::bigint) OVER w * ${startOf(1)}::bigint
                 + (SELECT max("position" % ${startOf(1)}::bigint) FROM "Event") + row_number() OVER w AS "to"
          FROM "Event" e WINDOW w AS (ORDER BY ${isOfHere('e')}, e."xid", e."position")`;
      await tx.$executeRaw`CREATE INDEX ON "Renumbered" ("isOfHere", "xid", "position")`;
      await tx.$executeRaw`ANALYZE "Renumbered"`;
      const [row] = await tx.$queryRaw<{ base: bigint; last: bigint; events: bigint }[]>`
        SELECT coalesce(min("to") - 1, 0) AS "base", coalesce(max("to"), 0) AS "last", count(*) AS "events"
          FROM "Renumbered"`;
      const { base = 0n, last = 0n, events = 0n } = row ?? {};
      await tx.$executeRaw`
        UPDATE "EventConsumer" c
           SET "xid" = pg_current_xact_id(),
               "position" = coalesce((
                 SELECT r."to" FROM "Renumbered" r WHERE (r."isOfHere", r."xid", r."position") <= (${isOfHere('c')}, c."xid", c."position")
                  ORDER BY r."isOfHere" DESC, r."xid" DESC, r."position" DESC LIMIT 1), ${base}::bigint)`;
      await tx.$executeRaw`
        UPDATE "Event" e SET "xid" = pg_current_xact_id(), "position" = r."to"
          FROM "Renumbered" r WHERE r."position" = e."position"`;
      await tx.$executeRaw`UPDATE "EventPart" SET "xid" = pg_current_xact_id()`;
      await tx.$executeRaw`
        SELECT setval("name"::regclass, greatest(nextval("name"::regclass), ${last}::bigint))
          FROM pg_get_serial_sequence('"Event"', 'position') AS s ("name")`;
      await tx.$executeRaw`
        INSERT INTO "EventConsumer" ("name", "xid", "position")
        SELECT "name", pg_current_xact_id(), ${base}::bigint FROM unnest(${[...purgedNames]}::text[]) AS n("name")
        ON CONFLICT ("name") DO UPDATE SET "position" = EXCLUDED."position", "eventId" = NULL`;
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

/** Whether a row was written in this cluster. */
const isOfHere = (table: 'e' | 'c') =>
  Prisma.sql`(${Prisma.raw(`"${table}"`)}."xid" < pg_snapshot_xmax(pg_current_snapshot()))`;

const followMs = 10_000;

/**
 * Adopts a log that is restored while this node runs, as {@link adoptRestoredLog} does at the start.
 *
 * @returns A function that stops it; it resolves when nothing is running.
 */
export function followRestores({
  database,
  log,
}: Pick<Services, 'database' | 'log'>): () => Promise<void> {
  // Nobody restores an embedded database beneath the process that has it open.
  if (database.kind === 'embedded') return async () => undefined;
  return repeat(
    followMs,
    async () => {
      if (await isOfAnotherCluster(database.prisma)) await adoptRestoredLog(database, log);
    },
    // Whoever uses the database says that it is away.
    (error) => log.debug({ err: error }, 'whether the log was restored could not be read'),
  );
}

async function isOfAnotherCluster(prisma: Pick<PrismaClient, '$queryRaw'>): Promise<boolean> {
  const [row] = await prisma.$queryRaw<{ isAhead: boolean | null }[]>`
    SELECT greatest((SELECT "xid" FROM "Event" ORDER BY "Event"."xid" DESC, "position" DESC LIMIT 1),
                    (SELECT max("xid"::text::numeric)::text::xid8 FROM "EventConsumer"))
           >= pg_snapshot_xmax(pg_current_snapshot()) AS "isAhead"`;
  return row?.isAhead ?? false;
}
