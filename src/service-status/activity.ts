import { Prisma } from '../generated/prisma/client.ts';
import { estimatePeople, sketchShape } from '../metrics/active-people.ts';
import { catalogue } from '../metrics/catalogue.ts';
import { activePeople, addFigures, attemptsWithin, refusedBy, type Store } from './figures.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const byMinute = { table: Prisma.sql`"MinuteCount"`, column: Prisma.sql`"minute"` };
const byHour = { table: Prisma.sql`"HourCount"`, column: Prisma.sql`"hour"` };

/** The ranges, with the number and the length of their bars, and from which figures they are read. */
export const activityRanges = {
  HOUR: { bars: 60, barMs: minuteMs, ...byMinute },
  DAY: { bars: 48, barMs: 30 * minuteMs, ...byMinute },
  WEEK: { bars: 56, barMs: 3 * hourMs, ...byHour },
  MONTH: { bars: 60, barMs: 12 * hourMs, ...byHour },
} as const;

/** How far back figures are read. */
export type ActivityRange = keyof typeof activityRanges;

/** What was done in a span of time. */
export interface ActivityFigures {
  readonly at: Date;
  /** By the names under which they are stored. */
  readonly counts: ReadonlyMap<string, number>;
  readonly activePeople: number;
}

/** A span of time, and its parts. */
export interface ActivityPeriod {
  readonly from: Date;
  readonly until: Date;
  readonly total: ActivityFigures;
  readonly bars: readonly ActivityFigures[];
}

/** A range, and the same length of time before it. */
export interface Activity {
  readonly barMs: number;
  readonly current: ActivityPeriod;
  readonly before: ActivityPeriod;
}

/**
 * Reads what was done in a range that ends with the current bar, and in the one before. Bars begin at multiples of
 * their length, so that they stay while the current one grows.
 */
export async function readActivity(store: Store, range: ActivityRange): Promise<Activity> {
  const { bars, barMs } = activityRanges[range];
  await addFigures(store);
  const end = (Math.floor(store.clock.now().getTime() / barMs) + 1) * barMs;
  const start = end - 2 * bars * barMs;
  const [counts, people] = await Promise.all([
    readCounts(store, range, start, end),
    readPeople(store, range, start, end),
  ]);
  const figures = Array.from(
    { length: 2 * bars },
    (_, bar): ActivityFigures => ({
      at: new Date(start + bar * barMs),
      counts: counts.get(bar) ?? new Map(),
      activePeople: people.bars.get(bar) ?? 0,
    }),
  );
  const periodOf = (period: 0 | 1): ActivityPeriod => {
    const own = figures.slice(period * bars, (period + 1) * bars);
    const from = new Date(start + period * bars * barMs);
    return {
      from,
      until: new Date(from.getTime() + bars * barMs),
      total: { at: from, counts: sumOf(own), activePeople: people.periods.get(period) ?? 0 },
      bars: own,
    };
  };
  return { barMs, current: periodOf(1), before: periodOf(0) };
}

function sumOf(figures: readonly ActivityFigures[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { counts } of figures)
    for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}

/** The number of the bar that a row belongs to. */
const barOf = (range: ActivityRange, start: number) => {
  const { column, barMs } = activityRanges[range];
  return Prisma.sql`floor(extract(epoch FROM ${column} - ${new Date(start)}::timestamptz) * 1000 / ${barMs}::int)::int`;
};

const within = (range: ActivityRange, start: number, end: number) => {
  const { column } = activityRanges[range];
  return Prisma.sql`${column} >= ${new Date(start)}::timestamptz AND ${column} < ${new Date(end)}::timestamptz`;
};

async function readCounts(
  { database }: Store,
  range: ActivityRange,
  start: number,
  end: number,
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const { table } = activityRanges[range];
  const rows = await database.prisma.$queryRaw<{ bar: number; name: string; count: number }[]>`
    SELECT b."bar", b."name", sum(b."count")::float8 AS "count"
      FROM (SELECT ${barOf(range, start)} AS "bar", "name", "count"
              FROM ${table} WHERE ${within(range, start, end)}) b
     GROUP BY 1, 2`;
  const counts = new Map<number, Map<string, number>>();
  for (const { bar, name, count } of rows)
    counts.set(bar, (counts.get(bar) ?? new Map<string, number>()).set(name, count));
  return counts;
}

/** People are not added up: whoever comes twice is one. */
async function readPeople({ database }: Store, range: ActivityRange, start: number, end: number) {
  const { table, bars } = activityRanges[range];
  const { layers, bits } = sketchShape;
  const counted = Array.from(
    { length: layers },
    (_, layer) =>
      Prisma.sql`bit_count(substring(s."people" FROM ${layer * bits + 1}::int FOR ${bits}::int))::int`,
  );
  const rows = await database.prisma.$queryRaw<
    { period: 0 | 1; bar: number | null; layers: number[] }[]
  >`
    SELECT s."period", s."bar", ARRAY[${Prisma.join(counted)}] AS "layers"
      FROM (
        SELECT p."period", p."bar", bit_or(p."people") AS "people"
          FROM (SELECT b."bar" / ${bars}::int AS "period", b."bar", b."people"
                  FROM (SELECT ${barOf(range, start)} AS "bar", "people" FROM ${table}
                         WHERE ${within(range, start, end)} AND "name" = ${activePeople}) b) p
         GROUP BY GROUPING SETS ((p."period", p."bar"), (p."period"))
      ) s`;
  const estimated = rows.map((row) => ({ ...row, count: estimatePeople(row.layers) }));
  return {
    bars: new Map(
      estimated.flatMap(({ bar, count }) => (bar === null ? [] : [[bar, count] as const])),
    ),
    periods: new Map(
      estimated.filter(({ bar }) => bar === null).map(({ period, count }) => [period, count]),
    ),
  };
}

/** How many exchanges each rule refused, the most first. */
export const refusalsOf = ({ counts }: ActivityFigures): { rule: string; count: number }[] =>
  [...counts]
    .filter(([name]) => name.startsWith(refusedBy))
    .map(([name, count]) => ({ rule: name.slice(refusedBy.length), count }))
    .sort((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1));

const { buckets } = catalogue.signet_webhook_attempt_duration_seconds;

/**
 * Within how many milliseconds 95 of 100 attempts were answered, or failed; null without an attempt. Between the bounds
 * of the metric's buckets it is estimated, and above the last one it is that.
 */
export function slowestMs({ counts }: ActivityFigures): number | null {
  const inTime = (bound: number | '+Inf') => counts.get(`${attemptsWithin}${bound}`) ?? 0;
  const rank = 0.95 * inTime('+Inf');
  if (rank === 0) return null;
  let [lower, below] = [0, 0];
  for (const bound of buckets) {
    const reached = inTime(bound);
    if (reached >= rank)
      return Math.round((lower + ((bound - lower) * (rank - below)) / (reached - below)) * 1000);
    [lower, below] = [bound, reached];
  }
  return lower * 1000;
}
