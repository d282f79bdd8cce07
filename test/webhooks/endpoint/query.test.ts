import type { ExecutionResult } from 'graphql';
import { expect, test } from 'vitest';
import { ask, graphql, payload, send } from '../../support/operations/graphql.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { connect, logEnd } from '../../support/peers/subscriber.ts';
import { startService } from '../../support/service.ts';
import {
  adminOf,
  advance,
  attempted,
  createUser,
  createWebhook,
  type Endpoint,
} from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();

const document = `
  subscription Webhook($after: String) {
    happened: events(types: [USER_CREATED, USER_DATA_UPDATED], after: $after) {
      __typename id name type occurredAt
      actor { type id }
      ... on UserCreatedEvent { user { id username roles(first: 5) { totalCount } } }
      ... on UserDataUpdatedEvent { data }
    }
  }`;

const UpdateUser = graphql(`
  mutation UpdateUserForQuery($input: UpdateUserInput!) {
    updateUser(input: $input) {
      __typename
      ... on UpdateUserPayload { user { id } }
      ... on Error { message }
    }
  }
`);

/** Subscribes from the log's end on, and gives the results as they come. */
async function follow(endpoint: Endpoint, query: string) {
  const after = await logEnd(endpoint, service.testDatabase.database);
  const { client } = connect(endpoint);
  const iterator = client.iterate({ query, variables: { after } });
  return { next: async () => (await iterator.next()).value as ExecutionResult };
}

test('gets exactly what the same document yields as a subscription', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const subscription = await follow(admin, document);
  await createWebhook(admin, { url: receiver.url, query: document });

  const user = await createUser(admin);
  const created = await subscription.next();
  const [first] = await receiver.arrived(1);
  // A type that the document does not ask for.
  await ask(
    admin,
    graphql(`mutation RoleForQuery { createRole(input: { name: "A role" }) { __typename } }`),
  );
  const { updateUser } = await ask(admin, UpdateUser, { input: { id: user.id, name: 'Ada' } });
  payload(updateUser, 'UpdateUserPayload');
  const updated = await subscription.next();
  const [, second] = await receiver.arrived(2);

  expect(created.data).toMatchObject({
    happened: {
      __typename: 'UserCreatedEvent',
      user: { id: user.id, username: user.username, roles: { totalCount: 0 } },
    },
  });
  expect(first?.json).toMatchObject({ type: 'User.Created', data: created.data });
  expect(first?.json.data).toEqual(created.data);
  expect(second?.json.data).toEqual(updated.data);
  expect(second?.json.data).toMatchObject({ happened: { data: { name: 'Ada' } } });
  expect(receiver.received.map(({ json }) => Object.keys(json))).toEqual([
    ['id', 'type', 'timestamp', 'actor', 'data'],
    ['id', 'type', 'timestamp', 'actor', 'data'],
  ]);
});

test('runs with the scopes of whoever created the webhook', async () => {
  const limited = {
    url: service.url,
    token: await service.managementToken('webhooks:write events:read users:write'),
  };
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  const query = `subscription {
    events(types: [USER_CREATED]) { name ... on UserCreatedEvent { user { id roles { totalCount } } } }
  }`;
  const reading = `subscription Reading($after: String) {
    events(types: [ROLE_CREATED], after: $after) { name ... on RoleCreatedEvent { role { id } } }
  }`;
  const subscription = await follow(limited, reading);
  await createWebhook(limited, { url: receiver.url, query: reading });
  await ask(
    admin,
    graphql(`mutation AnotherRole { createRole(input: { name: "Another" }) { __typename } }`),
  );
  const result = await subscription.next();
  const [message] = await receiver.arrived(1);
  expect(result.errors).toEqual([
    expect.objectContaining({ extensions: { code: 'FORBIDDEN', requiredScope: 'roles:read' } }),
  ]);
  expect(message?.json).toMatchObject({ data: result.data, errors: result.errors });
  // With more scopes the same webhook may read more.
  const other = await startReceiver();
  await createWebhook(admin, { url: other.url, query });
  await createUser(admin);
  const [full] = await other.arrived(1);
  expect(full?.json).not.toHaveProperty('errors');
});

test('sends the first attempt’s result at every attempt', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith(500);
  const query = `subscription { events(types: [USER_CREATED]) {
    ... on UserCreatedEvent { user { id name } } } }`;
  const { id } = await createWebhook(admin, { url: receiver.url, query });
  const user = await createUser(admin);
  await attempted(admin, id);
  const { updateUser } = await ask(admin, UpdateUser, { input: { id: user.id, name: 'Changed' } });
  payload(updateUser, 'UpdateUserPayload');
  receiver.answerWith(204);
  advance(service, 6000);
  const [first, second] = await receiver.arrived(2);
  expect(first?.json.data).toEqual({ events: { user: { id: user.id, name: null } } });
  expect(second?.body).toBe(first?.body);
});

test('tells that a result is too large for a message', async () => {
  const admin = await adminOf(service);
  const within = await startReceiver();
  const beyond = await startReceiver();
  const queryOf = (times: number) => {
    const fields = Array.from({ length: times }, (_, index) => `d${index}: data`);
    return `subscription { events(types: [USER_CREATED]) { id ${fields.join(' ')} } }`;
  };
  await createWebhook(admin, { url: within.url, query: queryOf(4) });
  await createWebhook(admin, { url: beyond.url, query: queryOf(5) });
  const customData = { text: 'é'.repeat(30_000) };
  await callRest(admin, 'POST', '/users', { username: 'large', customData });

  const [whole] = await within.arrived(1);
  expect(whole?.json.data).toMatchObject({ events: { d3: { username: 'large', customData } } });
  expect(whole?.json).not.toHaveProperty('errors');
  const [told] = await beyond.arrived(1);
  expect(told?.json).toEqual({
    id: whole?.json.id,
    type: 'User.Created',
    timestamp: whole?.json.timestamp,
    actor: whole?.json.actor,
    data: null,
    errors: [
      {
        message: 'The message would have more than 256 KiB. Read the event by its id.',
        extensions: { code: 'QUERY_TOO_COMPLEX' },
      },
    ],
  });
});

const CreateWebhook = graphql(`
  mutation CreateWebhookWithQuery($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      __typename
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

test.each([
  ['does not parse', 'subscription { events { id '],
  ['is a query', '{ events { totalCount } }'],
  ['is not in the schema', 'subscription { events { id nothing } }'],
  ['has two operations', 'subscription A { events { id } } subscription B { events { id } }'],
  ['has two fields', 'subscription { a: events { id } b: events { id } }'],
  [
    'has its field in a fragment',
    'subscription { ...F } fragment F on Subscription { events { id } }',
  ],
  ['has its field conditionally', 'subscription { events @include(if: false) { id } }'],
  ['needs a variable', 'subscription ($types: [EventType!]!) { events(types: $types) { id } }'],
  ['asks for no type at all', 'subscription { events(types: []) { id } }'],
  ['begins in the past', 'subscription { events(after: "NzUwLjE") { id } }'],
  [
    'costs too much',
    `subscription { events { ... on UserCreatedEvent { user { roles(first: 100) { edges { node {
       scopes(first: 100) { edges { node { resource { scopes(first: 100) { edges { node { id } } } } } } } } } } } } } }`,
  ],
  [
    'has too many aliases',
    `subscription { events { ${Array.from({ length: 31 }, (_, n) => `a${n}: id`).join(' ')} } }`,
  ],
  [
    'asks for no type that the webhook gets',
    'subscription { events(types: [ROLE_CREATED]) { id } }',
  ],
])('refuses a query that %s', async (_what, query) => {
  const admin = await adminOf(service);
  const { createWebhook: result } = await ask(admin, CreateWebhook, {
    input: { name: 'Q', url: 'https://example.com/', query, events: ['USER_CREATED'] },
  });
  expect(result).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['query'] }],
  });
});

test('refuses a query from a caller without `events:read`', async () => {
  const endpoint = { url: service.url, token: await service.managementToken('webhooks:write') };
  const { errors } = await send(endpoint, CreateWebhook, {
    input: { name: 'Q', url: 'https://example.com/', query: 'subscription { events { id } }' },
  });
  expect(errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN', requiredScope: 'events:read' } },
  ]);
});

test('reports every fault of an input at once', async () => {
  const { createWebhook: result } = await ask(await adminOf(service), CreateWebhook, {
    input: {
      name: ' ',
      url: 'https://user:secret@example.com/',
      query: '{ users { totalCount } }',
      maxInFlight: 0,
      headers: { 'Webhook-Id': 'x', host: 'x', 'bad name': 'x', ok: 'a\r\nb', number: 1 },
    },
  });
  if (result.__typename !== 'InvalidInputError') throw new Error('It was refused.');
  expect(result.issues.map(({ path }) => path.join('.')).toSorted()).toEqual([
    'headers.Webhook-Id',
    'headers.bad name',
    'headers.host',
    'headers.number',
    'headers.ok',
    'maxInFlight',
    'name',
    'query',
    'url',
  ]);
});
