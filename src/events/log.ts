import type { Database } from '../db/database.ts';
import { runSql } from '../db/sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Actor } from '../services.ts';
import { type EventName, otherIdsIn, subjectIdOf } from './catalogue/catalogue.ts';
import { CursorExpired, endOf, isHeld, noteEnd, type Reader, settled } from './consumers.ts';
import { byId } from './parts/by-id.ts';
import {
  eventsFrom,
  isInParts,
  nearest,
  type Parts,
  type Place,
  partsBetween,
} from './parts/ranges.ts';
import { type EventPosition, logStart, place } from './position.ts';

/** An event as stored in the log. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: Actor | null;
  readonly data: Record<string, unknown>;
  readonly traceId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly position: EventPosition;
}

/** Selects events. All given conditions must hold. */
export interface EventFilter {
  readonly types?: readonly EventName[] | undefined;
  /** An id of the event's subject, or any other at the top level of its data. */
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
    (subjectId === undefined ||
      subjectIdOf(type, data) === subjectId ||
      otherIdsIn(type, data).includes(subjectId)) &&
    (actorId === undefined || actor?.id === actorId);
}

/** A part of the log: the events that the filter selects, after one position and before another. */
export interface LogRange {
  readonly filter?: EventFilter;
  readonly after?: EventPosition | undefined;
  readonly before?: EventPosition | undefined;
}

/** Some events of a part of the log: the first ones, or the last. */
export interface LogPage extends LogRange {
  readonly take: number;
  readonly fromEnd?: boolean;
}

/** The SQL condition for the settled events of a part of the log. */
export const isIn = (reader: Reader, { filter = {}, after, before }: LogRange): Prisma.Sql =>
  Prisma.sql`
    ${condition(filter)} AND ${settled(reader)} ${isInParts(partsBetween(after, before))}
    ${after ? Prisma.sql`AND ("xid", "position") > ${place(after)}` : Prisma.empty}
    ${before ? Prisma.sql`AND ("xid", "position") < ${place(before)}` : Prisma.empty}`;

const condition = ({ types, subjectId, actorId, since, until }: EventFilter) => Prisma.sql`
  ${types ? Prisma.sql`"type" = ANY(${[...types]})` : Prisma.sql`TRUE`}
  ${subjectId === undefined ? Prisma.empty : isAbout(subjectId)}
  ${actorId === undefined ? Prisma.empty : Prisma.sql`AND "actorId" = ${actorId}`}
  ${since ? Prisma.sql`AND "occurredAt" >= ${since}` : Prisma.empty}
  ${until ? Prisma.sql`AND "occurredAt" < ${until}` : Prisma.empty}`;

// Both halves have an index. Where an id is in many events, PostgreSQL reads the log in its order instead.
const isAbout = (id: string) =>
  Prisma.sql`AND ("subjectId" = ${id} OR "otherIds" @> ARRAY[${id}::text])`;

type EventRow = Omit<LoggedEvent, 'position'> & Omit<EventPosition, 'eventId'>;

// `xid` is selected as text, which sorts "1000" before "999". So ORDER BY must name the table's column,
// `"Event"."xid"`.
const columns = Prisma.sql`"id", "type", "occurredAt", "actor", "data", "traceId", "ip", "userAgent", "xid"::text AS "xid", "position"`;

const eventOf = ({ xid, position, ...event }: EventRow): LoggedEvent => ({
  ...event,
  position: { xid, position: BigInt(position), eventId: event.id },
});

/**
 * Reads a page of settled events in the log's order, or from its end backwards.
 *
 * @param selected SQL for the columns.
 * @param run Runs the statement.
 * @param placeOf The place of a row.
 */
export async function readPage<Row>(
  reader: Reader,
  { take, fromEnd = false, ...range }: LogPage,
  {
    selected,
    run,
    placeOf,
  }: {
    readonly selected: Prisma.Sql;
    readonly run: (statement: Prisma.Sql) => Promise<Row[]>;
    readonly placeOf: (row: Row) => Place;
  },
): Promise<Row[]> {
  const direction = fromEnd ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const from = fromEnd
    ? range.before && { before: range.before }
    : range.after && { after: range.after };
  const read = (parts: Parts) =>
    run(Prisma.sql`
      SELECT ${selected}
        FROM ${eventsFrom(from, Prisma.sql`AND ${isIn(reader, range)} ${isInParts(parts)}`, { take, fromEnd })}
       ORDER BY "Event"."xid" ${direction}, "Event"."position" ${direction}
       LIMIT ${take}`);
  // The events about one record lie far apart.
  const isAboutOne = range.filter?.subjectId !== undefined || range.filter?.actorId !== undefined;
  for (const reach of isAboutOne ? [] : [1, 8]) {
    const near = nearest({ ...range, fromEnd }, endOf(reader), reach);
    if (!near) break;
    const rows = await read(near);
    const last = rows.at(-1);
    if (last && rows.length === take && near.isComplete(placeOf(last))) return rows;
  }
  return read({});
}

/** Reads settled events in the log's order, oldest first, from whichever end they are taken. */
export async function readEvents(prisma: Reader, page: LogPage): Promise<LoggedEvent[]> {
  const rows = await readPage<EventRow>(prisma, page, {
    selected: columns,
    run: (statement) => prisma.$queryRaw(statement),
    placeOf: ({ position }) => ({ position: BigInt(position) }),
  });
  const events = rows.map(eventOf);
  if (page.fromEnd) events.reverse();
  const last = events.at(-1);
  if (last) noteEnd(prisma, last.position);
  return events;
}

/**
 * Reads the next events of the log.
 *
 * @returns Settled events, oldest first, and the time of the first event that is committed but not yet settled.
 * @throws {CursorExpired} if the log no longer holds the event at the position.
 */
export async function readNext(
  prisma: Reader,
  after: EventPosition,
  take: number,
): Promise<{ events: LoggedEvent[]; unsettledSince: Date | undefined }> {
  type Row = EventRow & { isSettled: boolean; isHeld: boolean };
  const rows = await prisma.$queryRaw<(Row | { id: null; isHeld: boolean })[]>`
    SELECT ${columns}, "isSettled", "isHeld"
      FROM (SELECT ${isHeld(after)} AS "isHeld") AS "start"
      LEFT JOIN LATERAL (
        SELECT *, ${settled(prisma)} AS "isSettled"
          FROM ${eventsFrom({ after }, Prisma.sql`AND ("xid", "position") > ${place(after)}`, { take })}
         ORDER BY "xid", "position"
         LIMIT ${take}) AS "next" ON TRUE
     ORDER BY "next"."xid", "next"."position"`;
  if (!rows[0]?.isHeld) throw new CursorExpired();
  const found = rows.filter((row): row is Row => row.id !== null);
  const end = found.findIndex(({ isSettled }) => !isSettled);
  const events = (end === -1 ? found : found.slice(0, end)).map(
    ({ isSettled: _, isHeld: __, ...row }) => eventOf(row),
  );
  const last = events.at(-1);
  if (last) noteEnd(prisma, last.position);
  return { events, unsettledSince: found[end]?.occurredAt };
}

/** How far the log has settled after a position. */
export interface SettledEnd {
  readonly count: number;
  /** The last of the settled events; undefined if there are none. */
  readonly last: Pick<LoggedEvent, 'position' | 'occurredAt'> | undefined;
  /** The time of the first event that is committed but not yet settled. */
  readonly unsettledSince: Date | undefined;
}

/**
 * Counts what {@link readNext} would read, for a reader that does not need the events themselves.
 *
 * @throws {CursorExpired} if the log no longer holds the event at the position.
 */
export async function countNext(
  { prisma, sql }: Pick<Database, 'prisma' | 'sql'>,
  after: EventPosition,
  take: number,
): Promise<SettledEnd> {
  const statement = Prisma.sql`
    WITH "next" AS MATERIALIZED (
      SELECT "xid", "position", "id", "occurredAt", ${settled(prisma)} AS "isSettled"
        FROM ${eventsFrom({ after }, Prisma.sql`AND ("xid", "position") > ${place(after)}`, { take })}
       ORDER BY "xid", "position"
       LIMIT ${take}
    ), "last" AS (
      SELECT * FROM "next" WHERE "isSettled" ORDER BY "xid" DESC, "position" DESC LIMIT 1
    )
    SELECT (SELECT count(*)::int FROM "next" WHERE "isSettled") AS "count",
           ${isHeld(after)} AS "isHeld",
           l."xid"::text AS "xid", l."position"::text AS "position", l."id", l."occurredAt",
           (SELECT "occurredAt" FROM "next" WHERE NOT "isSettled"
             ORDER BY "xid", "position" LIMIT 1) AS "unsettledSince"
      FROM (SELECT 1) AS "one" LEFT JOIN "last" l ON TRUE`;
  const [row] = await runSql<{
    count: number;
    isHeld: boolean;
    xid: string | null;
    position: string;
    id: string;
    occurredAt: Date;
    unsettledSince: Date | null;
  }>(sql, statement);
  if (!row) throw new Error('A row of sums is missing.');
  const { count, xid, position, id, occurredAt } = row;
  if (!row.isHeld) throw new CursorExpired();
  const last =
    xid === null
      ? undefined
      : { position: { xid, position: BigInt(position), eventId: id }, occurredAt };
  if (last) noteEnd(prisma, last.position);
  return { count, last, unsettledSince: row.unsettledSince ?? undefined };
}

/** Finds settled events by id, in no order. */
export async function findEvents(prisma: Reader, ids: readonly string[]): Promise<LoggedEvent[]> {
  const rows = await byId(
    prisma,
    ids,
    (those, parts) =>
      prisma.$queryRaw<EventRow[]>`
      SELECT ${columns} FROM "Event"
       WHERE "id" = ANY(${[...those]}) AND ${settled(prisma)} ${isInParts(parts)}`,
  );
  return rows.map(eventOf);
}

/** An event whose JSON is text, as the database gave it. */
export interface EventText {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: string | null;
  readonly data: string;
}

/** A stored event whose JSON is text, which goes into a message unchanged. */
export interface LoggedText extends EventText {
  readonly traceId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly xid: string;
  readonly position: bigint;
}

/** Finds events by id, in no order. Their transactions have ended, but others before them may be open. */
export async function findEventTexts(
  { prisma, sql }: Pick<Database, 'prisma' | 'sql'>,
  ids: readonly string[],
): Promise<LoggedText[]> {
  const rows = await byId(prisma, ids, (those, parts) =>
    runSql<LoggedText>(
      sql,
      Prisma.sql`
        SELECT "id", "type", "occurredAt", "actor"::text AS "actor", "data"::text AS "data", "traceId", "ip",
               "userAgent", "xid"::text AS "xid", "position"
          FROM "Event" WHERE "id" = ANY(${[...those]}) ${isInParts(parts)}`,
    ),
  );
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }));
}

/** The position of the last settled event, or the log's start if there is none. */
export async function readEnd(prisma: Reader): Promise<EventPosition> {
  const [last] = await readEvents(prisma, { take: 1, fromEnd: true });
  return last?.position ?? logStart;
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
    SELECT count(*) AS "count" FROM "Event" WHERE ${isIn(prisma, { filter })}`;
  return Number(row?.count ?? 0);
}
