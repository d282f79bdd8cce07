import { runSql, type Sql } from '../db/sql.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { auditTypes } from './catalogue/audit.ts';
import type { EventName } from './catalogue/catalogue.ts';
import { eventsFrom, isInParts, partsBetween } from './parts/ranges.ts';
import { comparePositions, type EventPosition, logStart, place } from './position.ts';

/** A client that reads the log. */
export type Reader = Pick<PrismaClient, '$queryRaw'>;

/**
 * SQL for the settled line: the id of the oldest open transaction. Transactions do not always commit in the order of
 * their rows' numbers, but no new row can appear below this line, so a reader that stops there skips nothing. The
 * function is in the migrations; it ignores transactions of other databases in the cluster.
 */
export const settledLine = Prisma.sql`(SELECT "signet_settled_xid"())`;

// The last event that each reader has read.
const ends = new WeakMap<Reader, EventPosition>();

/**
 * The SQL condition that an event is settled. An event that a reader has seen stays settled for that reader, as long as
 * the log holds it. The {@link settledLine} alone can move back: it recognises a transaction of another database by its
 * locks, and those are gone if it ends after the statement's snapshot.
 */
export function settled(reader: Reader): Prisma.Sql {
  const end = ends.get(reader);
  return end
    ? Prisma.sql`"xid" < greatest(${settledLine},
                                  (SELECT ${String(BigInt(end.xid) + 1n)}::xid8 WHERE ${isInLog(end)}))`
    : Prisma.sql`"xid" < ${settledLine}`;
}

/** The last event that a reader has read. */
export const endOf = (reader: Reader): EventPosition | undefined => ends.get(reader);

/** Notes that a reader has seen the log up to a position. */
export function noteEnd(reader: Reader, position: EventPosition): void {
  const end = ends.get(reader);
  if (!end || comparePositions(end, position) < 0) ends.set(reader, position);
}

/** The SQL condition that this very event is in the log. */
const isInLog = ({ xid, position, eventId }: EventPosition) => Prisma.sql`EXISTS (
  SELECT 1 FROM "Event" AS held
   WHERE held."position" = ${position}::bigint AND held."xid" = ${xid}::xid8 AND held."id" = ${eventId})`;

/**
 * Reads the settled line: the transaction before which everything is settled, with the last event before it, by which
 * {@link assertLineReached} knows the log again.
 */
export async function readSettledLine(reader: Reader): Promise<EventPosition> {
  const [row] = await reader.$queryRaw<
    { xid: string; position: bigint | null; eventId: string | null }[]
  >`
    SELECT l."xid"::text AS "xid", e."position", e."id" AS "eventId"
      FROM (SELECT ${settledLine} AS "xid") l
      LEFT JOIN LATERAL (SELECT "position", "id" FROM "Event" WHERE "Event"."xid" < l."xid"
                          ORDER BY "Event"."xid" DESC, "position" DESC LIMIT 1) e ON TRUE`;
  if (!row) throw new Error('The settled line is missing.');
  return { ...row, position: BigInt(row.position ?? 0) };
}

/**
 * Checks that the log has reached a line of {@link readSettledLine}, or the place of an event.
 *
 * @throws {CursorExpired}
 */
export async function assertLineReached(reader: Reader, line: EventPosition): Promise<void> {
  const { xid, position, eventId } = line;
  // While nothing is written, the line is the transaction that comes next.
  const [row] = await reader.$queryRaw<{ isReached: boolean }[]>`
    SELECT ${xid}::xid8 <= pg_snapshot_xmax(pg_current_snapshot())
           AND (${eventId}::text IS NULL OR EXISTS (
             SELECT 1 FROM "Event" AS held
              WHERE held."position" = ${position}::bigint AND held."id" = ${eventId}
                AND held."xid" <= ${xid}::xid8)) AS "isReached"`;
  if (!row?.isReached) throw new CursorExpired();
}

type Writer = Pick<PrismaClient, '$executeRaw'>;

/** Registers a consumer at the settled line, so that it gets later events only, unless it is registered already. */
export async function registerConsumer(writer: Writer, name: string): Promise<void> {
  await writer.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position") VALUES (${name}, ${settledLine}, 0)
    ON CONFLICT ("name") DO NOTHING`;
}

/** The position that a consumer has reached, or the log's start for an unknown consumer. */
export async function readConsumer(reader: Reader, name: string): Promise<EventPosition> {
  const [row] = await reader.$queryRaw<{ xid: string; position: bigint }[]>`
    SELECT "xid"::text AS "xid", "position" FROM "EventConsumer" WHERE "name" = ${name}`;
  return row ? { xid: row.xid, position: BigInt(row.position), eventId: null } : logStart;
}

/** Saves the position that a consumer has reached. It never moves back. */
export async function writeConsumer(
  writer: Writer,
  name: string,
  { xid, position }: EventPosition,
): Promise<void> {
  await writer.$executeRaw(
    saveConsumer(Prisma.sql`SELECT ${name}::text, ${xid}::xid8, ${position}::bigint, NULL::text`),
  );
}

/** SQL that saves a consumer's position like {@link writeConsumer}, from a query for its name, `xid`, `position` and event. */
export const saveConsumer = (row: Prisma.Sql): Prisma.Sql => Prisma.sql`
  INSERT INTO "EventConsumer" AS c ("name", "xid", "position", "eventId") ${row}
  ON CONFLICT ("name") DO UPDATE
    SET "xid" = EXCLUDED."xid", "position" = EXCLUDED."position", "eventId" = EXCLUDED."eventId"
   WHERE (c."xid", c."position") < (EXCLUDED."xid", EXCLUDED."position")`;

/**
 * Reads a consumer's position and holds it until the transaction ends; undefined if another transaction holds it.
 *
 * @param also SQL for more columns.
 */
export async function holdConsumer<Also extends object>(
  sql: Sql,
  name: string,
  also: Prisma.Sql,
): Promise<(EventPosition & Also) | undefined> {
  const [row] = await runSql<EventPosition & Also>(
    sql,
    Prisma.sql`
      SELECT "xid"::text AS "xid", "position", ${also}
        FROM "EventConsumer" WHERE "name" = ${name} FOR UPDATE SKIP LOCKED`,
  );
  return row && { ...row, position: BigInt(row.position) };
}

/** SQL for the next settled events after a position, in the log's order. */
export const nextSettled = (after: EventPosition, take: number): Prisma.Sql => Prisma.sql`
  SELECT "xid", "position", "id", "type", "subjectId"
    FROM ${eventsFrom({ after }, Prisma.sql`AND ("xid", "position") > ${place(after)} AND "xid" < ${settledLine}`, { take })}
   ORDER BY "xid", "position" LIMIT ${take}`;

/** SQL that moves a held consumer to the last event of the table `batch`, if it has any. */
export const moveToEndOfBatch = (name: string): Prisma.Sql => Prisma.sql`
  UPDATE "EventConsumer" SET ("xid", "position") = (
      SELECT "xid", "position" FROM "batch" ORDER BY "xid" DESC, "position" DESC LIMIT 1)
   WHERE "name" = ${name} AND EXISTS (SELECT 1 FROM "batch")`;

/**
 * SQL that moves a held consumer over events that it does not want: to the last settled one, or to the one before the
 * first of the types that it wants.
 *
 * @param types SQL for a query of those types.
 */
export const moveOver = (name: string, after: EventPosition, types: Prisma.Sql): Prisma.Sql => {
  const parts = isInParts(partsBetween(after));
  return Prisma.sql`
    WITH "line" AS MATERIALIZED (SELECT ${settledLine} AS "xid"),
    "wanted" AS MATERIALIZED (
      SELECT f."xid", f."position" FROM (${types}) AS t ("type")
       CROSS JOIN LATERAL (
         SELECT "xid", "position" FROM "Event"
          WHERE "type" = t."type" AND ("xid", "position") > ${place(after)} ${parts}
          ORDER BY "Event"."xid", "Event"."position" LIMIT 1) f
       ORDER BY f."xid", f."position" LIMIT 1),
    "last" AS (
      SELECT "xid", "position" FROM "Event"
       WHERE "xid" < (SELECT "xid" FROM "line") ${parts}
         AND ("xid", "position") < (
           SELECT coalesce((SELECT "xid" FROM "wanted"), '18446744073709551615'), coalesce((SELECT "position" FROM "wanted"), 0))
       ORDER BY "xid" DESC, "position" DESC LIMIT 1)
    UPDATE "EventConsumer" c SET "xid" = l."xid", "position" = l."position" FROM "last" l
     WHERE c."name" = ${name} AND (c."xid", c."position") < (l."xid", l."position")`;
};

/** The names of the consumers whose positions say how far the log has been purged: of the audit, and of other events. */
export const purgedOf = { ordinary: 'purged', audit: 'purged of the audit' } as const;

/** Both names of {@link purgedOf}. */
export const purgedNames: readonly string[] = Object.values(purgedOf);

/** The name of the consumer whose position says up to where cursors were given out that hold no event's id. */
export const cursorsWithoutIdName = 'cursors without id';

/** The SQL condition that every reader which has a name has read the event `r`. */
export const isReadByAll = Prisma.sql`
  NOT EXISTS (SELECT 1 FROM "EventConsumer" AS c
               WHERE c."name" NOT IN (${Prisma.join([...purgedNames, cursorsWithoutIdName])})
                 AND (c."xid", c."position") < (r."xid", r."position"))`;

/**
 * A position from which the log cannot be read on without a gap: events after it were purged, or the event there is not
 * in the log, which went back to a backup or to a standby that was behind, or never gave out this cursor.
 */
export class CursorExpired extends Error {
  override readonly name = 'CursorExpired';
}

/**
 * The SQL condition that the event at a position is in the log, or was the last one purged, and of a transaction that this
 * cluster has had: what it writes now comes before the events of a dump from another.
 */
export const isHeld = (after: EventPosition): Prisma.Sql =>
  after.eventId === null
    ? Prisma.sql`TRUE`
    : Prisma.sql`(${after.xid}::xid8 < pg_snapshot_xmax(pg_current_snapshot()) AND (${isInLog(after)} OR EXISTS (
        SELECT 1 FROM "EventConsumer" AS c
         WHERE c."name" = ANY(${[...purgedNames]}) AND (c."xid", c."position") = ${place(after)}
           AND c."eventId" = ${after.eventId})))`;

/** The SQL condition that a position without an event's id was given out, before cursors held one. */
const wasGivenOut = (after: EventPosition): Prisma.Sql => Prisma.sql`(
  (EXISTS (SELECT 1 FROM "Event" WHERE "xid" = ${after.xid}::xid8 AND "position" = ${after.position}::bigint)
    OR EXISTS (SELECT 1 FROM "EventConsumer"
                WHERE "name" = ANY(${[...purgedNames]}) AND ("xid", "position") = ${place(after)}))
  AND EXISTS (SELECT 1 FROM "EventConsumer"
               WHERE "name" = ${cursorsWithoutIdName} AND ("xid", "position") >= ${place(after)}))`;

/**
 * Checks that the log gave out this position, and still holds every event after it that is asked for.
 *
 * @param types The types that are asked for; absent: all.
 * @throws {CursorExpired}
 */
export async function assertRetained(
  prisma: Reader,
  after: EventPosition,
  types?: readonly EventName[],
): Promise<void> {
  // Ordinary events may be gone between those of the audit, which are kept longer.
  const names = types?.every((type) => auditTypes.includes(type)) ? [purgedOf.audit] : purgedNames;
  const isOld = after.eventId === null && comparePositions(after, logStart) !== 0;
  const [row] = await prisma.$queryRaw<{ isRetained: boolean }[]>`
    SELECT ${isOld ? wasGivenOut(after) : isHeld(after)} AND NOT EXISTS (
             SELECT 1 FROM "EventConsumer"
              WHERE "name" = ANY(${[...names]}) AND ("xid", "position") > ${place(after)}) AS "isRetained"`;
  if (!row?.isRetained) throw new CursorExpired();
}
