import pg from 'pg';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { quietTransaction, transaction } from '../../../src/db/transaction.ts';
import { isIn, readEnd, readEvents, readNext } from '../../../src/events/log.ts';
import { beginParts } from '../../../src/events/parts/begin.ts';
import { partOf } from '../../../src/events/parts/ranges.ts';
import { encodePosition } from '../../../src/events/position.ts';
import { bySignet, recordEvents } from '../../../src/events/record.ts';
import { startScheduler } from '../../../src/scheduler.ts';
import { settled, userEvent } from '../../support/log.ts';
import { callRest } from '../../support/operations/rest.ts';
import { connect, subscribe } from '../../support/peers/subscriber.ts';
import { createTestClock, startSecondNode, startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { begin, dayMs, moveTo, open, readAll, runJob, tables, write } from './fixture.ts';

const service = await startService();
const other = await startSecondNode(service);
const { services } = service.app;
const { database } = services;
const { prisma } = database;
const endpoint = { url: other.url, token: await service.managementToken() };

async function clear(): Promise<void> {
  await settled(database);
  await prisma.event.deleteMany();
  await prisma.eventConsumer.deleteMany();
}

describe('a page of a log of many parts', () => {
  let all: Awaited<ReturnType<typeof readAll>>;
  beforeEach(async () => {
    await clear();
    for (let part = 0; part < 6; part += 1) {
      if (part > 0) await begin(services, 6 - part);
      await write(services, 6 - part, `${part} a`, `${part} b`, `${part} c`);
    }
    all = await readAll(services);
    await readEnd(prisma);
  });

  test('holds the events after or before any cursor', async () => {
    const names = all.map(({ name }) => name);
    expect(names).toHaveLength(18);
    const list = async (query: object) =>
      (await readEvents(prisma, query as never)).map(({ data }) => data['name']);
    for (const take of [1, 3, 4, 100]) {
      expect(await list({ take })).toEqual(names.slice(0, take));
      expect(await list({ take, fromEnd: true })).toEqual(names.slice(-take));
      for (const [i, { position }] of all.entries()) {
        expect(await list({ after: position, take })).toEqual(names.slice(i + 1, i + 1 + take));
        expect(await list({ before: position, take, fromEnd: true })).toEqual(
          names.slice(Math.max(0, i - take), i),
        );
        const { events } = await readNext(prisma, position, take);
        expect(events.map(({ data }) => data['name'])).toEqual(names.slice(i + 1, i + 1 + take));
      }
    }
  });

  test('is read from the parts that have it', async () => {
    const read = async (range: Parameters<typeof isIn>[1]) => {
      const rows = await prisma.$queryRaw<Record<string, string>[]>`
        EXPLAIN SELECT "id" FROM "Event" WHERE ${isIn(prisma, range)} ORDER BY "xid", "position" LIMIT 10`;
      const plan = rows.map((row) => Object.values(row)[0]).join('\n');
      return [...plan.matchAll(/on "Event_(\d+)" "Event/g)].map(([, number]) => Number(number));
    };
    const [after, last] = [all[4]?.position, all.at(-1)?.position];
    if (!after || !last) throw new Error('The log is empty.');
    const [old, newest] = [partOf(after), partOf(last)];
    expect(await read({ after: last })).toEqual([newest - 1, newest, newest + 1]);
    expect(await read({ after, before: after })).toEqual([old - 1, old, old + 1]);
    expect(await read({})).toEqual(await tables(services));
  });

  test('is found by id', async () => {
    const events = await readEvents(prisma, { take: 100 });
    const { body } = await callRest(endpoint, 'GET', `/events?first=50`);
    expect(body.events.map(({ id }: { id: string }) => id)).toEqual(events.map(({ id }) => id));
  });
});

test('the export gives all parts in order', async () => {
  const all = await readAll(services);
  const response = await fetch(`${other.url}/api/events`, {
    headers: { authorization: `Bearer ${endpoint.token}`, accept: 'application/x-ndjson' },
  });
  const lines = (await response.text()).split('\n').filter(Boolean);
  expect(lines.map((line) => JSON.parse(line).cursor)).toEqual(all.map(({ cursor }) => cursor));
});

test('a subscriber loses nothing around midnight', async () => {
  await clear();
  await write(services, 0, 'before');
  const after = encodePosition(await readEnd(prisma));
  const names = Array.from({ length: 60 }, (_, i) => `${i}`);
  const live = subscribe(connect(endpoint), { after } as never);
  const writing = (async () => {
    for (const name of names) await write(services, 0, name);
  })();
  for (let midnight = 0; midnight < 3; midnight += 1) {
    const before = await open(services);
    await eventually(async () => {
      await prisma.$executeRaw`
        UPDATE "EventPart" SET "begunAt" = now() - interval '2 days' WHERE "number" = ${before}`;
      await runJob(services, beginParts(services, 0));
      expect(await open(services)).toBe(before + 1);
    });
  }
  await writing;
  const seen = await live.received(names.length);
  expect(seen.map(({ data }) => data['name'])).toEqual(names);
  const again = subscribe(connect(endpoint), { after } as never);
  const later = await again.received(names.length);
  expect(later.map(({ data }) => data['name'])).toEqual(names);
});

// The transaction has its id before midnight and its position after it; another the other way round in the log's order.
test.runIf(inject('postgresql'))('a transaction across midnight keeps its place', async () => {
  await clear();
  const early = new pg.Client({ connectionString: service.testDatabase.url ?? '' });
  await early.connect();
  await early.query('BEGIN');
  await early.query('SELECT pg_current_xact_id()');
  await write(services, 0, 'second');
  const before = await open(services);
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '2 days' WHERE "number" = ${before}`;
  await moveTo(services, before + 1);
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '2 days' WHERE "number" = ${before + 1}`;
  // The next part would tear them further apart than readers look.
  await runJob(services, beginParts(services, 0));
  expect(await open(services)).toBe(before + 1);
  await early.query(
    `INSERT INTO "Event" ("id", "type", "data", "occurredAt")
     VALUES ('evt_01jd0000000000000000000000', 'User.Created', '{"name": "first"}', now())`,
  );
  await early.query('COMMIT');
  await early.end();
  await write(services, 0, 'third');
  await moveTo(services, before + 2);
  await write(services, 0, 'fourth');
  const all = await readAll(services);
  expect(all.map(({ name }) => name)).toEqual(['first', 'second', 'third', 'fourth']);
  expect(all.map(({ position }) => partOf(position) - before)).toEqual([1, 0, 1, 2]);
  for (const [i, { position }] of all.entries()) {
    const { events } = await readNext(prisma, position, 10);
    expect(events.map(({ data }) => data['name'])).toEqual(
      all.slice(i + 1).map(({ name }) => name),
    );
    const backwards = await readEvents(prisma, { before: position, take: 10, fromEnd: true });
    expect(backwards.map(({ data }) => data['name'])).toEqual(
      all.slice(0, i).map(({ name }) => name),
    );
  }
});

test.each([
  ['ahead', 400],
  ['behind', -400],
])('a clock that is %s begins no part early', async (_where, days) => {
  await begin(services, 0);
  await write(services, 0, 'a');
  const before = await open(services);
  const clock = createTestClock();
  clock.advance(days * dayMs);
  await runJob(services, beginParts({ clock }, 0));
  expect(await open(services)).toBe(before);
});

test('a small part lasts for longer than a day', async () => {
  await begin(services, 5);
  await write(services, 5, 'a', 'b');
  const before = await open(services);
  await settled(database);
  await runJob(services, beginParts(services, 3));
  expect(await open(services)).toBe(before);
  await write(services, 0, 'c');
  await settled(database);
  await moveTo(services, before + 1, 3);
});

test('an event needs no part that is not there', async () => {
  const before = await open(services);
  await prisma.$executeRawUnsafe(`DROP TABLE "Event_${before + 1}"`);
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '9 days' WHERE "number" = ${before}`;
  await write(services, 0, 'late');
  expect((await readAll(services)).at(-1)?.name).toBe('late');
  await settled(database);
  await moveTo(services, before + 1);
  expect(await tables(services)).toContain(before + 2);
});

test('a transaction that breaks off half-way leaves a log that goes on', async () => {
  const before = await open(services);
  await write(services, 0, 'one');
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '9 days' WHERE "number" = ${before}`;
  await settled(database);
  // The sequence has moved by then, and that is not undone.
  await eventually(() =>
    expect(
      quietTransaction(database, async (tx) => {
        expect(await beginParts(services, 0)(tx)).toBe(true);
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed'),
  );
  expect(await open(services)).toBe(before);
  await write(services, 0, 'two');
  expect(partOf((await readAll(services)).at(-1)?.position ?? { position: 0n })).toBe(before + 1);
  await moveTo(services, before + 1);
  await write(services, 0, 'three');
  expect((await readAll(services)).slice(-3).map(({ name }) => name)).toEqual([
    'one',
    'two',
    'three',
  ]);
});

test('two nodes begin one part', async () => {
  const before = await open(services);
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '9 days' WHERE "number" = ${before}`;
  await transaction(database, (tx) =>
    recordEvents(tx, { ...bySignet, clock: services.clock }, [userEvent('a')]),
  );
  await settled(database);
  const jobs = (node: typeof services) => [
    { name: 'parts-of-the-log', everyMs: 1, run: beginParts(node, 0) },
  ];
  const stops = [service, other].map(({ app }) => startScheduler(app.services, jobs(app.services)));
  await eventually(async () => expect(await tables(services)).toContain(before + 2));
  await Promise.all(stops.map((stop) => stop()));
  expect(await open(services)).toBe(before + 1);
});
