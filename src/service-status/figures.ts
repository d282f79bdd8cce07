import { createPurge, type Purge, purgeAll } from '../db/purge.ts';
import { putBackActive, takeActive } from '../metrics/active-people.ts';
import type { Catalogue } from '../metrics/catalogue.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';

/** How often a node adds what it has counted. */
const intervalMs = 5_000;
const dayMs = 24 * 3_600_000;
/** How long the figures of a minute are kept, and those of an hour. */
const minutesKeptMs = 7 * dayMs;
const hoursKeptMs = 90 * dayMs;

type Labels = Readonly<Record<string, string | number | undefined>>;

/** What reading and writing figures needs. */
export type Store = Pick<Services, 'metrics' | 'database' | 'clock'>;

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** What is counted for whoever reads minutes. */
const figures = [
  'signIns',
  'failedSignIns',
  'exchanges',
  'refusedExchanges',
  'mutations',
  'deliveries',
  'failedDeliveries',
] as const;

/** What is counted. */
export type Figure = (typeof figures)[number];

/** The name under which the exchanges that a rule refused are stored, before the rule's. */
export const refusedBy = 'refusedBy:';
/** The name under which the attempts that took no longer than some seconds are stored, before these. */
export const attemptsWithin = 'attemptsWithin:';
/** The name of the sketch of active people. */
export const activePeople = 'activePeople';

/**
 * What is counted, and from which of the metrics that `GET /metrics` shows. The features count in memory, as they do
 * anyway: nothing here costs a request a statement.
 */
const sources: readonly {
  readonly metric: keyof Catalogue;
  readonly nameOf: (labels: Labels) => Figure | `${string}:${string}` | undefined;
}[] = [
  {
    metric: 'signet_sign_ins_total',
    nameOf: ({ outcome }) => (outcome === 'succeeded' ? 'signIns' : 'failedSignIns'),
  },
  {
    metric: 'signet_token_requests_total',
    nameOf({ grant, outcome }) {
      if (grant !== exchange) return undefined;
      return outcome === 'granted' ? 'exchanges' : 'refusedExchanges';
    },
  },
  { metric: 'signet_exchange_refusals_total', nameOf: ({ rule }) => `${refusedBy}${rule}` },
  {
    metric: 'signet_mutations_total',
    nameOf: ({ outcome }) => (outcome === 'done' ? 'mutations' : undefined),
  },
  {
    metric: 'signet_webhook_attempts_total',
    nameOf: ({ outcome }) => (outcome === 'succeeded' ? 'deliveries' : 'failedDeliveries'),
  },
  {
    // Its sum and its count have no bound.
    metric: 'signet_webhook_attempt_duration_seconds',
    nameOf: ({ le }) => (le === undefined ? undefined : `${attemptsWithin}${le}`),
  },
];

/** The figures of one minute, of all nodes together. */
export type MinuteFigures = { readonly at: Date } & Readonly<Record<Figure, number>>;

type Counts = ReadonlyMap<string, number>;

async function readCounters({ metrics }: Store): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const { metric, nameOf } of sources) {
    const { values = [] } = (await metrics.getSingleMetric(metric)?.get()) ?? {};
    for (const { labels, value } of values) {
      const name = nameOf(labels);
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + value);
    }
  }
  return counts;
}

/** What a process has added so far, by its registry; and the adding that is under way. */
const added = new WeakMap<Services['metrics'], Promise<Counts>>();

/** Adds what this process has counted since the last time to the figures of the current minute, and of the hour. */
export async function addFigures(store: Store): Promise<void> {
  const before = added.get(store.metrics) ?? Promise.resolve(new Map());
  // One after the other. After a failure the next one adds it all.
  const after = before.then((known) => addSince(store, known));
  added.set(
    store.metrics,
    after.catch(() => before),
  );
  await after;
}

async function addSince(store: Store, known: Counts): Promise<Counts> {
  const { metrics } = store;
  const counted = await readCounters(store);
  const people = takeActive(metrics);
  const since = [...counted]
    .map(([name, count]) => [name, count - (known.get(name) ?? 0)] as const)
    .filter(([, count]) => count > 0);
  if (people) since.push([activePeople, 0]);
  if (since.length === 0) return known;
  try {
    await write(store, since, people);
  } catch (error) {
    if (people) putBackActive(metrics, people);
    throw error;
  }
  return counted;
}

async function write(
  { database, clock }: Store,
  since: readonly (readonly [name: string, count: number])[],
  people: Uint8Array | undefined,
): Promise<void> {
  // In one order on every node, so that two of them cannot wait for each other.
  const ordered = since.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = ordered.map(([name]) => name);
  const counts = ordered.map(([, count]) => count);
  const sketch = people ? `x${Buffer.from(people).toString('hex')}` : null;
  const now = clock.now();
  // One statement: what is in the minutes is in the hours.
  await database.prisma.$executeRaw`
    WITH "counted" AS (
      SELECT c."name", c."count",
             CASE WHEN c."name" = ${activePeople} THEN ${sketch}::text::bit(16384) END AS "people"
        FROM unnest(${names}::text[], ${counts}::int[]) AS c ("name", "count")
    ), "minutes" AS (
      INSERT INTO "MinuteCount" ("minute", "name", "count", "people")
      SELECT date_trunc('minute', ${now}::timestamptz), "name", "count", "people" FROM "counted"
      ON CONFLICT ("minute", "name") DO UPDATE
         SET "count" = "MinuteCount"."count" + excluded."count",
             "people" = "MinuteCount"."people" | excluded."people"
    )
    INSERT INTO "HourCount" ("hour", "name", "count", "people")
    SELECT date_trunc('hour', ${now}::timestamptz, 'UTC'), "name", "count", "people" FROM "counted"
    ON CONFLICT ("hour", "name") DO UPDATE
       SET "count" = "HourCount"."count" + excluded."count",
           "people" = "HourCount"."people" | excluded."people"`;
}

/**
 * Starts to add this process' counts to the figures.
 *
 * @returns Stops, after the last counts are added.
 */
export function followFigures(services: Store & Pick<Services, 'log'>): () => Promise<void> {
  const add = () =>
    addFigures(services).catch((error: unknown) => {
      services.log.warn({ err: error }, 'the figures could not be written');
    });
  const timer = setInterval(add, intervalMs);
  return async () => {
    clearInterval(timer);
    await add();
  };
}

const nothing = Object.fromEntries(figures.map((figure) => [figure, 0])) as Record<Figure, number>;

/** The figures of the last minutes, the current one included, oldest first; a minute in which nothing was done has zeros. */
export async function readFigures(store: Store, minutes: number): Promise<MinuteFigures[]> {
  const { database, clock } = store;
  await addFigures(store);
  const current = Math.floor(clock.now().getTime() / 60_000);
  const first = current - minutes + 1;
  const rows = await database.prisma.minuteCount.findMany({
    where: { minute: { gte: new Date(first * 60_000) }, name: { in: [...figures] } },
    select: { minute: true, name: true, count: true },
  });
  const byMinute = Map.groupBy(rows, ({ minute }) => minute.getTime() / 60_000);
  return Array.from({ length: minutes }, (_, index) => ({
    at: new Date((first + index) * 60_000),
    ...nothing,
    ...Object.fromEntries(
      (byMinute.get(first + index) ?? []).map(({ name, count }) => [name, count]),
    ),
  }));
}

/** Deletes figures that are not kept any more. */
const purgeFigures = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  purgeAll([
    createPurge(services, { table: 'MinuteCount', column: 'minute', keptMs: minutesKeptMs }),
    createPurge(services, { table: 'HourCount', column: 'hour', keptMs: hoursKeptMs }),
  ]);

/** The jobs of this part. */
export const jobs = purging('figures', purgeFigures);
