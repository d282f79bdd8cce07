import { expect, test } from 'vitest';
import { adoptRestoredLog } from '../../src/events/restored.ts';
import { newId } from '../../src/ids.ts';
import { events } from '../support/events.ts';
import { raise, settled, userEvent } from '../support/log.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { createUser, createWebhook } from '../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { services } = service.app;
const { database, log } = services;
const { prisma } = database;
const admin = { url: service.url, token: await service.managementToken() };
const namesIn = (seen: readonly { data: Record<string, unknown> }[]) =>
  seen.map(({ data }) => data['name']);

// What a dump of a cluster that has counted further looks like where it is restored.
async function countFurther() {
  const further = '1000000000000';
  const [xid, since] = [
    `("xid"::text::numeric + ${further})::text::xid8`,
    `'${further}:${further}:'::pg_snapshot`,
  ];
  // One after the other, in one: a node that looks adopts the log in between.
  await prisma.$transaction([
    prisma.$executeRawUnsafe(`UPDATE "Event" SET "xid" = ${xid}`),
    prisma.$executeRawUnsafe(`UPDATE "EventConsumer" SET "xid" = ${xid}`),
    prisma.$executeRawUnsafe(`UPDATE "WebhookPeriod" SET "since" = ${since}`),
  ]);
}

test('a log restored into a younger cluster continues in order', async () => {
  const receiver = await startReceiver();
  await createWebhook(admin, { url: receiver.url });
  for (const name of ['one', 'two', 'three']) await raise(services, [userEvent(name)]);
  await receiver.arrived(3);
  await settled(database);
  const before = await events(admin);
  const cursor = await logEnd(admin, database);
  // By number alone, the last one would be the first.
  await prisma.$executeRaw`UPDATE "Event" SET "position" = -1 WHERE "id" = ${before.at(-1)?.id}`;

  await countFurther();
  await adoptRestoredLog(database, log);

  expect(await events(admin)).toEqual(before);
  // Nothing is delivered again, and what comes is.
  await raise(services, [userEvent('four')]);
  const messages = await receiver.arrived(4);
  // Those about different records arrive in any order.
  expect(new Set(namesIn(messages.map(({ json }) => json)))).toEqual(
    new Set(['one', 'two', 'three', 'four']),
  );

  const old = subscribe(connect(admin), { after: cursor });
  await old.until(({ isComplete }) => isComplete);
  expect(old.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
  const going = subscribe(connect(admin), { after: await logEnd(admin, database) });
  const user = await createUser(admin);
  expect((await going.received(1))[0]?.data).toMatchObject({ id: user.id });
});

test('delivers a restored log’s pending events; other logs stay', async () => {
  const id = newId('Event');
  const receiver = await startReceiver();
  await createWebhook(admin, { url: receiver.url, events: ['USER_DELETED'] });
  await settled(database);
  const [{ xid } = { xid: '' }] = await prisma.$queryRaw<{ xid: string }[]>`
    SELECT max("xid"::text::numeric)::text AS "xid" FROM "Event"`;
  await adoptRestoredLog(database, log);
  expect(
    await prisma.$queryRaw`SELECT max("xid"::text::numeric)::text AS "xid" FROM "Event"`,
  ).toEqual([{ xid }]);

  await countFurther();
  await prisma.$executeRaw`
    INSERT INTO "Event" ("xid", "id", "type", "data", "occurredAt")
    VALUES ('9000000000000', ${id}, 'User.Deleted', '{}', now())`;
  await adoptRestoredLog(database, log);
  // A service adopts a log before it follows it.
  database.hints.send('log');
  expect((await receiver.arrived(1))[0]?.json.id).toBe(id);
  expect((await events(admin)).at(-1)?.id).toBe(id);
});

test.runIf(service.testDatabase.url)(
  'a node that keeps running lets nobody past the break, and adopts the log by itself',
  async () => {
    const receiver = await startReceiver();
    await createWebhook(admin, { url: receiver.url });
    const live = connect(admin);
    const seen = subscribe(live, { after: await logEnd(admin, database) });
    await raise(services, [userEvent('seen')]);
    await seen.received(1);
    await settled(database);
    const closed = live.closed.then(({ code }) => code);
    const told = seen.until(({ errors }) => errors.length > 0).then(() => 'told');

    await countFurther();
    // What is written now comes before the old events, by the ids of this cluster.
    await raise(services, [userEvent('of the younger cluster')]);
    expect([1013, 'told']).toContain(await Promise.race([closed, told]));
    const back = subscribe(connect(admin), { after: seen.cursor });
    await back.until(({ errors }) => errors.length > 0);
    expect(back.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
    // It looks every ten seconds. Nothing that was written meanwhile is before what webhooks have had.
    await eventually(async () =>
      expect(namesIn(await events(admin)).slice(-2)).toEqual(['seen', 'of the younger cluster']),
    );
    await receiver.until((messages) =>
      messages.some(({ json }) => json.data['name'] === 'of the younger cluster'),
    );
  },
);
