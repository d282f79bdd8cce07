import { expect, test } from 'vitest';
import { createProcessDatabase } from '../support/database.ts';
import { lossesOf, undergo } from '../support/nothing-lost.ts';
import { natsMissing } from '../support/peers/nats.ts';

// `npm run bench:nothing-lost` does it with 10,000 mutations and ten kills.
const mutations = 600;
const kills = 3;

const database = await createProcessDatabase();

const isOnServer = 'DATABASE_URL' in database;
const where = isOnServer ? 'two nodes are' : 'the service is';
const sink = natsMissing ? `no sink: ${natsMissing}` : 'a sink';

test(`loses and repeats nothing while ${where} killed under load (${sink})`, async () => {
  const findings = await undergo({
    environment: database,
    nodes: isOnServer ? 2 : 1,
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
