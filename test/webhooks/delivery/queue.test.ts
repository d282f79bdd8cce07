import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  claimDeliveries,
  leaseMs,
  type RecordedAttempt,
  recordAttempts,
  releaseDeliveries,
  renewLeases,
} from '../../../src/webhooks/delivery/queue.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// What two nodes do with one queue, a statement at a time.

let testDatabase: TestDatabase;
const start = new Date('2026-01-01T00:00:00Z');
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds);

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.close());

beforeEach(async () => {
  const { prisma } = testDatabase.database;
  await prisma.webhook.deleteMany();
  await prisma.deliveryLease.deleteMany();
  await prisma.webhook.create({
    data: {
      id: 'hook',
      name: 'A webhook',
      url: 'https://example.com',
      maxInFlight: 3,
      createdAt: start,
      updatedAt: start,
    },
  });
  await prisma.delivery.createMany({
    data: ['1', '2', '3', '4', '5'].map((id) => ({
      id,
      webhookId: 'hook',
      eventId: `evt_${id}`,
      eventType: 'User.Created',
      nextAttemptAt: start,
      createdAt: start,
      updatedAt: start,
    })),
  });
});

interface About {
  readonly now?: Date;
  readonly ids?: string[];
  readonly ended?: number;
}

const look = (node: string, { now = start, ids = [], ended = 0 }: About = {}) =>
  claimDeliveries(testDatabase.database, {
    node,
    now,
    underWay: { hook: { ids, ended } },
    webhookIds: ['hook'],
    room: 100,
  });

async function claim(node: string, about?: About): Promise<string[]> {
  const { claimed } = await look(node, about);
  return claimed.map(({ id }) => id).sort();
}

const record = (node: string, now: Date, id: string, outcome: Partial<RecordedAttempt> = {}) =>
  recordAttempts(testDatabase.database, node, now, [
    {
      id,
      webhookId: 'hook',
      revision: 1,
      attemptCount: 0,
      countsForEndpoint: true,
      status: 'SUCCEEDED',
      nextAttemptAt: null,
      queryResult: null,
      at: now,
      durationMs: 1,
      statusCode: 204,
      responseBody: '',
      error: null,
      ...outcome,
    },
  ]);

const stateOf = (id: string) =>
  testDatabase.database.prisma.delivery.findUniqueOrThrow({
    where: { id },
    select: { status: true, attemptCount: true },
  });

test('gives two nodes no more together than the webhook allows', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  expect(await claim('b')).toEqual([]);
  await record('a', start, '2');
  expect(await claim('b')).toEqual(['4']);
  expect(await claim('a', { ids: ['1', '3'] })).toEqual([]);
  await record('a', start, '1');
  await record('a', start, '3');
  expect(await claim('b', { ids: ['4'] })).toEqual(['5']);
});

test('takes from each webhook in turn, even without room', async () => {
  const { prisma } = testDatabase.database;
  await prisma.webhook.create({
    data: {
      id: 'later',
      name: 'Later',
      url: 'https://example.com',
      createdAt: start,
      updatedAt: start,
    },
  });
  await prisma.delivery.createMany({
    data: ['6', '7', '8'].map((id) => ({
      id,
      webhookId: 'later',
      eventId: `evt_${id}`,
      eventType: 'User.Created',
      nextAttemptAt: after(10),
      createdAt: start,
      updatedAt: start,
    })),
  });
  const claimWith = async (room: number, underWay: string[] = []) => {
    const { claimed } = await claimDeliveries(testDatabase.database, {
      node: 'a',
      now: after(10),
      underWay: { hook: { ids: underWay, ended: 0 } },
      webhookIds: undefined,
      room,
    });
    return claimed.map(({ id }) => id).sort();
  };
  expect(await claimWith(0, ['1', '2'])).toEqual(['6', '7']);
  await prisma.deliveryLease.deleteMany();
  expect(await claimWith(5)).toEqual(['1', '2', '3', '6', '7']);
});

test('ended deliveries free room, but stay claimed until recorded', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  expect(await claim('a', { ids: ['1', '2', '3'], ended: 2 })).toEqual(['4', '5']);
  expect(await claim('b')).toEqual([]);
  // The record came first, and the claim beside it did not know: the node has it no more all the same.
  await record('a', start, '1');
  expect(await claim('b')).toEqual([]);
  expect(await stateOf('1')).toEqual({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('a node claims its own due delivery again at once', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  await record('a', start, '1', { status: 'PENDING', nextAttemptAt: after(10), statusCode: 500 });
  expect(await claim('a', { ids: ['2', '3'], now: after(9) })).toEqual(['4']);
  await record('a', after(9), '2');
  await record('a', after(9), '3');
  expect(await claim('a', { ids: ['4'], now: after(10) })).toEqual(['1', '5']);
});

test('gives a dead node’s deliveries away after its lease', async () => {
  expect(await claim('dead')).toEqual(['1', '2', '3']);
  expect(await claim('b', { now: after(leaseMs - 1) })).toEqual([]);
  expect(await claim('b', { now: after(leaseMs) })).toEqual(['1', '2', '3']);
  // It was not dead: its attempt is left to the node that has the delivery now.
  await record('dead', after(leaseMs + 1), '1');
  expect(await stateOf('1')).toEqual({ status: 'PENDING', attemptCount: 0 });
  await record('b', after(leaseMs + 2), '1', { status: 'FAILED', statusCode: 410 });
  expect(await stateOf('1')).toEqual({ status: 'FAILED', attemptCount: 1 });
  // And to what it came to there.
  await record('dead', after(leaseMs + 3), '1');
  expect(await stateOf('1')).toEqual({ status: 'FAILED', attemptCount: 1 });
});

test('leaves renewed deliveries to their node', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  await renewLeases(testDatabase.database.prisma, 'a', after(leaseMs - 1), []);
  expect(await claim('b', { now: after(leaseMs) })).toEqual([]);
  expect(await claim('b', { now: after(leaseMs - 1 + leaseMs) })).toEqual(['1', '2', '3']);
});

test('puts back a stopping node’s deliveries at once', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  await releaseDeliveries(testDatabase.database.prisma, 'a');
  expect(await claim('b')).toEqual(['1', '2', '3']);
});

test('a renewal drops recorded deliveries that a claim listed again', async () => {
  const { prisma } = testDatabase.database;
  expect(await claim('a')).toEqual(['1', '2', '3']);
  await record('a', start, '1');
  expect(await claim('a', { ids: ['1', '2', '3'], ended: 1 })).toEqual(['4']);
  expect(await claim('b')).toEqual([]);
  await renewLeases(prisma, 'a', start, ['1', '2']);
  expect(await claim('b')).toEqual(['2']);
});

test('records an attempt only once', async () => {
  expect(await claim('a')).toEqual(['1', '2', '3']);
  const failed = { status: 'PENDING', nextAttemptAt: after(10), statusCode: 500 } as const;
  await record('a', start, '1', failed);
  await record('a', start, '1', failed);
  expect(await stateOf('1')).toEqual({ status: 'PENDING', attemptCount: 1 });
  const { prisma } = testDatabase.database;
  expect(await prisma.deliveryAttempt.count({ where: { deliveryId: '1' } })).toBe(1);
});

describe.runIf(inject('postgresql'))('on PostgreSQL', () => {
  test('skips a locked webhook, and reports that it has work', async () => {
    await testDatabase.database.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM "Webhook" FOR NO KEY UPDATE`;
      expect(await look('a')).toEqual({ claimed: [], missed: ['hook'] });
    });
    expect(await claim('a')).toEqual(['1', '2', '3']);
    expect(await look('b')).toEqual({ claimed: [], missed: [] });
  });
});
