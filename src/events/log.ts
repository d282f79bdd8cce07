import type { Actor } from '../auth/context.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { EventName } from './catalogue.ts';

/** An event as the log has it. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: Actor | null;
  readonly data: Record<string, unknown>;
  readonly traceId: string | null;
  readonly position: EventPosition;
}

/** A place in the log: who wrote the row, then the row's number. */
export interface EventPosition {
  /** A transaction id (xid8), in decimal. */
  readonly xid: string;
  readonly position: bigint;
}

/** Which events to read: those for which every field given holds. */
export interface EventFilter {
  readonly types?: readonly EventName[] | undefined;
  readonly subjectId?: string | undefined;
  readonly actorId?: string | undefined;
  /** At or after this instant. */
  readonly since?: Date | undefined;
  /** Before this instant. */
  readonly until?: Date | undefined;
}

/** A place in the log as clients hold it. */
export const encodePosition = ({ xid, position }: EventPosition): string =>
  Buffer.from(`${xid}.${position}`).toString('base64url');

/** The place that a client's cursor names, or undefined where it names none. */
export function decodePosition(cursor: string): EventPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, xid, position] = /^(\d{1,19})\.(\d{1,18})$/.exec(text) ?? [];
  return xid === undefined || position === undefined
    ? undefined
    : { xid, position: BigInt(position) };
}

const condition = ({ types, subjectId, actorId, since, until }: EventFilter) => Prisma.sql`
  ${types ? Prisma.sql`"type" = ANY(${[...types]})` : Prisma.sql`TRUE`}
  ${subjectId === undefined ? Prisma.empty : Prisma.sql`AND "subjectId" = ${subjectId}`}
  ${actorId === undefined ? Prisma.empty : Prisma.sql`AND "actorId" = ${actorId}`}
  ${since ? Prisma.sql`AND "occurredAt" >= ${since}` : Prisma.empty}
  ${until ? Prisma.sql`AND "occurredAt" < ${until}` : Prisma.empty}`;

// Two transactions can commit in the other order than their rows' numbers. Below the oldest transaction still
// open nothing more can appear, so a reader that stops there skips nothing.
const settled = Prisma.sql`"xid" < pg_snapshot_xmin(pg_current_snapshot())`;

const place = ({ xid, position }: EventPosition) => Prisma.sql`(${xid}::xid8, ${position}::bigint)`;

/**
 * Reads settled events in the log's order, oldest first.
 *
 * @param options.after Only events behind this place.
 * @param options.before Only events in front of this place.
 * @param options.fromEnd Take the last ones instead of the first; they come oldest first all the same.
 */
export async function readEvents(
  prisma: Pick<PrismaClient, '$queryRaw'>,
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
  const rows = await prisma.$queryRaw<(Omit<LoggedEvent, 'position'> & EventPosition)[]>`
    SELECT "id", "type", "occurredAt", "actor", "data", "traceId", "xid"::text AS "xid", "position"
      FROM "Event"
     WHERE ${condition(filter)} AND ${settled}
       ${after ? Prisma.sql`AND ("xid", "position") > ${place(after)}` : Prisma.empty}
       ${before ? Prisma.sql`AND ("xid", "position") < ${place(before)}` : Prisma.empty}
     ORDER BY "xid" ${direction}, "position" ${direction}
     LIMIT ${take}`;
  const events = rows.map(({ xid, position, ...event }) => ({
    ...event,
    position: { xid, position: BigInt(position) },
  }));
  return fromEnd ? events.reverse() : events;
}

/** Counts settled events. */
export async function countEvents(
  prisma: Pick<PrismaClient, '$queryRaw'>,
  filter: EventFilter,
): Promise<number> {
  const [row] = await prisma.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) AS "count" FROM "Event" WHERE ${condition(filter)} AND ${settled}`;
  return Number(row?.count ?? 0);
}
