import type { Counter } from 'prom-client';
import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';

/** How often a node adds what it has counted. */
const intervalMs = 5_000;
/** How long the figures of a minute are kept. */
const keptMs = 7 * 24 * 3_600_000;

type Labels = Readonly<Record<string, string | number | undefined>>;
type Store = Pick<Services, 'metrics' | 'database' | 'clock'>;

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';

/**
 * What is counted, and from which of the counters that `GET /metrics` shows. The features count in memory, as they do
 * anyway: nothing here costs a request a statement.
 */
const sources = {
  signIns: { counter: 'signet_sign_ins_total', has: () => true },
  exchanges: {
    counter: 'signet_token_requests_total',
    has: ({ grant, outcome }: Labels) => grant === exchange && outcome === 'granted',
  },
  refusedExchanges: {
    counter: 'signet_token_requests_total',
    has: ({ grant, outcome }: Labels) => grant === exchange && outcome !== 'granted',
  },
  mutations: {
    counter: 'signet_mutations_total',
    has: ({ outcome }: Labels) => outcome === 'done',
  },
  deliveries: {
    counter: 'signet_webhook_attempts_total',
    has: ({ outcome }: Labels) => outcome === 'succeeded',
  },
  failedDeliveries: {
    counter: 'signet_webhook_attempts_total',
    has: ({ outcome }: Labels) => outcome !== 'succeeded',
  },
} as const;

/** What is counted. */
export type Figure = keyof typeof sources;

const figures = Object.keys(sources) as Figure[];

/** The figures of one minute, of all nodes together. */
export type MinuteFigures = { readonly at: Date } & Readonly<Record<Figure, number>>;

async function readCounters({ metrics }: Store): Promise<Record<Figure, number>> {
  const entries = figures.map(async (figure) => {
    const { counter, has } = sources[figure];
    const known = metrics.getSingleMetric(counter) as Counter | undefined;
    const { values } = (await known?.get()) ?? { values: [] };
    const count = values
      .filter(({ labels }) => has(labels))
      .reduce((sum, { value }) => sum + value, 0);
    return [figure, count] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<Figure, number>;
}

/** What a process has added so far, by its registry; and the adding that is under way. */
const added = new WeakMap<Services['metrics'], Promise<Record<Figure, number>>>();

const nothing = Object.fromEntries(figures.map((figure) => [figure, 0])) as Record<Figure, number>;

/** Adds what this process has counted since the last time to the figures of the current minute. */
export async function addFigures(store: Store): Promise<void> {
  const before = added.get(store.metrics) ?? Promise.resolve(nothing);
  // One after the other. After a failure the next one adds it all.
  const after = before.then((known) => addSince(store, known));
  added.set(
    store.metrics,
    after.catch(() => before),
  );
  await after;
}

async function addSince(
  store: Store,
  known: Record<Figure, number>,
): Promise<Record<Figure, number>> {
  const { database, clock } = store;
  const counted = await readCounters(store);
  // In one order on every node, so that two of them cannot wait for each other.
  const names = figures.filter((figure) => counted[figure] > known[figure]).sort();
  if (names.length === 0) return known;
  const counts = names.map((name) => counted[name] - known[name]);
  await database.prisma.$executeRaw`
    INSERT INTO "MinuteCount" ("minute", "name", "count")
    SELECT date_trunc('minute', ${clock.now()}::timestamptz), c."name", c."count"
      FROM unnest(${names}::text[], ${counts}::int[]) AS c ("name", "count")
    ON CONFLICT ("minute", "name") DO UPDATE SET "count" = "MinuteCount"."count" + excluded."count"`;
  return counted;
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

/** The figures of the last minutes, the current one included, oldest first; a minute in which nothing was done has zeros. */
export async function readFigures(store: Store, minutes: number): Promise<MinuteFigures[]> {
  const { database, clock } = store;
  await addFigures(store);
  const current = Math.floor(clock.now().getTime() / 60_000);
  const first = current - minutes + 1;
  const rows = await database.prisma.minuteCount.findMany({
    where: { minute: { gte: new Date(first * 60_000) } },
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
export async function purgeFigures(
  { clock }: Pick<Services, 'clock'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - keptMs);
  await tx.minuteCount.deleteMany({ where: { minute: { lt: before } } });
  return false;
}
