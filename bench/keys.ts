import autocannon from 'autocannon';
import { createBenchDatabase } from './database.ts';
import { fire, median } from './fire.ts';
import { createHolder } from './key-holder.ts';
import { type BenchServer, startServer } from './server.ts';

// What an exchange costs with `private_key_jwt` and a DPoP proof, beside the plain one with a secret: the CPU time of
// the server for each. Both go to one process, in turns, in short rounds, each before the other as often as after it. A
// figure is the median of the rounds' ratios. The clients sign in this process, so the rates say little.

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 8);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const warmSeconds = Number(process.env['BENCH_WARM_SECONDS'] ?? 10);
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 16);

type Way = 'plain' | 'keys';
const ways: readonly Way[] = ['plain', 'keys'];

/** Sends exchanges for so many seconds. Returns the server's CPU time for each, in milliseconds, and the rate. */
async function exchange(server: BenchServer, way: Way, duration: number) {
  const before = await server.cpuMs();
  const result = await (way === 'plain'
    ? fire(server, connections, duration)
    : fireWithKeys(server, duration));
  const cpuMs = (await server.cpuMs()) - before;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${way}: ${result.non2xx} refusals and ${result.errors} errors.`);
  const { total } = result.requests;
  return { cpuMs: cpuMs / total, rate: total / result.duration };
}

const holders = new Map<BenchServer, ReturnType<typeof createHolder>>();
let count = 0;

function fireWithKeys(server: BenchServer, duration: number) {
  const { url, path, bodies } = server.load;
  const holder = holders.get(server) ?? createHolder(server.load);
  holders.set(server, holder);
  return autocannon({
    url,
    connections,
    duration,
    requests: [
      {
        method: 'POST',
        path,
        headers: {},
        setupRequest: (request) => {
          count += 1;
          return { ...request, ...holder.request(bodies[count % bodies.length] ?? '') };
        },
      },
    ],
  });
}

const servers = new Map<string, BenchServer>();
const database = await createBenchDatabase();
try {
  if (database) {
    const secret = 'a secret for the bench alone, long enough';
    const environment = { DATABASE_URL: database.url, SIGNET_SECRET: secret };
    servers.set('Signet on PostgreSQL', await startServer('./server-signet.ts', environment));
  }
  servers.set('Signet, embedded', await startServer('./server-signet.ts', { DATABASE_URL: '' }));
  servers.set('oidc-provider, in memory', await startServer('./server-oidc-provider.ts'));

  const figures = new Map<string, Record<Way, { cpuMs: number; rate: number }>[]>();
  for (const [name, server] of servers) {
    figures.set(name, []);
    for (const way of ways) await exchange(server, way, warmSeconds);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, server] of servers) {
      const found: Partial<Record<Way, { cpuMs: number; rate: number }>> = {};
      for (const way of round % 2 === 0 ? ways : ways.toReversed())
        found[way] = await exchange(server, way, seconds);
      figures.get(name)?.push(found as Record<Way, { cpuMs: number; rate: number }>);
    }
  }

  process.stdout.write(
    `\n${'exchanges'.padEnd(26)}  plain: CPU ms  req/s   keys: CPU ms  req/s   CPU, keys of plain\n`,
  );
  for (const [name, all] of figures) {
    const of = (way: Way, figure: 'cpuMs' | 'rate') => median(all.map((one) => one[way][figure]));
    process.stdout.write(
      `${[
        name.padEnd(26),
        of('plain', 'cpuMs').toFixed(3).padStart(14),
        of('plain', 'rate').toFixed(0).padStart(6),
        of('keys', 'cpuMs').toFixed(3).padStart(14),
        of('keys', 'rate').toFixed(0).padStart(6),
        median(all.map(({ keys, plain }) => keys.cpuMs / plain.cpuMs))
          .toFixed(2)
          .padStart(20),
      ].join(' ')}\n`,
    );
  }
} finally {
  for (const server of servers.values()) await server.stop();
  await database?.drop();
}
