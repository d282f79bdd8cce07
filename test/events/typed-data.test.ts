import { expect, test } from 'vitest';
import { raise, settled } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { connect, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const endpoint = { url: service.url, token: await service.managementToken() };
const ask = <Data>(query: string, variables: object = {}, token = endpoint.token) =>
  send<Data, object>({ ...endpoint, token }, query, variables);

const created = await ask<{ createUser: { user: { id: string } } }>(
  'mutation { createUser(input: { name: "Ada", customData: { a: 1 } }) { ... on CreateUserPayload { user { id } } } }',
);
const id = created.data?.createUser.user.id ?? '';
await ask('mutation ($id: ID!) { updateUser(input: { id: $id, name: "Ada L." }) { __typename } }', {
  id,
});
await ask(
  'mutation ($id: ID!) { updateUserSuspensionStatus(input: { id: $id, isSuspended: true }) { __typename } }',
  { id },
);
await ask('mutation ($id: ID!) { deleteUser(input: { id: $id }) { __typename } }', { id });
await raise({ ...services, actor: { type: 'USER', id, clientId: service.admin.id } }, [
  {
    type: 'Identifier.Lockout',
    data: { type: 'email', value: 'a@example.com', lockedUntil: '2030-01-01T00:00:00.000Z' },
  },
]);
await settled(services.database);

const selection = `
  __typename data
  actor {
    __typename type id clientId
    ... on UserActor { user { id } application { name } }
    ... on ApplicationActor { application { id } }
  }
  ... on UserDataUpdatedEvent { changes { field from to } userSnapshot { name } }
  ... on UserSuspensionStatusUpdatedEvent { changes { field from to } }
  ... on UserDeletedEvent {
    user { id }
    userSnapshot { recordId name customData isSuspended hasPassword lastSignInAt createdAt }
  }
  ... on IdentifierLockoutEvent { lockedUntil }`;

interface Node {
  readonly __typename: string;
  readonly data: Record<string, unknown>;
  readonly [field: string]: unknown;
}
const query = `{ events { edges { node { ${selection} } } } }`;
const nodes = async (token?: string) => {
  const { data, errors } = await ask<{ events: { edges: { node: Node }[] } }>(query, {}, token);
  return { errors, nodes: data?.events.edges.map(({ node }) => node) ?? [] };
};
const find = (list: readonly Node[], name: string) =>
  list.find(({ __typename }) => __typename === name);

test('changes, deleted records and instants are typed beside the JSON', async () => {
  const { nodes: list, errors } = await nodes();
  expect(errors).toBeUndefined();
  expect(find(list, 'UserDataUpdatedEvent')).toMatchObject({
    changes: [{ field: 'name', from: 'Ada', to: 'Ada L.' }],
    userSnapshot: { name: 'Ada L.' },
  });
  expect(find(list, 'UserSuspensionStatusUpdatedEvent')).toMatchObject({
    changes: [{ field: 'isSuspended', from: false, to: true }],
  });
  const deleted = find(list, 'UserDeletedEvent');
  expect(deleted).toMatchObject({
    user: null,
    userSnapshot: {
      recordId: id,
      name: 'Ada L.',
      customData: { a: 1 },
      isSuspended: true,
      hasPassword: false,
      lastSignInAt: null,
      createdAt: deleted?.data['createdAt'],
    },
  });
  expect(find(list, 'IdentifierLockoutEvent')).toMatchObject({
    lockedUntil: '2030-01-01T00:00:00.000Z',
  });
});

test('an actor is a user, an application or Signet', async () => {
  const { nodes: list } = await nodes();
  expect(find(list, 'UserCreatedEvent')?.['actor']).toEqual({
    __typename: 'ApplicationActor',
    type: 'APPLICATION',
    id: service.admin.id,
    clientId: null,
    application: { id: service.admin.id },
  });
  expect(find(list, 'IdentifierLockoutEvent')?.['actor']).toMatchObject({
    __typename: 'UserActor',
    type: 'USER',
    id,
    clientId: service.admin.id,
    // Deleted since.
    user: null,
    application: { name: expect.any(String) },
  });
});

test("an event stays readable without its actor's record", async () => {
  const { nodes: list, errors } = await nodes(await service.managementToken('events:read'));
  expect(find(list, 'UserCreatedEvent')).toMatchObject({
    actor: { id: service.admin.id, application: null },
  });
  expect(find(list, 'UserDeletedEvent')).toMatchObject({ userSnapshot: { name: 'Ada L.' } });
  expect(new Set(errors?.map(({ extensions }) => extensions['requiredScope']))).toEqual(
    new Set(['applications:read']),
  );
});

test('a subscription gives the same', async () => {
  const subscriber = subscribe(
    connect(endpoint),
    { after: Buffer.from('0.0').toString('base64url') },
    `subscription ($after: String) { events(after: $after) { ${selection} } }`,
  );
  const { nodes: list } = await nodes();
  expect(await subscriber.received(list.length)).toEqual(list);
});
