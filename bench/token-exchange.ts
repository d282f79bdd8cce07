import { createBenchDatabase } from './database.ts';
import { fire, median } from './fire.ts';
import { type BenchServer, startServer } from './server.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4);
const connectionCounts = (process.env['BENCH_CONNECTIONS'] ?? '1,16,64').split(',').map(Number);

/** The figures of one server at one number of connections, for each round. */
interface Figures {
  readonly rates: number[];
  readonly p50s: number[];
  readonly p99s: number[];
  /** The CPU time of the server's process for each exchange, in milliseconds. */
  readonly cpus: number[];
}

async function exchange(server: BenchServer, connections: number, duration: number) {
  const before = await server.cpuMs();
  const result = await fire(server, connections, duration);
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${server.load.url}: ${result.non2xx} refusals and ${result.errors} errors.`);
  }
  return { ...result, cpuMs: ((await server.cpuMs()) - before) / result.requests.total };
}

// The servers take turns in short rounds, so that other load on the machine affects all of them alike.
async function measure(servers: ReadonlyMap<string, BenchServer>, connections: number) {
  const figures = new Map<string, Figures>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, server] of servers) {
      const none: Figures = { rates: [], p50s: [], p99s: [], cpus: [] };
      const { rates, p50s, p99s, cpus } = figures.get(name) ?? none;
      const result = await exchange(server, connections, seconds);
      rates.push(result.requests.total / result.duration);
      p50s.push(result.latency.p50);
      p99s.push(result.latency.p99);
      cpus.push(result.cpuMs);
      figures.set(name, { rates, p50s, p99s, cpus });
    }
  }
  return figures;
}

const [bare, library] = ['bare node:http and jose', 'oidc-provider, in memory'];
const servers = new Map<string, BenchServer>();
const database = await createBenchDatabase();
try {
  if (database) {
    servers.set(
      'Signet on PostgreSQL',
      await startServer('./server-signet.ts', {
        DATABASE_URL: database.url,
        SIGNET_SECRET: 'a secret for the bench alone, long enough',
      }),
    );
  }
  servers.set('Signet, embedded', await startServer('./server-signet.ts', { DATABASE_URL: '' }));
  servers.set(library, await startServer('./server-oidc-provider.ts'));
  servers.set(bare, await startServer('./server-bare.ts'));

  for (const server of servers.values()) await exchange(server, 16, 2);
  process.stdout.write(
    `\n${'exchanges'.padEnd(28)} connections   req/s  p50 ms  p99 ms  CPU ms each  of oidc-provider  of bare\n`,
  );
  for (const connections of connectionCounts) {
    const figures = await measure(servers, connections);
    const rateOf = (name: string) => median(figures.get(name)?.rates ?? []);
    for (const [name, { rates, p50s, p99s, cpus }] of figures) {
      const rate = median(rates);
      process.stdout.write(
        `${[
          name.padEnd(28),
          String(connections).padStart(11),
          rate.toFixed(0).padStart(7),
          median(p50s).toFixed(0).padStart(7),
          median(p99s).toFixed(0).padStart(7),
          median(cpus).toFixed(3).padStart(12),
          (rate / rateOf(library)).toFixed(2).padStart(17),
          (rate / rateOf(bare)).toFixed(2).padStart(8),
        ].join(' ')}\n`,
      );
    }
  }
} finally {
  for (const server of servers.values()) await server.stop();
  await database?.drop();
}
