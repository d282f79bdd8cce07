import { expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { ask, graphql, payload, send } from '../../support/operations/graphql.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import { adminOf, createUser, createWebhook, readWebhook } from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// No lease runs out while the machine is busy.
service.clock.freeze();
const { prisma } = service.app.services.database;

const Update = graphql(`
  mutation UpdateWebhook($input: UpdateWebhookInput!) {
    updateWebhook(input: $input) {
      __typename
      ... on UpdateWebhookPayload {
        webhook { id name url events query headers enabled maxInFlight }
      }
      ... on InvalidInputError { issues { path } }
      ... on NotFoundError { id }
    }
  }
`);

const Delete = graphql(`
  mutation DeleteWebhook($id: ID!) {
    deleteWebhook(input: { id: $id }) {
      __typename
      ... on DeleteWebhookPayload { webhook { id name deliveries { totalCount } } }
      ... on NotFoundError { id }
    }
  }
`);

test('changes given fields, clears null ones, keeps the rest', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const query = 'subscription { events { id } }';
  const { id } = await createWebhook(admin, {
    url: receiver.url,
    query,
    headers: { 'X-Key': 'one' },
    events: ['USER_CREATED'],
    maxInFlight: 3,
  });
  const before = {
    id,
    name: 'A webhook',
    url: receiver.url,
    events: ['USER_CREATED'],
    query,
    headers: ['X-Key'],
    enabled: true,
    maxInFlight: 3,
  };
  const update = async (input: object) => {
    const { updateWebhook } = await ask(admin, Update, { input: { id, ...input } });
    return payload(updateWebhook, 'UpdateWebhookPayload').webhook;
  };
  expect(await update({})).toEqual(before);
  expect(await update({ name: 'Another', maxInFlight: 4 })).toEqual({
    ...before,
    name: 'Another',
    maxInFlight: 4,
  });
  expect(await update({ query: null, headers: null, events: null })).toEqual({
    ...before,
    name: 'Another',
    maxInFlight: 4,
    query: null,
    headers: [],
    events: [],
  });
});

test('uses the new URL and headers at the next delivery', async () => {
  const admin = await adminOf(service);
  const [old, current] = [await startReceiver(), await startReceiver()];
  const { id } = await createWebhook(admin, { url: old.url, headers: { 'X-Key': 'old' } });
  await createUser(admin);
  await old.arrived(1);
  await ask(admin, Update, { input: { id, url: current.url, headers: { 'X-Key': 'new' } } });
  await createUser(admin);
  const [message] = await current.arrived(1);
  expect(message?.headers['x-key']).toBe('new');
  expect(old.received).toHaveLength(1);
});

test.each([
  ['clears what cannot be', { url: null }, 'url'],
  ['gives a URL with credentials', { url: 'https://a:b@example.com/' }, 'url'],
  ['gives a header that Signet sets', { headers: { 'Content-Type': 'text/plain' } }, 'headers'],
  ['gives a query that is none', { query: '{ users { totalCount } }' }, 'query'],
  ['leaves the query nothing of its types', { events: ['ROLE_CREATED' as const] }, 'query'],
  ['allows too much at once', { maxInFlight: 1001 }, 'maxInFlight'],
])('refuses a change that %s, and changes nothing', async (_what, change, field) => {
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, {
    url: 'https://hooks.example.com/',
    query: 'subscription { events(types: [USER_CREATED]) { id } }',
  });
  const before = await prisma.webhook.findUniqueOrThrow({ where: { id } });
  const { updateWebhook } = await ask(admin, Update, { input: { id, ...change } });
  if (updateWebhook.__typename !== 'InvalidInputError') throw new Error('It was refused.');
  expect(updateWebhook.issues.map(({ path }) => path[0])).toEqual([field]);
  expect(await prisma.webhook.findUniqueOrThrow({ where: { id } })).toEqual(before);
});

test('a query runs with the scopes of whoever set it', async () => {
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, {
    url: 'https://hooks.example.com/',
    query: 'subscription { events { id } }',
  });
  const scopesOf = async () =>
    (await prisma.webhook.findUniqueOrThrow({ where: { id } })).grantedScopes.toSorted();
  expect(await scopesOf()).toEqual(['all']);

  const limited = {
    url: service.url,
    token: await service.managementToken('webhooks:write events:read'),
  };
  await ask(limited, Update, { input: { id, name: 'Renamed' } });
  expect(await scopesOf()).toEqual(['all']);
  await ask(limited, Update, { input: { id, url: 'https://elsewhere.example.com/' } });
  expect(await scopesOf()).toEqual(['events:read', 'webhooks:write']);
  await ask(admin, Update, { input: { id, url: 'https://third.example.com/' } });
  expect(await scopesOf()).toEqual(['events:read', 'webhooks:write']);
  // The same text or another: who gives it answers for it.
  await ask(admin, Update, { input: { id, query: 'subscription { events { id } }' } });
  expect(await scopesOf()).toEqual(['all']);
});

test('deletes a webhook with its deliveries, and returns it', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith(() => undefined);
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await receiver.arrived(1);
  const { deleteWebhook } = await ask(admin, Delete, { id });
  expect(payload(deleteWebhook, 'DeleteWebhookPayload').webhook).toMatchObject({
    id,
    name: 'A webhook',
  });
  expect(await prisma.delivery.count({ where: { webhookId: id } })).toBe(0);
  expect(await prisma.webhookSecret.count({ where: { webhookId: id } })).toBe(0);
  expect((await ask(admin, Delete, { id })).deleteWebhook).toEqual({
    __typename: 'NotFoundError',
    id,
  });
  const stranger = newId('Webhook');
  expect((await ask(admin, Update, { input: { id: stranger } })).updateWebhook).toEqual({
    __typename: 'NotFoundError',
    id: stranger,
  });
});

test('lists webhooks by page, and their deliveries by status', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  await prisma.webhook.deleteMany();
  const ids: string[] = [];
  for (const name of ['c', 'a', 'b']) {
    const { id } = await createWebhook(admin, {
      name: `Listed ${name}`,
      url: receiver.url,
      enabled: name === 'a',
    });
    ids.push(id);
  }
  const List = graphql(`
    query ListWebhooks($first: Int!, $filter: WebhookFilter, $orderBy: WebhookOrder) {
      webhooks(first: $first, filter: $filter, orderBy: $orderBy) {
        totalCount
        pageInfo { hasNextPage }
        edges { node { id } }
      }
    }
  `);
  const [c, a, b] = ids;
  const list = async (variables: object) => {
    const { webhooks } = await ask(admin, List, { first: 2, ...variables });
    return [webhooks.totalCount, ...webhooks.edges.map(({ node }) => node.id)];
  };
  expect(await list({})).toEqual([3, b, a]);
  expect(await list({ orderBy: { field: 'NAME' } })).toEqual([3, a, b]);
  expect(await list({ filter: { enabled: true } })).toEqual([1, a]);
  expect(await list({ filter: { search: 'LISTED C' } })).toEqual([1, c]);

  await createUser(admin);
  await receiver.arrived(1);
  await expect
    .poll(async () => (await readWebhook(admin, a ?? '', 'SUCCEEDED')).deliveries.length)
    .toBe(1);
  expect((await readWebhook(admin, a ?? '', 'PENDING')).deliveries).toEqual([]);
});

test('requires webhooks:write to change, and webhooks:read to see', async () => {
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: 'https://hooks.example.com/' });
  const reader = { url: service.url, token: await service.managementToken('webhooks:read') };
  const stranger = { url: service.url, token: await service.managementToken('users:write') };
  const changes = [
    `createWebhook(input: { name: "x", url: "https://example.com" }) { __typename }`,
    `updateWebhook(input: { id: "${id}", name: "x" }) { __typename }`,
    `deleteWebhook(input: { id: "${id}" }) { __typename }`,
    `rotateWebhookSecret(input: { id: "${id}" }) { __typename }`,
    `testWebhook(input: { id: "${id}" }) { __typename }`,
    `redeliver(input: { deliveryId: "${newId('Delivery')}" }) { __typename }`,
    `replayEvents(input: { webhookId: "${id}", since: "2026-01-01T00:00:00Z" }) { __typename }`,
  ];
  for (const change of changes) {
    const { status, errors } = await send(reader, `mutation { ${change} }`);
    expect([status, errors?.[0]?.extensions]).toEqual([
      403,
      { code: 'FORBIDDEN', requiredScope: 'webhooks:write' },
    ]);
  }
  for (const read of [`webhook(id: "${id}") { id }`, 'webhooks { totalCount }']) {
    expect((await send(reader, `{ ${read} }`)).errors).toBeUndefined();
    expect((await send(stranger, `{ ${read} }`)).errors?.[0]?.extensions).toEqual({
      code: 'FORBIDDEN',
      requiredScope: 'webhooks:read',
    });
  }
});
