import { Prisma } from '../../generated/prisma/client.ts';
import type { EventPosition } from '../position.ts';
import type { Part, Whole } from './tables.ts';

// More than any part has events. A position keeps within 18 digits for the next 2,700 years.
const range = 1_000_000_000_000n;

/** The event log in parts: part `n` has the positions from `n` times 10¹² on. */
export const eventLog: Whole = {
  table: 'Event',
  key: 'position',
  // No index of the whole can be unique on it: it is not what the parts are divided by.
  also: (part) => [`CREATE UNIQUE INDEX ON "${part}" ("id")`],
};

/** What of a position tells the part. */
export type Place = Pick<EventPosition, 'position'>;

/** The number of the part that has this position. */
export const partOf = ({ position }: Place): number => Number(position / range);

/** The first position of a part. */
export const startOf = (part: number): bigint => BigInt(part) * range;

/** The table of a part. */
export const tableOf = (part: number): string => `Event_${part}`;

/** A part with its bounds. The parts up to `to` are together in it. */
export const eventPart = (number: number, to: number, table = tableOf(number)): Part => ({
  table,
  // The first one takes whatever stood before it.
  from: number === 0 ? 'MINVALUE' : String(startOf(number)),
  to: String(startOf(to)),
});

/**
 * Parts, by their numbers. In the order of the log a part's events lie among those of the parts next to it, and after
 * all others before: see `begin.ts`.
 */
export interface Parts {
  readonly first?: number | undefined;
  readonly last?: number | undefined;
}

/** The SQL condition that an event is in these parts. PostgreSQL reads no others. */
export const isInParts = ({ first, last }: Parts): Prisma.Sql => Prisma.sql`
  ${first === undefined || first <= 0 ? Prisma.empty : Prisma.sql`AND "position" >= ${startOf(first)}::bigint`}
  ${last === undefined ? Prisma.empty : Prisma.sql`AND "position" < ${startOf(last + 1)}::bigint`}`;

/** The parts in which events between two positions can be. */
export const partsBetween = (
  after: EventPosition | undefined,
  before?: EventPosition | undefined,
): Parts => ({
  first: after && partOf(after) - 1,
  last: before && partOf(before) + 1,
});

/**
 * SQL for the first events after a position, or the last ones before another: a table "Event" that has them, in no
 * order. Each part in which they probably are is read by itself: of several at once, PostgreSQL may read and sort all
 * that follows, where its statistics are older than the events.
 *
 * @param condition SQL that the events meet, beginning with AND.
 */
export function eventsFrom(
  from: { readonly after: EventPosition } | { readonly before: EventPosition } | undefined,
  condition: Prisma.Sql,
  { take, fromEnd = false }: { readonly take: number; readonly fromEnd?: boolean },
): Prisma.Sql {
  const direction = fromEnd ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const read = (parts: Parts) => Prisma.sql`
    (SELECT * FROM "Event" WHERE TRUE ${isInParts(parts)} ${condition}
      ORDER BY "xid" ${direction}, "position" ${direction} LIMIT ${take})`;
  return Prisma.sql`(${Prisma.join(branches(from).map(read), ' UNION ALL ')}) AS "Event"`;
}

function branches(
  from: { readonly after: EventPosition } | { readonly before: EventPosition } | undefined,
): readonly Parts[] {
  if (from === undefined) return [{}];
  if ('after' in from) {
    const first = Math.max(0, partOf(from.after) - 1);
    return [{ first, last: first }, { first: first + 1, last: first + 1 }, { first: first + 2 }];
  }
  const last = partOf(from.before) + 1;
  const others = last < 2 ? [] : [{ last: last - 2 }];
  return [{ first: last, last }, { first: last - 1, last: last - 1 }, ...others];
}

/** The parts in which the first events after a position are, or the last ones before another. */
export interface Nearest extends Parts {
  /** Whether no event that comes before this one, as the page is read, can be in other parts. */
  isComplete(last: Place): boolean;
}

/**
 * The few parts in which a page probably is: for PostgreSQL, reading them all is more work than the page.
 *
 * @param end A position close to the log's end.
 * @param reach How many parts away from where the page begins.
 * @returns Undefined where these are all.
 */
export function nearest(
  {
    after,
    before,
    fromEnd,
  }: {
    readonly after?: EventPosition | undefined;
    readonly before?: EventPosition | undefined;
    readonly fromEnd: boolean;
  },
  end: EventPosition | undefined,
  reach: number,
): Nearest | undefined {
  const { first: lowest = 0, last: highest } = partsBetween(after, before);
  if (fromEnd) {
    const latest = before ?? end;
    if (!latest) return undefined;
    const first = partOf(latest) - reach;
    if (first <= lowest) return undefined;
    return { first, last: highest, isComplete: (last) => partOf(last) > first };
  }
  if (!after || !end) return undefined;
  const last = partOf(after) + reach;
  if (last >= (highest ?? partOf(end))) return undefined;
  return { first: lowest, last, isComplete: (event) => partOf(event) < last };
}
