import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import autocannon from 'autocannon';
import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { createBenchDatabase } from './database.ts';
import type { ClientRequest } from './event-clients.ts';
import type { SourceRequest } from './event-source.ts';
import { median } from './fire.ts';

// Events a second through the tail to 1, 100 and 1,000 subscribers, the time from commit to receipt, the cost of idle
// subscribers, and the cost of the log's insert to a mutation. The in-memory source is the reference: the same events
// to the same clients, by graphql-ws' own server.

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const warmSeconds = Number(process.env['BENCH_WARM_SECONDS'] ?? 30);
const appendRounds = Number(process.env['BENCH_APPEND_ROUNDS'] ?? 16);
const appendSeconds = Number(process.env['BENCH_APPEND_SECONDS'] ?? 2);
const isTailMeasured = process.env['BENCH_TAIL'] !== 'off';
/** Few enough events that no reader falls too far behind. */
const plans = [
  { subscribers: 1, burst: 5_000, paced: 300, everyMs: 10 },
  { subscribers: 100, burst: 1_000, paced: 300, everyMs: 10 },
  { subscribers: 1_000, burst: 100, paced: 60, everyMs: 100 },
];

const children: ChildProcess[] = [];

async function start(module: string, env: Record<string, string> = {}) {
  const child = fork(new URL(module, import.meta.url), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...env, NODE_ENV: 'production' },
  });
  children.push(child);
  return { child, hello: await answerOf<Hello>(child) };
}

interface Hello {
  readonly url: string;
  readonly credentials?: { readonly id: string; readonly secret: string };
}

async function answerOf<Result>(child: ChildProcess): Promise<Result> {
  const ended = new AbortController();
  const onExit = (code: number | null) => ended.abort(new Error(`A process ended with ${code}.`));
  child.once('exit', onExit);
  const [{ result }] = await once(child, 'message', { signal: ended.signal });
  child.off('exit', onExit);
  return result as Result;
}

function tell<Result>(
  child: ChildProcess,
  request: SourceRequest | ClientRequest,
): Promise<Result> {
  const answer = answerOf<Result>(child);
  child.send(request);
  return answer;
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function tokenOf({ url, credentials }: Hello): Promise<string> {
  if (!credentials) return '';
  return fetchManagementToken({ url }, credentials);
}

interface Figures {
  /** Events a second that each subscriber gets, from the commit of all to the last receipt. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** The memory of idle subscribers, in bytes. */
  readonly rss: number;
  readonly heap: number;
}

async function measure(
  source: ChildProcess,
  clients: ChildProcess,
  hello: Hello,
  plan: (typeof plans)[number],
): Promise<Figures> {
  const { subscribers: count, burst, paced, everyMs } = plan;
  const token = await tokenOf(hello);
  const memory = () => tell<NodeJS.MemoryUsage>(source, { kind: 'memory' });
  const connect = async (subscribers: number) => {
    const after = await tell<string>(source, { kind: 'end' });
    await tell(clients, { kind: 'connect', url: hello.url, token, count: subscribers, after });
    await tell(source, { kind: 'subscribers', count: subscribers });
  };
  const disconnect = async () => {
    await tell(clients, { kind: 'disconnect' });
    await tell(source, { kind: 'subscribers', count: 0 });
  };
  const send = async (events: number, every?: number) => {
    await tell(clients, { kind: 'expect', events });
    const committedAt = await tell<number[]>(source, {
      kind: 'write',
      events,
      ...(every === undefined ? {} : { everyMs: every }),
    });
    return { committedAt, receivedAt: await tell<number>(clients, { kind: 'received' }) };
  };
  // The first subscriptions compile and cache code, which must not count as the cost of one more.
  await connect(Math.min(count, 20));
  await send(200);
  await disconnect();

  const before = await memory();
  await connect(count);
  const idle = await memory();
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { committedAt, receivedAt } = await send(burst);
    rates.push(burst / ((receivedAt - (committedAt[0] ?? Number.NaN)) / 1000));
  }
  const { committedAt } = await send(paced, everyMs);
  const latency = await tell<{ p50: number; p99: number }>(clients, {
    kind: 'latency',
    committedAt,
  });
  await disconnect();
  return {
    ...latency,
    rate: median(rates),
    rss: idle.rss - before.rss,
    heap: idle.heapUsed + idle.external - before.heapUsed - before.external,
  };
}

async function fire(
  hello: Hello,
  connections: number,
  duration: number,
): Promise<{ rate: number }> {
  const result = await autocannon({
    url: hello.url,
    connections,
    duration,
    requests: [
      {
        method: 'POST',
        path: '/graphql',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await tokenOf(hello)}`,
        },
        body: JSON.stringify({
          query: 'mutation { createUser(input: { name: "Bench" }) { __typename } }',
        }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error('A mutation was refused.');
  return { rate: result.requests.total / result.duration };
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

const sources = {
  'graphql-ws, in memory': { module: './event-server-in-memory.ts', isOnPostgresql: false },
  'Signet, embedded': { module: './event-server.ts', isOnPostgresql: false },
  'Signet on PostgreSQL': { module: './event-server.ts', isOnPostgresql: true },
};

async function throughTheTail(): Promise<void> {
  const table: Record<string, object> = {};
  for (const plan of plans) {
    const found: [string, Figures][] = [];
    for (const [name, { module, isOnPostgresql }] of Object.entries(sources)) {
      const database = isOnPostgresql ? await createBenchDatabase() : undefined;
      if (isOnPostgresql && !database) continue;
      try {
        const { child, hello } = await start(module, {
          DATABASE_URL: database?.url ?? '',
          SIGNET_SECRET: 'a secret for the bench alone, long enough',
        });
        const { child: clients } = await start('./event-clients.ts');
        const figures = await measure(child, clients, hello, plan);
        // A line as soon as it is known; the table comes at the end.
        console.log(`${plan.subscribers} × ${name}:`, JSON.stringify(figures));
        found.push([name, figures]);
        await Promise.all([stop(clients), stop(child)]);
      } finally {
        await database?.drop();
      }
    }
    const [, base] = found[0] ?? [];
    for (const [name, { rate, p50, p99, rss, heap }] of found) {
      table[`${plan.subscribers} × ${name}`] = {
        'events/s': Math.round(rate),
        'frames/s': Math.round(rate * plan.subscribers),
        'to in-memory': base ? (rate / base.rate).toFixed(2) : '',
        'p50 ms': p50.toFixed(1),
        'p99 ms': p99.toFixed(1),
        'idle RSS MB': megabytes(rss),
        'idle heap MB': megabytes(heap),
      };
    }
  }
  console.table(table);
}

async function appendOverhead(name: string, urls: readonly [string, string]): Promise<void> {
  const withIt = await start('./event-append-server.ts', { DATABASE_URL: urls[0] });
  const without = await start('./event-append-server.ts', {
    DATABASE_URL: urls[1],
    BENCH_APPEND: 'off',
  });
  for (const { hello } of [withIt, without]) await fire(hello, 16, warmSeconds);
  const table: Record<string, object> = {};
  for (const connections of [1, 16]) {
    // In turns, each first as often as second. The machine's pace changes more than what is looked for.
    const pairs: { logged: number; bare: number }[] = [];
    for (let round = 0; round < appendRounds; round += 1) {
      const rate = async ({ hello }: typeof withIt) =>
        (await fire(hello, connections, appendSeconds)).rate;
      const first = round % 2 === 0 ? await rate(withIt) : undefined;
      const bare = await rate(without);
      pairs.push({ logged: first ?? (await rate(withIt)), bare });
    }
    table[`${name}, ${connections} connections`] = {
      'createUser/s': median(pairs.map(({ logged }) => logged)).toFixed(0),
      'without the insert': median(pairs.map(({ bare }) => bare)).toFixed(0),
      'overhead %': (median(pairs.map(({ logged, bare }) => bare / logged - 1)) * 100).toFixed(1),
    };
  }
  console.table(table);
  await Promise.all([stop(withIt.child), stop(without.child)]);
}

try {
  if (isTailMeasured) await throughTheTail();
  await appendOverhead('Embedded', ['', '']);
  const [first, second] = [await createBenchDatabase(), await createBenchDatabase()];
  if (first && second) {
    try {
      await appendOverhead('PostgreSQL', [first.url, second.url]);
    } finally {
      for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
      await Promise.all([first.drop(), second.drop()]);
    }
  }
} finally {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
}
