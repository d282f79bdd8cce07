import type { Database } from '../db/database.ts';
import { runSql } from '../db/sql.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Actor } from '../services.ts';
import { type EventName, subjectIdOf } from './catalogue.ts';

/** An event as stored in the log. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: Actor | null;
  readonly data: Record<string, unknown>;
  readonly traceId: string | null;
  readonly position: EventPosition;
}

/** A position in the log: the transaction that wrote the row, then the row's number. */
export interface EventPosition {
  /** A transaction id (xid8), in decimal. */
  readonly xid: string;
  readonly position: bigint;
}

/** Selects events. All given conditions must hold. */
export interface EventFilter {
  readonly types?: readonly EventName[] | undefined;
  readonly subjectId?: string | undefined;
  readonly actorId?: string | undefined;
  /** At or after this instant. */
  readonly since?: Date | undefined;
  /** Before this instant. */
  readonly until?: Date | undefined;
}

/** Selects events for a subscription, by what {@link EventFilter} tests except time. */
export type LiveFilter = Pick<EventFilter, 'types' | 'subjectId' | 'actorId'>;

/** Creates a test for events. It accepts the events that {@link readEvents} finds with the same filter. */
export function matcher({ types, subjectId, actorId }: LiveFilter) {
  const wanted = types && new Set(types);
  return ({ type, data, actor }: Pick<LoggedEvent, 'type' | 'data' | 'actor'>): boolean =>
    (!wanted || wanted.has(type)) &&
    (subjectId === undefined || subjectIdOf(type, data) === subjectId) &&
    (actorId === undefined || actor?.id === actorId);
}

/** The position before the first event. */
export const logStart: EventPosition = { xid: '0', position: 0n };

/** Compares two positions: negative if the first comes before the second, 0 if they are the same, else positive. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  if (a.xid === b.xid) return Number(a.position - b.position);
  // Decimal numbers without leading zeros.
  return a.xid.length - b.xid.length || (a.xid < b.xid ? -1 : 1);
}

/** A position as a cursor for clients. */
export const encodePosition = ({ xid, position }: EventPosition): string =>
  Buffer.from(`${xid}.${position}`).toString('base64url');

/** The position that a client's cursor stands for, or undefined if the cursor is malformed. */
export function decodePosition(cursor: string): EventPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, xid, position] = /^(\d{1,19})\.(\d{1,18})$/.exec(text) ?? [];
  if (xid === undefined || position === undefined) return undefined;
  const place = { xid: String(BigInt(xid)), position: BigInt(position) };
  return encodePosition(place) === cursor ? place : undefined;
}

const condition = ({ types, subjectId, actorId, since, until }: EventFilter) => Prisma.sql`
  ${types ? Prisma.sql`"type" = ANY(${[...types]})` : Prisma.sql`TRUE`}
  ${subjectId === undefined ? Prisma.empty : Prisma.sql`AND "subjectId" = ${subjectId}`}
  ${actorId === undefined ? Prisma.empty : Prisma.sql`AND "actorId" = ${actorId}`}
  ${since ? Prisma.sql`AND "occurredAt" >= ${since}` : Prisma.empty}
  ${until ? Prisma.sql`AND "occurredAt" < ${until}` : Prisma.empty}`;

type Reader = Pick<PrismaClient, '$queryRaw'>;

// For each reader, the end of the part of the log that it has read.
const ends = new WeakMap<Reader, EventPosition['xid']>();

/**
 * The SQL condition that an event is settled. Transactions do not always commit in the order of their rows' numbers. No
 * new row can appear below the oldest open transaction, so a reader that stops there skips nothing. The SQL function is
 * in the migrations; it ignores transactions of other databases in the cluster.
 *
 * An event that a reader has seen stays settled for that reader. The function's result alone can move back: it
 * recognises a transaction of another database by its locks, and those are gone if it ends after the statement's
 * snapshot.
 */
export const settled = (reader: Reader): Prisma.Sql =>
  Prisma.sql`"xid" < greatest((SELECT "signet_settled_xid"()), ${ends.get(reader) ?? '0'}::xid8)`;

function noteEnd(reader: Reader, { position: { xid } }: Pick<LoggedEvent, 'position'>): void {
  const end = BigInt(xid) + 1n;
  if (end > BigInt(ends.get(reader) ?? 0)) ends.set(reader, String(end));
}

type EventRow = Omit<LoggedEvent, 'position'> & EventPosition;

// `xid` is selected as text, which sorts "1000" before "999". So ORDER BY must name the table's column,
// `"Event"."xid"`.
const columns = Prisma.sql`"id", "type", "occurredAt", "actor", "data", "traceId", "xid"::text AS "xid", "position"`;

const eventOf = ({ xid, position, ...event }: EventRow): LoggedEvent => ({
  ...event,
  position: { xid, position: BigInt(position) },
});

const place = ({ xid, position }: EventPosition) => Prisma.sql`(${xid}::xid8, ${position}::bigint)`;

/**
 * Reads settled events in the log's order, oldest first.
 *
 * @param options.after Only events after this position.
 * @param options.before Only events before this position.
 * @param options.fromEnd Take the last ones instead of the first. The result is oldest first either way.
 */
export async function readEvents(
  prisma: Reader,
  options: {
    readonly filter?: EventFilter;
    readonly after?: EventPosition | undefined;
    readonly before?: EventPosition | undefined;
    readonly take: number;
    readonly fromEnd?: boolean;
  },
): Promise<LoggedEvent[]> {
  const { filter = {}, after, before, take, fromEnd = false } = options;
  const direction = fromEnd ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const rows = await prisma.$queryRaw<EventRow[]>`
    SELECT ${columns}
      FROM "Event"
     WHERE ${condition(filter)} AND ${settled(prisma)}
       ${after ? Prisma.sql`AND ("xid", "position") > ${place(after)}` : Prisma.empty}
       ${before ? Prisma.sql`AND ("xid", "position") < ${place(before)}` : Prisma.empty}
     ORDER BY "Event"."xid" ${direction}, "position" ${direction}
     LIMIT ${take}`;
  const events = rows.map(eventOf);
  if (fromEnd) events.reverse();
  const last = events.at(-1);
  if (last) noteEnd(prisma, last);
  return events;
}

/**
 * Reads the next events of the log.
 *
 * @returns Settled events, oldest first, and the time of the first event that is committed but not yet settled.
 */
export async function readNext(
  prisma: Reader,
  after: EventPosition,
  take: number,
): Promise<{ events: LoggedEvent[]; unsettledSince: Date | undefined }> {
  const rows = await prisma.$queryRaw<(EventRow & { isSettled: boolean })[]>`
    SELECT ${columns}, ${settled(prisma)} AS "isSettled"
      FROM "Event"
     WHERE ("xid", "position") > ${place(after)}
     ORDER BY "Event"."xid", "position"
     LIMIT ${take}`;
  const end = rows.findIndex(({ isSettled }) => !isSettled);
  const events = (end === -1 ? rows : rows.slice(0, end)).map(({ isSettled: _, ...row }) =>
    eventOf(row),
  );
  const last = events.at(-1);
  if (last) noteEnd(prisma, last);
  return { events, unsettledSince: rows[end]?.occurredAt };
}

/** How far the log has settled after a position. */
export interface SettledEnd {
  readonly count: number;
  /** The last of the settled events; undefined if there are none. */
  readonly last: Pick<LoggedEvent, 'position' | 'occurredAt'> | undefined;
  /** The time of the first event that is committed but not yet settled. */
  readonly unsettledSince: Date | undefined;
}

/** Counts what {@link readNext} would read, for a reader that does not need the events themselves. */
export async function countNext(
  { prisma, sql }: Pick<Database, 'prisma' | 'sql'>,
  after: EventPosition,
  take: number,
): Promise<SettledEnd> {
  const statement = Prisma.sql`
    WITH "next" AS MATERIALIZED (
      SELECT "xid", "position", "occurredAt", ${settled(prisma)} AS "isSettled"
        FROM "Event"
       WHERE ("xid", "position") > ${place(after)}
       ORDER BY "xid", "position"
       LIMIT ${take}
    ), "last" AS (
      SELECT * FROM "next" WHERE "isSettled" ORDER BY "xid" DESC, "position" DESC LIMIT 1
    )
    SELECT (SELECT count(*)::int FROM "next" WHERE "isSettled") AS "count",
           l."xid"::text AS "xid", l."position"::text AS "position", l."occurredAt",
           (SELECT "occurredAt" FROM "next" WHERE NOT "isSettled"
             ORDER BY "xid", "position" LIMIT 1) AS "unsettledSince"
      FROM (SELECT 1) AS "one" LEFT JOIN "last" l ON TRUE`;
  const [row] = await runSql<{
    count: number;
    xid: string | null;
    position: string;
    occurredAt: Date;
    unsettledSince: Date | null;
  }>(sql, statement);
  if (!row) throw new Error('A row of sums is missing.');
  const { count, xid, position, occurredAt } = row;
  const last =
    xid === null ? undefined : { position: { xid, position: BigInt(position) }, occurredAt };
  if (last) noteEnd(prisma, last);
  return { count, last, unsettledSince: row.unsettledSince ?? undefined };
}

/** Finds settled events by id, in no order. */
export async function findEvents(prisma: Reader, ids: readonly string[]): Promise<LoggedEvent[]> {
  const rows = await prisma.$queryRaw<EventRow[]>`
    SELECT ${columns} FROM "Event" WHERE "id" = ANY(${[...ids]}) AND ${settled(prisma)}`;
  return rows.map(eventOf);
}

/** The position of the last settled event, or the log's start if there is none. */
export async function readEnd(prisma: Reader): Promise<EventPosition> {
  const [last] = await readEvents(prisma, { take: 1, fromEnd: true });
  return last?.position ?? logStart;
}

/** The position that a consumer has reached, or the log's start for an unknown consumer. */
export async function readConsumer(prisma: Reader, name: string): Promise<EventPosition> {
  const [row] = await prisma.$queryRaw<{ xid: string; position: bigint }[]>`
    SELECT "xid"::text AS "xid", "position" FROM "EventConsumer" WHERE "name" = ${name}`;
  return row ? { xid: row.xid, position: BigInt(row.position) } : logStart;
}

/**
 * Saves the position that a consumer has reached. It never moves back.
 *
 * @param options.isNew Saves it only for a consumer that has no position yet.
 */
export async function writeConsumer(
  prisma: Pick<PrismaClient, '$executeRaw'>,
  name: string,
  { xid, position }: EventPosition,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "EventConsumer" AS c ("name", "xid", "position")
    VALUES (${name}, ${xid}::xid8, ${position})
    ON CONFLICT ("name") DO UPDATE SET "xid" = EXCLUDED."xid", "position" = EXCLUDED."position"
     WHERE NOT ${isNew}::boolean AND (c."xid", c."position") < (EXCLUDED."xid", EXCLUDED."position")`;
}

/** The name of the consumer whose position says how far the log has been purged. */
export const purgedName = 'purged';

/**
 * A position from which the log cannot be read: events after it were purged, or it lies beyond the end of a restored
 * log.
 */
export class CursorExpired extends Error {
  override readonly name = 'CursorExpired';
}

/**
 * Checks that the log still holds every event after a position, and that it reaches that position.
 *
 * @throws {CursorExpired}
 */
export async function assertRetained(prisma: Reader, after: EventPosition): Promise<void> {
  const [gone] = await prisma.$queryRaw<unknown[]>`
    SELECT 1 AS "found" FROM "EventConsumer"
     WHERE "name" = ${purgedName} AND ("xid", "position") > ${place(after)}
    UNION ALL
    SELECT 1 WHERE ${after.xid}::xid8 >= pg_snapshot_xmax(pg_current_snapshot())`;
  if (gone) throw new CursorExpired();
}

/** Tells which events were committed at an instant. */
export interface LogSnapshot {
  /** Whether an event had been committed by then. */
  includes(position: EventPosition): boolean;
  /** Whether this event and all later ones were committed after it. */
  isBefore(position: EventPosition): boolean;
}

/** Takes a snapshot of the events that are committed now. */
export async function takeSnapshot(prisma: Reader): Promise<LogSnapshot> {
  const [row] = await prisma.$queryRaw<{ snapshot: string }[]>`
    SELECT pg_current_snapshot()::text AS "snapshot"`;
  // `xmin:xmax:open,open,…` (PostgreSQL, "Transaction ID and Snapshot Information Functions").
  const [xmin = 0n, xmax = 0n, ...open] = (row?.snapshot ?? '')
    .split(/[:,]/)
    .filter(Boolean)
    .map(BigInt);
  const openOnes = new Set(open);
  return {
    includes({ xid }) {
      const writer = BigInt(xid);
      return writer < xmin || (writer < xmax && !openOnes.has(writer));
    },
    isBefore: ({ xid }) => BigInt(xid) >= xmax,
  };
}

/** Counts settled events. */
export async function countEvents(prisma: Reader, filter: EventFilter): Promise<number> {
  const [row] = await prisma.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) AS "count" FROM "Event" WHERE ${condition(filter)} AND ${settled(prisma)}`;
  return Number(row?.count ?? 0);
}
