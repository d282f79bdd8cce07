import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { enumValueOf, eventNames } from '../../../src/events/catalogue/catalogue.ts';
import { purgedOf } from '../../../src/events/consumers.ts';
import { purgeEvents } from '../../../src/events/purge.ts';
import { newId } from '../../../src/ids.ts';
import { purgeDeliveries } from '../../../src/webhooks/delivery/purge.ts';
import type { EventType } from '../../generated/graphql.ts';
import { settled } from '../../support/log.ts';
import { ask, graphql, payload, send } from '../../support/operations/graphql.ts';
import { startReceiver, verify } from '../../support/peers/receiver.ts';
import { logEnd } from '../../support/peers/subscriber.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import {
  adminOf,
  attempted,
  createUser,
  createWebhook,
  readWebhook,
  succeeded,
  switchWebhook,
  type WebhookSeen,
  webhookUntil,
} from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();
const { database } = service.testDatabase;

const Test = graphql(`
  mutation Test($input: TestWebhookInput!) {
    testWebhook(input: $input) {
      __typename
      ... on TestWebhookPayload {
        delivery { id isTest status event { id name data ... on UserCreatedEvent { user { id } } } }
      }
      ... on NotFoundError { id }
    }
  }
`);

const Redeliver = graphql(`
  mutation Redeliver($deliveryId: ID!) {
    redeliver(input: { deliveryId: $deliveryId }) {
      __typename
      ... on RedeliverPayload { delivery { id status } }
      ... on NotFoundError { id }
      ... on NotAllowedError { message }
    }
  }
`);

const Replay = graphql(`
  mutation Replay($input: ReplayEventsInput!) {
    replayEvents(input: $input) {
      __typename
      ... on ReplayEventsPayload { deliveryCount webhook { id } }
      ... on InvalidInputError { issues { path } }
      ... on NotFoundError { id }
    }
  }
`);

const allSucceeded = ({ deliveries }: WebhookSeen) =>
  deliveries.every(({ status }) => status === 'SUCCEEDED');

test('sends a signed test to a disabled webhook, without logging', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  // It is pending until it is answered, and the mutation may be answered later than it is sent.
  const held: ServerResponse[] = [];
  receiver.answerWith((response) => held.push(response));
  const { id, secret } = await createWebhook(admin, { url: receiver.url, enabled: false });
  const { testWebhook } = await ask(admin, Test, { input: { id, type: 'USER_CREATED' } });
  const { delivery } = payload(testWebhook, 'TestWebhookPayload');
  expect(delivery).toMatchObject({ isTest: true, status: 'PENDING', event: { user: null } });

  const [message] = await receiver.arrived(1);
  expect(message && verify(secret, message, service.clock.now())).toMatchObject({
    id: delivery.event?.id,
    type: 'User.Created',
    actor: { type: 'APPLICATION', id: service.admin.id },
    data: delivery.event?.data,
  });
  expect(message?.headers['signet-test']).toBe('true');
  expect(await database.prisma.event.count({ where: { id: delivery.event?.id ?? '' } })).toBe(0);
  held[0]?.writeHead(204).end();
  await webhookUntil(admin, id, allSucceeded);
});

test('tests with the webhook’s first type by default', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const query = 'subscription { events(types: [ROLE_CREATED]) { name } }';
  const { id } = await createWebhook(admin, { url: receiver.url, query });
  await ask(admin, Test, { input: { id } });
  expect((await receiver.arrived(1))[0]?.json.type).toBe('Role.Created');
});

test('makes a test of every type of event', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url, enabled: false });
  for (const name of eventNames) {
    await ask(admin, Test, { input: { id, type: enumValueOf(name) as EventType } });
  }
  const messages = await receiver.arrived(eventNames.length);
  expect(messages.map(({ json }) => json.type).toSorted()).toEqual(eventNames.toSorted());
});

test('tries a test once, without counting its failure', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith(410);
  const { id } = await createWebhook(admin, { url: receiver.url });
  await ask(admin, Test, { input: { id } });
  const webhook = await webhookUntil(
    admin,
    id,
    ({ deliveries: [only] }) => only?.status === 'FAILED',
  );
  expect(webhook).toMatchObject({ enabled: true, deliveries: [{ nextAttemptAt: null }] });
  expect(await database.prisma.webhook.findUnique({ where: { id } })).toMatchObject({
    failingSince: null,
  });
});

test('redelivers under the same webhook-id', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const { deliveries } = await succeeded(admin, id);
  const deliveryId = deliveries[0]?.id ?? '';
  const held: ServerResponse[] = [];
  receiver.answerWith((response) => held.push(response));
  const { redeliver } = await ask(admin, Redeliver, { deliveryId });
  expect(payload(redeliver, 'RedeliverPayload').delivery).toEqual({
    id: deliveryId,
    status: 'PENDING',
  });
  const [first, second] = await receiver.arrived(2);
  held[0]?.writeHead(204).end();
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  const after = await succeeded(admin, id);
  expect(after.deliveries).toHaveLength(1);
  expect(after.deliveries[0]?.attempts).toHaveLength(2);

  await database.prisma.event.deleteMany({ where: { id: first?.json.id ?? '' } });
  const { redeliver: refused } = await ask(admin, Redeliver, { deliveryId });
  expect(refused.__typename).toBe('NotAllowedError');
  expect((await readWebhook(admin, id)).deliveries[0]).toMatchObject({
    status: 'SUCCEEDED',
    event: null,
  });
});

test('redelivers waiting deliveries at once, but no running ones', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const held: ServerResponse[] = [];
  receiver.answerWith((response) => held.push(response));
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await receiver.arrived(1);
  const [delivery] = (await readWebhook(admin, id)).deliveries;
  const deliveryId = String(delivery?.id);
  const { redeliver: underWay } = await ask(admin, Redeliver, { deliveryId });
  expect(payload(underWay, 'RedeliverPayload').delivery.status).toBe('PENDING');

  held[0]?.writeHead(500).end();
  await attempted(admin, id);
  expect(receiver.received).toHaveLength(1);
  receiver.answerWith(204);
  const { redeliver: waiting } = await ask(admin, Redeliver, { deliveryId });
  payload(waiting, 'RedeliverPayload');
  const { deliveries } = await webhookUntil(admin, id, allSucceeded);
  expect(deliveries[0]?.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 204]);
});

test('replays a range of the log, by the webhook’s types', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const users = [];
  for (let count = 1; count <= 3; count += 1) users.push(await createUser(admin));
  const after = await logEnd(admin, database);
  for (let count = 1; count <= 2; count += 1) {
    service.clock.advance(1000);
    users.push(await createUser(admin));
  }
  await ask(
    admin,
    graphql(`mutation RoleForReplay { createRole(input: { name: "Replayed" }) { __typename } }`),
  );
  const { id } = await createWebhook(admin, { url: receiver.url });
  await settled(database);
  const { replayEvents } = await ask(admin, Replay, { input: { webhookId: id, after } });
  expect(replayEvents).toEqual({
    __typename: 'ReplayEventsPayload',
    deliveryCount: 2,
    webhook: { id },
  });
  const messages = await receiver.arrived(2);
  expect(messages.map(({ json }) => json.data['id']).toSorted()).toEqual(
    users
      .slice(3)
      .map((user) => user.id)
      .toSorted(),
  );
  await webhookUntil(admin, id, allSucceeded);

  // Once more, by time.
  const since = messages.map(({ json }) => json.timestamp).toSorted()[1];
  const { replayEvents: again } = await ask(admin, Replay, { input: { webhookId: id, since } });
  expect(again).toMatchObject({ deliveryCount: 1 });
  await receiver.arrived(3);
  const { deliveries } = await webhookUntil(admin, id, allSucceeded);
  expect(deliveries).toHaveLength(3);
});

test('lets replays wait while the webhook is off', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const after = await logEnd(admin, database);
  await createUser(admin);
  const { id } = await createWebhook(admin, { url: receiver.url, enabled: false });
  await settled(database);
  await ask(admin, Replay, { input: { webhookId: id, after } });
  // A later test goes out; the replay does not.
  await ask(admin, Test, { input: { id } });
  await receiver.arrived(1);
  expect(receiver.received[0]?.headers['signet-test']).toBe('true');
  await switchWebhook(admin, id, true);
  await receiver.arrived(2);
});

test('refuses unknown ids, and a range without a beginning', async () => {
  const admin = await adminOf(service);
  const hook = newId('Webhook');
  const delivery = newId('Delivery');
  expect(await ask(admin, Test, { input: { id: hook } })).toEqual({
    testWebhook: { __typename: 'NotFoundError', id: hook },
  });
  expect(await ask(admin, Redeliver, { deliveryId: delivery })).toEqual({
    redeliver: { __typename: 'NotFoundError', id: delivery },
  });
  expect(
    await ask(admin, Replay, { input: { webhookId: hook, since: '2026-01-01T00:00:00Z' } }),
  ).toEqual({
    replayEvents: { __typename: 'NotFoundError', id: hook },
  });
  expect(await ask(admin, Replay, { input: { webhookId: hook } })).toEqual({
    replayEvents: { __typename: 'InvalidInputError', issues: [{ path: ['after'] }] },
  });
  expect(await ask(admin, Replay, { input: { webhookId: hook, after: 'nonsense' } })).toEqual({
    replayEvents: { __typename: 'InvalidInputError', issues: [{ path: ['after'] }] },
  });
});

test('replays no range whose beginning was purged', async () => {
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: 'https://hooks.example.com' });
  const after = await logEnd(admin, database);
  await createUser(admin);
  const [last] = await database.prisma.$queryRaw<{ xid: string; position: bigint }[]>`
    SELECT "xid"::text AS "xid", "position" FROM "Event" ORDER BY "Event"."xid" DESC, "position" DESC LIMIT 1`;
  await database.prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    VALUES (${purgedOf.ordinary}, ${last?.xid}::xid8, ${last?.position})`;
  onTestFinished(async () => {
    await database.prisma.eventConsumer.delete({ where: { name: purgedOf.ordinary } });
  });
  expect(await ask(admin, Replay, { input: { webhookId: id, after } })).toEqual({
    replayEvents: { __typename: 'InvalidInputError', issues: [{ path: ['after'] }] },
  });
});

test('shows webhooks and deliveries by node, with their scope', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, {
    url: receiver.url,
    headers: { 'X-Key': 'a credential' },
  });
  await ask(admin, Test, { input: { id } });
  const [delivery] = (await webhookUntil(admin, id, allSucceeded)).deliveries;
  const Nodes = graphql(`
    query WebhookNodes($ids: [ID!]!) {
      nodes(ids: $ids) {
        id
        ... on Webhook { headers name url events maxInFlight }
        ... on Delivery { webhook { id } }
      }
    }
  `);
  const ids = [id, delivery?.id ?? ''];
  const read = { url: service.url, token: await service.managementToken('webhooks:read') };
  expect((await ask(read, Nodes, { ids })).nodes).toEqual([
    {
      id,
      headers: ['X-Key'],
      name: 'A webhook',
      url: receiver.url,
      events: ['USER_CREATED'],
      maxInFlight: 10,
    },
    { id: delivery?.id, webhook: { id } },
  ]);
  const other = { url: service.url, token: await service.managementToken('users:write') };
  const { errors } = await send(other, Nodes, { ids });
  expect(errors?.map(({ extensions }) => extensions)).toEqual([
    { code: 'FORBIDDEN', requiredScope: 'webhooks:read' },
    { code: 'FORBIDDEN', requiredScope: 'webhooks:read' },
  ]);
  // A delivery's event is the log's.
  const { errors: events } = await send(
    read,
    `query { webhook(id: "${id}") { deliveries { edges { node { event { id } } } } } }`,
  );
  expect(events?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', requiredScope: 'events:read' });
});

test('neither stores nor logs secrets and header values in clear', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const credential = 'a-credential-of-the-receiver';
  const { id, secret } = await createWebhook(admin, {
    url: receiver.url,
    headers: { authorization: credential },
  });
  await ask(admin, Test, { input: { id } });
  await webhookUntil(admin, id, allSucceeded);
  const row = await database.prisma.webhook.findUnique({
    where: { id },
    include: { secrets: true },
  });
  const kept = [row?.headers, ...(row?.secrets ?? []).map((one) => one.secret)].map((bytes) =>
    Buffer.from(bytes ?? []).toString('latin1'),
  );
  expect(kept).toHaveLength(2);
  for (const text of kept) {
    expect(text).not.toContain(credential);
    expect(text).not.toContain(secret.slice('whsec_'.length));
  }
  const log = JSON.stringify(service.logged);
  expect(log).toContain(id);
  expect(log).not.toContain(credential);
  expect(log).not.toContain(secret.slice('whsec_'.length));
});

test('follows one trace id from the mutation to the attempt', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const [message] = await receiver.arrived(1);
  await webhookUntil(admin, id, allSucceeded);
  const event = await database.prisma.event.findFirst({ where: { id: message?.json.id ?? '' } });
  expect(event?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(
    service.logged.filter(
      ({ eventId, webhookId }) => eventId === message?.json.id && webhookId === id,
    ),
  ).toEqual([expect.objectContaining({ traceId: event?.traceId, outcome: 'succeeded' })]);
  const readMetrics = async () => (await fetch(`${service.url}/metrics`)).text();
  const metrics = await readMetrics();
  expect(metrics).toMatch(/signet_webhook_attempts_total\{outcome="succeeded"\} [1-9]/);
  expect(metrics).toMatch(/signet_webhook_deliveries_due \d+/);
  // Webhooks of earlier tests may be tried again meanwhile.
  await eventually(async () =>
    expect(await readMetrics()).toContain('signet_webhook_deliveries_in_flight 0'),
  );
});

test('purges deliveries with their events, except pending ones', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  await database.prisma.webhook.deleteMany();
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await succeeded(admin, id);
  receiver.answerWith(500);
  await createUser(admin);
  await webhookUntil(
    admin,
    id,
    ({ deliveries: [one] }) => one?.status === 'PENDING' && one.attempts.length === 1,
  );
  const aged = new Date(service.clock.now().getTime() - 91 * 24 * 60 * 60 * 1000);
  await database.prisma.delivery.updateMany({
    where: { webhookId: id },
    data: { createdAt: aged },
  });
  await database.prisma.event.updateMany({ data: { occurredAt: aged } });
  await settled(database);
  for (const purge of [purgeDeliveries, purgeEvents]) {
    await quietTransaction(database, purge(service.app.services));
  }
  const { deliveries } = await readWebhook(admin, id);
  expect(deliveries.map(({ status }) => status)).toEqual(['PENDING']);
  expect(await database.prisma.event.findMany({ select: { id: true } })).toEqual([
    { id: deliveries[0]?.event?.id },
  ]);
  await switchWebhook(admin, id, false);
  await quietTransaction(database, purgeDeliveries(service.app.services));
  expect((await readWebhook(admin, id)).deliveries).toEqual([]);
});
