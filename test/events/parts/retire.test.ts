import pg from 'pg';
import { beforeEach, expect, inject, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { retireParts } from '../../../src/events/parts/retire.ts';
import { startScheduler } from '../../../src/scheduler.ts';
import { send } from '../../support/operations/graphql.ts';
import { connect, subscribe } from '../../support/peers/subscriber.ts';
import { createTestClock, startSecondNode, startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { begin, dayMs, open, readAll, runJob, tables, write } from './fixture.ts';

const service = await startService({ AUDIT_RETENTION_DAYS: '365' });
const other = await startSecondNode(service);
const { services } = service.app;
const { database } = services;
const { prisma } = database;
const endpoint = { url: other.url, token: await service.managementToken() };

// Three parts: of 100 and 99 days ago, and of now. Events are kept for 90 days.
let first: number;
let before: Awaited<ReturnType<typeof readAll>>;
beforeEach(async () => {
  await prisma.eventConsumer.deleteMany();
  await prisma.event.deleteMany();
  await begin(services, 100);
  first = await open(services);
  await write(services, 100, 'a', 'audit 1', 'b');
  await begin(services, 99);
  await write(services, 99, 'c', 'audit 2', 'd');
  await begin(services, 98);
  await write(services, 0, 'now');
  before = await readAll(services);
});

const names = async () => (await readAll(services)).map(({ name }) => name);

/** A run of the job on a node that has just started. */
const retire = () => runJob(services, retireParts(services));

const cursorOf = (name: string) => before.find((event) => event.name === name)?.cursor;

async function codeAfter(name: string, types?: readonly string[]): Promise<unknown> {
  const document = `query ($after: String, $types: [EventType!]) { events(after: $after, types: $types) { edges { node { data } } } }`;
  const { errors } = await send<object, object>(endpoint, document, {
    after: cursorOf(name),
    types,
  } as object);
  return errors?.[0]?.extensions['code'];
}

test('a part goes whole, and what the audit keeps stays in its place', async () => {
  await retire();
  expect(await names()).toEqual(['audit 1', 'c', 'audit 2', 'd', 'now']);
  expect(await tables(services)).toContain(first);
  await retire();
  expect(await names()).toEqual(['audit 1', 'audit 2', 'now']);
  const positions = (await readAll(services)).map(({ cursor }) => cursor);
  expect(positions).toEqual([cursorOf('audit 1'), cursorOf('audit 2'), cursorOf('now')]);
  const size = await prisma.$queryRawUnsafe<{ count: bigint }[]>(
    `SELECT count(*) AS "count" FROM "Event_${first}"`,
  );
  expect(Number(size[0]?.count)).toBe(1);
  await retire();
  expect(await names()).toEqual(['audit 1', 'audit 2', 'now']);
});

test('a part without anything to keep is dropped', async () => {
  await prisma.event.deleteMany({ where: { type: 'Role.Created' } });
  await retire();
  expect(await tables(services)).not.toContain(first);
  expect(await prisma.eventPart.count({ where: { number: first } })).toBe(0);
  expect(await names()).toEqual(['c', 'd', 'now']);
});

test('a cursor into a part that has gone has expired', async () => {
  await retire();
  for (const name of ['a', 'audit 1']) expect(await codeAfter(name)).toBe('CURSOR_EXPIRED');
  expect(await codeAfter('audit 1', ['ROLE_CREATED'])).toBeUndefined();
  // The last one that is gone: nothing after it is missing.
  expect(await codeAfter('b')).toBeUndefined();
  const subscriber = subscribe(connect(endpoint), { after: cursorOf('a') } as never);
  await subscriber.until(({ errors }) => errors.length > 0);
  expect(subscriber.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
  const going = subscribe(connect(endpoint), { after: cursorOf('c') } as never);
  const seen = await going.received(3);
  expect(seen.map(({ data }) => data['name'])).toEqual(['audit 2', 'd', 'now']);
});

test('a part stays for a consumer that has not read it', async () => {
  const place = before[1]?.position;
  await prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position") VALUES ('a consumer', ${place?.xid}::xid8, ${place?.position})`;
  await retire();
  expect(await names()).toHaveLength(7);
});

test('an event stays for its pending delivery', async () => {
  const webhook = await prisma.webhook.create({
    data: {
      id: `hook_${first}`,
      name: 'w',
      url: 'https://a.test',
      enabled: false,
      createdAt: new Date(),
      updatedAt: new Date(),
    },
  });
  const event = await prisma.event.findFirstOrThrow({ orderBy: { position: 'asc' } });
  await prisma.delivery.create({
    data: {
      id: `dlv_${first}`,
      webhookId: webhook.id,
      eventId: event.id,
      eventType: event.type,
      nextAttemptAt: new Date(),
      createdAt: new Date(),
      updatedAt: new Date(),
    },
  });
  await retire();
  expect(await names()).toEqual(['a', 'audit 1', 'c', 'audit 2', 'd', 'now']);
  await prisma.delivery.deleteMany();
});

test('an event that is not due keeps its part', async () => {
  await prisma.event.updateMany({
    where: { id: (await prisma.event.findFirstOrThrow({ orderBy: { position: 'asc' } })).id },
    data: { occurredAt: new Date(services.clock.now().getTime() - 89 * dayMs) },
  });
  await retire();
  expect(await names()).toEqual(['a', 'audit 1', 'b', 'audit 2', 'now']);
});

test('what is left of a part goes when the audit has expired', async () => {
  await retire();
  await retire();
  await prisma.event.updateMany({
    where: { type: 'Role.Created' },
    data: { occurredAt: new Date(services.clock.now().getTime() - 366 * dayMs) },
  });
  await prisma.$executeRaw`
    UPDATE "EventPart" SET "begunAt" = "begunAt" - interval '366 days' WHERE "number" <= ${first + 1}`;
  await retire();
  expect(await names()).toEqual(['audit 2', 'now']);
  expect(await tables(services)).not.toContain(first);
});

test('a run drops one part, and the next one an hour later', async () => {
  const run = retireParts(services);
  await runJob(services, run);
  await runJob(services, run);
  expect(await names()).toEqual(['audit 1', 'c', 'audit 2', 'd', 'now']);
});

test.each([
  ['ahead', 400],
  ['behind', -400],
])('a clock that is %s drops nothing early', async (_where, days) => {
  await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '1 day' WHERE "number" > ${first}`;
  await prisma.event.updateMany({ data: { occurredAt: new Date(Date.now() - dayMs) } });
  const clock = createTestClock();
  clock.advance(days * dayMs);
  await runJob(services, retireParts({ ...services, clock }));
  expect(await names()).toHaveLength(7);
});

test('many parts of which only the audit is left become one', async () => {
  for (let part = 0; part < 15; part += 1) {
    await begin(services, 97 - part / 10);
    await write(services, 97 - part / 10, `${part}`, `audit ${part}`);
  }
  await begin(services, 0);
  const kept = (await names()).filter((name) => String(name).startsWith('audit') || name === 'now');
  for (let day = 0; day < 17; day += 1) await retire();
  const { number, count } = await prisma.eventPart.findFirstOrThrow({
    where: { count: { gt: 1 } },
    select: { number: true, count: true },
  });
  expect(count).toBeGreaterThanOrEqual(7);
  expect(await tables(services)).not.toContain(number + 1);
  expect((await names()).filter((name) => kept.includes(name as string))).toEqual(kept);
});

test('a transaction that breaks off half-way changes nothing, and the next run does it', async () => {
  for (let isMore = true; isMore; ) {
    const left = await names();
    await expect(
      quietTransaction(database, async (tx) => {
        await retireParts(services)(tx);
        await tx.$executeRaw`SELECT 1 / 0`;
      }),
    ).rejects.toThrow();
    expect(await names()).toEqual(left);
    isMore = await quietTransaction(database, retireParts(services));
  }
  expect(await names()).toEqual(['audit 1', 'c', 'audit 2', 'd', 'now']);
});

test('two nodes drop a part once', async () => {
  const stops = [service, other].map(({ app }) =>
    startScheduler(app.services, [{ name: 'parts', everyMs: 1, run: retireParts(app.services) }]),
  );
  await eventually(async () => expect(await names()).toEqual(['audit 1', 'audit 2', 'now']));
  await Promise.all(stops.map((stop) => stop()));
});

test.runIf(inject('postgresql'))('a long reader is not in the way of others for long', async () => {
  const reader = new pg.Client({ connectionString: service.testDatabase.url ?? '' });
  await reader.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT count(*) FROM "Event"');
  await expect(retire()).rejects.toThrow(/lock timeout/);
  expect(await names()).toHaveLength(7);
  await reader.query('COMMIT');
  await reader.end();
  await retire();
  expect(await names()).toEqual(['audit 1', 'c', 'audit 2', 'd', 'now']);
});

test.runIf(inject('postgresql'))(
  'a killed connection changes nothing, and the next run does it',
  async () => {
    const run = retireParts(services);
    // Makes the table that takes what is kept.
    expect(await quietTransaction(database, run)).toBe(true);
    await expect(
      quietTransaction(database, async (tx) => {
        await run(tx);
        await tx.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())`;
      }),
    ).rejects.toThrow();
    expect(await names()).toHaveLength(7);
    await retire();
    expect(await names()).toEqual(['audit 1', 'c', 'audit 2', 'd', 'now']);
  },
);
