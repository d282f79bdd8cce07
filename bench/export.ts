// The export of a log of a million events: how long it takes, and how much the service's process grows. On Linux alone,
// which tells it in /proc. Without a PostgreSQL, only the embedded database is measured.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBenchDatabase } from './database.ts';
import { adminToken, memoryOf, type Service, startService } from './service-process.ts';

const events = process.env['BENCH_EVENTS'] ?? '1000000';
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const secret = 'a secret for the bench alone, long enough';
const seed = fileURLToPath(new URL('../scripts/seed.ts', import.meta.url));

/** Reads the whole log; returns how many lines and bytes came, in how many seconds. */
async function exportAll({ url }: Service) {
  const authorization = `Bearer ${await adminToken(url)}`;
  const start = performance.now();
  const response = await fetch(`${url}/api/events`, {
    headers: { authorization, accept: 'application/x-ndjson' },
  });
  if (!response.ok) throw new Error(await response.text());
  let [lines, bytes] = [0, 0];
  for await (const chunk of response.body ?? []) {
    const part = chunk as Uint8Array;
    bytes += part.length;
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) lines += 1;
  }
  return { lines, bytes, seconds: (performance.now() - start) / 1000 };
}

async function measure(name: string, environment: Record<string, string>) {
  const { status } = spawnSync(process.execPath, [seed, '--users', '10000', '--events', events], {
    env: { ...process.env, ...environment, SIGNET_SECRET: secret },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The log could not be filled.');
  const service = await startService(environment);
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const before = await memoryOf(service);
      const { lines, bytes, seconds } = await exportAll(service);
      const after = await memoryOf(service);
      process.stdout.write(
        `${name.padEnd(12)} round ${round}: ${lines} events, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s; RSS ${before.rss.toFixed(0)} MB before, ${after.rss.toFixed(0)} after, peak ${after.peak.toFixed(0)}\n`,
      );
    }
  } finally {
    await service.stop();
  }
}

const database = await createBenchDatabase();
if (database) {
  try {
    await measure('PostgreSQL', { DATABASE_URL: database.url });
  } finally {
    await database.drop();
  }
}
if (process.env['BENCH_EMBEDDED'] === 'off') process.exit();
const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
try {
  await measure('embedded', { DATABASE_URL: '', DATA_DIR: dataDir });
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
