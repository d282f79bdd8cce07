import { createBenchDatabase } from './database.ts';
import { fire, median } from './fire.ts';
import { type BenchServer, startServer } from './server.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4);
const connections = 16;

/** Sends refused exchanges; returns how many were answered in a second, and the server's CPU time for each. */
async function refuse(server: BenchServer, seconds: number) {
  const before = await server.cpuMs();
  const { errors, non2xx, duration } = await fire(server, connections, seconds);
  if (errors > 0 || non2xx === 0) throw new Error(`${server.load.url}: ${errors} errors.`);
  return { rate: non2xx / duration, cpuMs: ((await server.cpuMs()) - before) / non2xx };
}

const database = await createBenchDatabase();
if (database) {
  const environment = {
    DATABASE_URL: database.url,
    SIGNET_SECRET: 'a secret for the bench alone, long enough',
  };
  const servers = [
    await startServer('./server-refusals.ts', environment),
    await startServer('./server-refusals.ts', { ...environment, BENCH_UNTOLD: 'yes' }),
  ] as const;
  try {
    for (const server of servers) await refuse(server, 5);
    const found: { rate: number; cpuMs: number }[] = [];
    process.stdout.write(
      '\nrefused exchanges by 16, told and untold in turns\nround   told/s  untold/s  CPU ms  CPU ms  ratio of CPU\n',
    );
    for (let round = 1; round <= rounds; round += 1) {
      const told = await refuse(servers[0], seconds);
      const untold = await refuse(servers[1], seconds);
      const cpuMs = told.cpuMs / untold.cpuMs;
      found.push({ rate: told.rate / untold.rate, cpuMs });
      process.stdout.write(
        `${String(round).padStart(5)} ${told.rate.toFixed(0).padStart(8)} ${untold.rate.toFixed(0).padStart(9)} ${told.cpuMs.toFixed(3).padStart(7)} ${untold.cpuMs.toFixed(3).padStart(7)} ${cpuMs.toFixed(3).padStart(13)}\n`,
      );
    }
    process.stdout.write(
      `median of the ratios: rate ${median(found.map(({ rate }) => rate)).toFixed(3)}, CPU ${median(found.map((one) => one.cpuMs)).toFixed(3)}\n`,
    );
  } finally {
    for (const server of servers) await server.stop();
    await database.drop();
  }
}
