import { administer } from '../test/support/peers/postgresql/administer.ts';
import { createBenchDatabase } from './database.ts';
import { median } from './fire.ts';
import { fire, type Round } from './mutation-load.ts';
import { type BenchServer, startServer } from './server.ts';

// What a mutation costs for what it does not use: a key, a version, a dry run. Two whole services, one of them without
// all that, take turns in short rounds, each before the other as often as after it. Two processes with the same code
// differ by more than is looked for, so both start anew several times. A figure is the median of the rounds' ratios.

const starts = Number(process.env['BENCH_STARTS'] ?? 4);
const warmSeconds = Number(process.env['BENCH_WARM_SECONDS'] ?? 15);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 6);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const connections = 16;
const names = ['createUser', 'updateUser'] as const;

interface Side {
  readonly file: string;
}
const whole: Side = { file: './server-mutations.ts' };
const bare: Side = {
  // `same` shows what this bench finds between two that do not differ.
  file: process.env['BENCH_PEER'] === 'same' ? whole.file : './without-safe-writes.ts',
};

const pairs = new Map(names.map((name) => [name, [] as { whole: Round; bare: Round }[]]));
for (let start = 0; start < starts; start += 1) {
  const sides = start % 2 === 0 ? [whole, bare] : [bare, whole];
  const databases: Awaited<ReturnType<typeof createBenchDatabase>>[] = [];
  const servers = new Map<Side, BenchServer>();
  try {
    for (const side of sides) {
      const database = await createBenchDatabase();
      databases.push(database);
      const secret = 'a secret for the bench alone, long enough';
      const env = { SIGNET_SECRET: secret, ...(database && { DATABASE_URL: database.url }) };
      servers.set(side, await startServer(side.file, env));
      if (side.file !== whole.file && database) {
        await administer(database.url, 'DROP TRIGGER "User_version" ON "User"');
      }
    }
    const once = (side: Side, name: string, duration = seconds) =>
      fire(servers.get(side) as BenchServer, name, connections, duration);
    for (const name of names) {
      for (const side of sides) await once(side, name, warmSeconds);
      for (let round = 0; round < rounds; round += 1) {
        const found = new Map<Side, Round>();
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          found.set(side, await once(side, name));
        }
        pairs.get(name)?.push({
          whole: found.get(whole) as Round,
          bare: found.get(bare) as Round,
        });
      }
    }
  } finally {
    for (const server of servers.values()) await server.stop();
    for (const database of databases) await database?.drop();
  }
}
for (const [name, rows] of pairs) {
  const ratio = (figure: keyof Round) =>
    median(rows.map((row) => row.whole[figure] / row.bare[figure])).toFixed(3);
  process.stdout.write(
    `${name}: ${ratio('cpuMs')} of the CPU and ${ratio('rate')} of the rate without\n`,
  );
}
