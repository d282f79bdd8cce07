import { pino } from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { lockName } from '../src/db/lock.ts';
import { quietTransaction } from '../src/db/transaction.ts';
import { startScheduler } from '../src/scheduler.ts';
import { createTestDatabase } from './support/database.ts';
import { eventually } from './support/wait.ts';

const { database, close } = await createTestDatabase();
afterAll(close);

const logged: { job?: string }[] = [];
const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });

function start(...jobs: Parameters<typeof startScheduler>[1]) {
  const stop = startScheduler({ database, log }, jobs);
  onTestFinished(stop);
  return stop;
}

test('runs a job to its end in small transactions', async () => {
  let left = 3;
  const transactions = new Set<unknown>();
  start({
    name: 'three parts',
    everyMs: 1,
    async run(tx) {
      transactions.add(tx);
      left -= 1;
      return left > 0;
    },
  });
  await eventually(() => expect(left).toBeLessThanOrEqual(0));
  expect(transactions.size).toBeGreaterThanOrEqual(3);
});

test('logs a failed job, and runs it again later', async () => {
  let runs = 0;
  start({
    name: 'faulty',
    everyMs: 1,
    async run() {
      runs += 1;
      throw new Error('on purpose');
    },
  });
  await eventually(() => expect(runs).toBeGreaterThan(1));
  await eventually(() => expect(logged.some(({ job }) => job === 'faulty')).toBe(true));
});

test('waits for running work when it stops', async () => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let isDone = false;
  const stop = start({
    name: 'long',
    everyMs: 1,
    async run() {
      begun.resolve();
      await release.promise;
      isDone = true;
      return true;
    },
  });
  await begun.promise;
  const stopped = stop();
  release.resolve();
  await stopped;
  expect(isDone).toBe(true);
});

test('skips a job that another node is running', async () => {
  let runs = 0;
  const job = {
    name: 'shared',
    everyMs: 1,
    async run() {
      runs += 1;
      return false;
    },
  };
  // On the embedded database there is no other node: there it waits for the one connection.
  await quietTransaction(database, async (tx) => {
    await lockName(tx, 'signet:job:shared');
    const stop = start(job);
    let others = 0;
    const stopOthers = start({
      name: 'others',
      everyMs: 1,
      async run() {
        others += 1;
        return false;
      },
    });
    if (database.kind === 'postgresql') await eventually(() => expect(others).toBeGreaterThan(1));
    expect(runs).toBe(0);
    void stop();
    void stopOthers();
  });
  start(job);
  await eventually(() => expect(runs).toBeGreaterThan(0));
});
