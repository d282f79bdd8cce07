import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from './support/database.ts';
import { lossesOf, undergo } from './support/nothing-lost.ts';
import { natsMissing } from './support/peers/nats.ts';

// `npm run bench:nothing-lost` does it with 10,000 mutations and ten kills.
const mutations = 600;
const kills = 3;

const { url: DATABASE_URL, close } = await createTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'signet-nothing-lost-'));
afterAll(async () => {
  await close();
  await rm(dataDir, { recursive: true, force: true });
});

const where = DATABASE_URL ? 'two nodes are' : 'the service is';
const sink = natsMissing ? `no sink: ${natsMissing}` : 'a sink';

test(`loses and repeats nothing while ${where} killed under load (${sink})`, async () => {
  const findings = await undergo({
    environment: DATABASE_URL ? { DATABASE_URL } : { DATA_DIR: dataDir },
    nodes: DATABASE_URL ? 2 : 1,
    mutations,
    kills,
    hasSink: natsMissing === undefined,
  });
  expect(findings.refused).toEqual([]);
  expect(findings.acknowledged.length).toBeGreaterThanOrEqual(mutations);
  expect(findings.kills).toBe(kills);
  expect(findings.reconnects).toBeGreaterThan(0);
  expect(Object.entries(lossesOf(findings)).filter(([, count]) => count !== 0)).toEqual([]);
}, 300_000);
