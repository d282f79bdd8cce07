import { expect, test } from 'vitest';
import { liftSequences } from '../../src/db/migrations/sequences.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { attempted, createUser, createWebhook } from '../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { database } = service.app.services;
const endpoint = { url: service.url, token: await service.managementToken() };
const receiver = await startReceiver();
const webhook = await createWebhook(endpoint, { url: receiver.url, events: ['USER_CREATED'] });
await createUser(endpoint);
await attempted(endpoint, webhook.id);

const numbered = ['DeliveryAttempt_id_seq', 'Event_position_seq', 'WebhookPeriod_id_seq'];
/** Leaves sequences as logical replication does: as a database that was just migrated has them. */
const leaveBehind = (...names: readonly string[]) =>
  Promise.all(
    names.map(
      (name) =>
        database.prisma.$executeRaw`SELECT setval(quote_ident(${name})::regclass, 1, false)`,
    ),
  );

test('are compared with their tables at a start, and those behind are lifted', async () => {
  expect(await liftSequences(database)).toEqual([]);
  await leaveBehind(...numbered, 'VerificationCode_id_seq');
  const node = await startSecondNode(service);
  const there = { url: node.url, token: endpoint.token };

  const user = await createUser(there);
  const [, message] = await receiver.arrived(2);
  expect(message?.json.data).toMatchObject({ id: user.id });
  const other = await createWebhook(there, { url: receiver.url, events: ['USER_CREATED'] });
  await createUser(there);
  await attempted(there, other.id);
  expect(await liftSequences(database)).toEqual([]);
});

test('are lifted once by nodes that start together', async () => {
  await leaveBehind(...numbered);
  const lifted = await Promise.all(Array.from({ length: 4 }, () => liftSequences(database)));
  expect(lifted.flat().sort()).toEqual(numbered);
});

test("of tables that are not the service's are left alone", async () => {
  // Reading a table that is another role's would end the start.
  await database.prisma.$executeRaw`CREATE TABLE "Reading" ("id" SERIAL)`;
  await database.prisma.$executeRaw`INSERT INTO "Reading" VALUES (7)`;
  expect(await liftSequences(database)).toEqual([]);
});
