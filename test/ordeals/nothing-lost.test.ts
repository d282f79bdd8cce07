import { expect, test } from 'vitest';
import { createProcessDatabase } from '../support/database.ts';
import { lossesOf, undergo } from '../support/nothing-lost.ts';
import { natsMissing } from '../support/peers/nats.ts';

// `npm run bench:nothing-lost` does it with 10,000 mutations and ten kills.
const mutations = 300;
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
    isKeyed: true,
  });
  expect(findings.refused).toEqual([]);
  // Each key made one change with one event, though answers were lost and asked for again.
  expect(findings.broken).toBeGreaterThan(0);
  expect(findings.logged.toSorted()).toEqual(findings.acknowledged.toSorted());
  expect(findings.acknowledged.length).toBeGreaterThanOrEqual(mutations);
  expect(findings.kills).toBe(kills);
  expect(findings.disconnections).not.toEqual([]);
  expect(Object.entries(lossesOf(findings)).filter(([, count]) => count !== 0)).toEqual([]);
});

test.runIf(isOnServer)(
  'loses and repeats nothing while workers are killed, the one that does the background work each time',
  async () => {
    const findings = await undergo({
      environment: await createProcessDatabase(),
      nodes: 1,
      workers: 2,
      mutations,
      kills,
      hasSink: natsMissing === undefined,
    });
    expect(findings.refused).toEqual([]);
    expect(findings.acknowledged.length).toBeGreaterThanOrEqual(mutations);
    expect(findings.kills).toBe(kills);
    expect(Object.entries(lossesOf(findings)).filter(([, count]) => count !== 0)).toEqual([]);
  },
);
