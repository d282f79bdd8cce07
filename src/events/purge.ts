import { createPurge, type Purge, purgeAll, purgeBatchSize } from '../db/purge.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Jobs, purging } from '../scheduler.ts';
import type { Services } from '../services.ts';
import { auditTypes, ordinaryTypes } from './catalogue/audit.ts';
import type { EventName } from './catalogue/catalogue.ts';
import { isReadByAll, purgedOf, saveConsumer, settledLine } from './consumers.ts';
import { beginParts } from './parts/begin.ts';
import { startOf } from './parts/ranges.ts';
import { retireParts } from './parts/retire.ts';

type Purging = Pick<Services, 'clock' | 'config' | 'log'>;

const dayMs = 24 * 60 * 60 * 1_000;

const isUnneeded = Prisma.sql`
  r."xid" < ${settledLine} AND ${isReadByAll}
  AND NOT EXISTS (SELECT 1 FROM "Delivery" AS d
                   WHERE d."eventId" = r."id" AND d."status" = 'PENDING')`;

// Parts that have ended are dropped whole, a day after their first events were due. What is in them for longer is of a
// small log, whose parts hold more than a day, or was there before the log had parts.
const isLeftToPart = (line: Prisma.Sql) => Prisma.sql`
  (r."occurredAt" > ${line} - interval '25 hours' AND r."position" < (
     SELECT max("number") * ${startOf(1)}::bigint FROM "EventPart"))`;

/** Events that are kept for the same time. */
interface Kept {
  readonly days: number;
  readonly types: readonly EventName[];
  /** The consumer whose position says how far they were deleted. */
  readonly purged: string;
}

/**
 * Deletes expired events, those of the audit and the others each after their own time, oldest first, and saves the
 * positions reached. Parts of the log go whole, the rest row by row. Events that a consumer has not read yet or that
 * have pending deliveries stay, however old they are.
 */
export const purgeEvents = (services: Purging): Purge => {
  const { auditRetentionDays, eventRetentionDays } = services.config;
  return purgeAll([
    retireParts(services),
    purgeKept(services, {
      days: eventRetentionDays,
      types: ordinaryTypes,
      purged: purgedOf.ordinary,
    }),
    purgeKept(services, { days: auditRetentionDays, types: auditTypes, purged: purgedOf.audit }),
  ]);
};

function purgeKept(services: Purging, { days, types, purged }: Kept): Purge {
  const isOfThese = Prisma.sql`r."type" = ANY(${[...types]})`;
  const lastDeleted = Prisma.sql`
    SELECT ${purged}::text, "xid", "position", "id" FROM "deleted" ORDER BY "xid" DESC, "position" DESC LIMIT 1`;
  return createPurge(services, {
    table: 'Event',
    column: 'occurredAt',
    keptMs: days * dayMs,
    // The first of each type: by time alone, this would read every event of the audit that is kept longer. One from a
    // clock that was ahead is not the first.
    oldest: Prisma.sql`
      SELECT min("first"."at")
        FROM unnest(${[...types]}::text[]) AS t("type")
       CROSS JOIN LATERAL (SELECT r."occurredAt" AS "at" FROM "Event" AS r
                            WHERE r."type" = t."type" AND r."occurredAt" <= n."now" AND ${isUnneeded}
                              AND NOT ${isLeftToPart(Prisma.sql`n."due"`)}
                            ORDER BY r."xid", r."position" LIMIT 1) AS "first"
       WHERE "first"."at" <= n."due"`,
    async deleteUpTo(tx, line, oldest) {
      // Small, because no reader of the log gets past an open transaction.
      const [deleted] = await tx.$queryRaw<{ count: number }[]>`
        WITH "old" AS (
          SELECT "position" FROM "Event" AS r
           WHERE "occurredAt" BETWEEN ${oldest}::timestamptz AND ${line}::timestamptz
             AND ${isOfThese} AND ${isUnneeded} AND NOT ${isLeftToPart(Prisma.sql`${line}::timestamptz`)}
           ORDER BY "xid", "position"
           LIMIT ${purgeBatchSize}),
        "deleted" AS (
          DELETE FROM "Event" WHERE "position" IN (SELECT "position" FROM "old")
          RETURNING "xid", "position", "id"),
        "saved" AS (
          ${saveConsumer(lastDeleted)})
        SELECT count(*)::int AS "count" FROM "deleted"`;
      return deleted?.count ?? 0;
    },
  });
}

/** The jobs of this part. */
export const jobs: Jobs = (services) => [
  { name: 'parts-of-the-log', everyMs: 60_000, isAtStart: true, run: beginParts(services) },
  ...purging('events', purgeEvents)(services),
];
