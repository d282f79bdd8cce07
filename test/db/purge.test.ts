import { pino } from 'pino';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createPurge, purgeBatchSize } from '../../src/db/purge.ts';
import { quietTransaction } from '../../src/db/transaction.ts';
import { createTestDatabase } from '../support/database.ts';
import { createTestClock } from '../support/service.ts';

const { database, close } = await createTestDatabase();
afterAll(close);
const { prisma } = database;
const hour = 3_600_000;
const day = 24 * hour;
const logged: unknown[] = [];
const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });

beforeEach(async () => {
  await prisma.revokedToken.deleteMany();
  logged.length = 0;
});

/** Adds rows that expired that long ago. */
const add = async (ago: number, count = 1) => {
  const expiresAt = new Date(Date.now() - ago);
  const data = Array.from({ length: count }, (_, i) => ({ jti: `${ago} ${i}`, expiresAt }));
  await prisma.revokedToken.createMany({ data });
};
const left = async () =>
  (await prisma.revokedToken.findMany({ orderBy: { expiresAt: 'asc' } })).map(({ jti }) => jti);

/** A node: its purge of one table, run as the scheduler runs it. */
function startNode(clock = createTestClock(), keptMs = 0) {
  const purge = createPurge({ clock, log }, { table: 'RevokedToken', column: 'expiresAt', keptMs });
  return async () => {
    let batches = 1;
    while (await quietTransaction(database, purge)) batches += 1;
    return batches;
  };
}

test('deletes what is due, and nothing before', async () => {
  await add(2 * hour);
  await add(-hour);
  await startNode(undefined, 3 * hour)();
  expect(await left()).toHaveLength(2);
  await startNode()();
  expect(await left()).toEqual([`${-hour} 0`]);
  expect(logged).toEqual([]);
});

test.each([
  ['ahead', 365 * day, -hour],
  ['behind', -365 * day, hour],
])('a node whose clock is a year %s deletes nothing early', async (_where, offset, ago) => {
  const clock = createTestClock();
  clock.advance(offset);
  await add(ago);
  await startNode(clock)();
  expect(await left()).toHaveLength(1);
});

test('deletes a day at once, and says that there is more', async () => {
  for (const days of [9, 8.5, 7.5, 1]) await add(days * day);
  const run = startNode();
  await run();
  const afterFirst = [`${7.5 * day} 0`, `${day} 0`];
  expect(await left()).toEqual(afterFirst);
  expect(logged).toMatchObject([{ level: 40, table: 'RevokedToken' }]);
  await run();
  expect(await left()).toEqual(afterFirst);
  await startNode()();
  expect(await left()).toEqual([`${day} 0`]);
});

test('a backlog in batches does not move the day on', async () => {
  await add(9 * day, purgeBatchSize + 1);
  await add(7 * day, purgeBatchSize + 1);
  expect(await startNode()()).toBe(2);
  expect(await prisma.revokedToken.count()).toBe(purgeBatchSize + 1);
});
