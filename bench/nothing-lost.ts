import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lossesOf, type Ordeal, undergo } from '../test/support/nothing-lost.ts';
import { natsMissing } from '../test/support/peers/nats.ts';
import { createBenchDatabase } from './database.ts';

// Whether anything is lost or repeated while the service is killed with -9 ten times, during 10,000 mutations on 16
// connections: embedded, and with two nodes on PostgreSQL.

const mutations = Number(process.env['BENCH_MUTATIONS'] ?? 10_000);
const kills = Number(process.env['BENCH_KILLS'] ?? 10);
const isEmbeddedToo = process.env['BENCH_EMBEDDED'] !== 'off';

async function run(name: string, about: Pick<Ordeal, 'environment' | 'nodes'>): Promise<void> {
  const findings = await undergo({
    ...about,
    mutations,
    kills,
    hasSink: natsMissing === undefined,
  });
  const losses = lossesOf(findings);
  const { log, webhook, subscriber, sink } = findings;
  console.log(`\n${name}`);
  console.table({
    'kills with -9': findings.kills,
    'mutations acknowledged': findings.acknowledged.length,
    'mutations refused': findings.refused.length,
    'mutations whose connection broke': findings.broken,
    'events in the log': log.length,
    'messages to the webhook': webhook.length,
    'events seen by the subscriber': subscriber.length,
    'reconnects of the subscriber': findings.disconnections.length,
    'messages in the sink': sink?.length ?? natsMissing,
    'seconds of mutations': Math.round(findings.mutationSeconds),
    'seconds until all had come': Math.round(findings.settleSeconds),
    ...losses,
  });
  const isGood =
    Object.values(losses).every((count) => count === 0) &&
    findings.refused.length === 0 &&
    findings.acknowledged.length >= mutations &&
    findings.kills === kills;
  if (!isGood) process.exitCode = 1;
}

const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const database = await createBenchDatabase();
try {
  if (isEmbeddedToo) {
    await run('Embedded, one process', { environment: { DATA_DIR: dataDir }, nodes: 1 });
  }
  if (database) {
    await run('PostgreSQL, two nodes', { environment: { DATABASE_URL: database.url }, nodes: 2 });
  }
} finally {
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
}
