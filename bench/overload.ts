// Too much: what the service does of the work that it can carry, at one, two and five times that, and how long what it
// accepts takes from the moment it was due. The requests come whether or not earlier ones were answered. What it can
// carry is measured before and after each round, because other work on the machine comes and goes. `useful` is the part
// of its CPU time that the accepted requests would have taken without an overload: it moves less than the rates.
import { createBenchDatabase } from './database.ts';
import { fireClosedLoop, fireOpenLoop, type OpenLoopResult, requestOf } from './open-loop.ts';
import { type BenchServer, startServer } from './server.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 8);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const warmSeconds = Number(process.env['BENCH_WARM_SECONDS'] ?? 20);
const times = (process.env['BENCH_TIMES'] ?? '1,2,5').split(',').map(Number);
const profile = process.env['BENCH_PROFILE'];
const connections = 64;

const document = `mutation createUser($input: CreateUserInput!) {
  createUser(input: $input) { ... on CreateUserPayload { user { id username name createdAt } } } }`;
const run = Date.now().toString(36);
let number = 0;

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function createUser({ load: { url, path, headers } }: BenchServer): () => string {
  const at = new URL(url);
  return () => {
    number += 1;
    const input = { username: `user_${run}_${number}`, name: `User ${number}` };
    return requestOf(at, path, headers, JSON.stringify({ query: document, variables: { input } }));
  };
}

interface Round extends OpenLoopResult {
  readonly due: number;
  readonly ofCarried: number;
  readonly useful: number;
}

async function measure(server: BenchServer, next: () => string, load: number): Promise<Round> {
  const { url } = server.load;
  const withCpu = async <T>(work: () => Promise<T>): Promise<[result: T, cpuMs: number]> => {
    const before = await server.cpuMs();
    const result = await work();
    return [result, (await server.cpuMs()) - before];
  };
  const carry = async () => {
    const part = seconds / 2;
    const [rate, cpuMs] = await withCpu(() =>
      fireClosedLoop(url, next, { connections, seconds: part }),
    );
    return { rate, eachMs: cpuMs / (rate * part) };
  };
  const before = await carry();
  const due = before.rate * load;
  const [result, cpuMs] = await withCpu(() => fireOpenLoop(url, next, { rate: due, seconds }));
  const after = await carry();
  const eachMs = (before.eachMs + after.eachMs) / 2;
  return {
    ...result,
    due,
    ofCarried: result.accepted / ((before.rate + after.rate) / 2),
    useful: (result.accepted * seconds * eachMs) / cpuMs,
  };
}

const columns = {
  due: 0,
  accepted: 0,
  ofCarried: 2,
  useful: 2,
  p50: 0,
  p99: 0,
  refused: 0,
  refusedP99: 0,
  failed: 0,
  connections: 0,
  lateMs: 0,
} as const satisfies Partial<Record<keyof Round, number>>;
const names = Object.keys(columns) as (keyof typeof columns)[];
const line = (load: string, cells: readonly string[]) =>
  process.stdout.write(`${load.padStart(8)}${cells.map((cell) => cell.padStart(12)).join('')}\n`);

const database = await createBenchDatabase();
let server: BenchServer | undefined;
if (database) {
  try {
    server = await startServer('./server-mutations.ts', {
      DATABASE_URL: database.url,
      SIGNET_SECRET: 'a secret for the bench alone, long enough',
      MAX_QUEUE_MS: '1000',
      ...(profile ? { BENCH_PROFILE: profile } : {}),
    });
    const next = createUser(server);
    await fireClosedLoop(server.load.url, next, { connections, seconds: warmSeconds });
    line('', names);
    const all = new Map<number, Round[]>(times.map((load) => [load, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const load of times) {
        const found = await measure(server, next, load);
        all.get(load)?.push(found);
        line(
          `${load}x`,
          names.map((name) => found[name].toFixed(columns[name])),
        );
      }
    }
    process.stdout.write('\nmedians\n');
    for (const [load, found] of all) {
      const of = (name: keyof typeof columns) => median(found.map((one) => one[name]));
      line(
        `${load}x`,
        names.map((name) => of(name).toFixed(columns[name])),
      );
    }
  } finally {
    await server?.stop();
    await database.drop();
  }
}
