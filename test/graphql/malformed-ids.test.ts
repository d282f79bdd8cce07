import { describe, expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const ask = <Data>(query: string, variables: object = {}) =>
  send<Data, object>(endpoint, query, variables);

const { data } = await ask<{ createUser: { user: { id: string } } }>(
  'mutation { createUser(input: { name: "Neighbour" }) { ... on CreateUserPayload { user { id } } } }',
);
const known = data?.createUser.user.id ?? '';

const malformed = [
  ['no TypeID', 'garbage'],
  ['an empty text', ''],
  ['a prefix that nothing has', 'nothing_01h455vb4pex5vsknk084sn02q'],
  ['a kind that is no node', 'whsecret_01h455vb4pex5vsknk084sn02q'],
  ["a name of JavaScript's own", '__proto__'],
  ['a NUL character', 'user\u0000'],
  ['half of a surrogate pair', 'user_\ud800'],
] as const;

describe.each(malformed)('a malformed id: %s', (_what, id) => {
  test('is null, and its neighbours are found', async () => {
    const answer = await ask(
      `query ($id: ID!, $known: ID!) {
        node(id: $id) { id }
        user(id: $id) { id }
        role(id: $id) { id }
        nodes(ids: [$id, $known, $id]) { id }
        neighbour: node(id: $known) { id }
        user2: user(id: $known) { id }
      }`,
      { id, known },
    );
    expect(answer).toEqual({
      status: 200,
      data: {
        node: null,
        user: null,
        role: null,
        nodes: [null, { id: known }, null],
        neighbour: { id: known },
        user2: { id: known },
      },
    });
  });

  test.each([
    ['deleteUser', '{ id: $id }'],
    ['updateUser', '{ id: $id, name: "x" }'],
    ['assignUserRoles', '{ userId: $id, roleIds: [] }'],
    ['createRole', '{ name: "r", type: USER, scopeIds: [$id] }'],
    ['addOrganizationUsers', '{ organizationId: $id, userIds: [$id] }'],
    ['updateOrganizationInvitationStatus', '{ id: $id, status: REVOKED }'],
    ['deleteWebhook', '{ id: $id }'],
    ['redeliver', '{ deliveryId: $id }'],
  ])('is a NotFoundError of %s', async (mutation, input) => {
    const answer = await ask(
      `mutation ($id: ID!) { ${mutation}(input: ${input}) { __typename ... on Error { code } } }`,
      { id },
    );
    expect(answer).toEqual({
      status: 200,
      data: { [mutation]: { __typename: 'NotFoundError', code: 'NOT_FOUND' } },
    });
  });

  test('matches nothing in a filter', async () => {
    const answer = await ask(
      `query ($id: ID!) {
        users(filter: { roleId: $id, notOrganizationId: $id }) { totalCount }
        events(subjectId: $id, actorId: $id) { totalCount }
      }`,
      { id },
    );
    expect(answer).toEqual({
      status: 200,
      data: { users: { totalCount: 0 }, events: { totalCount: 0 } },
    });
  });
});

test.each(['garbage', 'user%00'])('REST answers %s with 404', async (id) => {
  expect(await callRest(endpoint, 'GET', `/users/${id}`)).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND' },
  });
});

test('an unreadable event is null beside readable ones', async () => {
  const token = await service.managementToken('users:read');
  const answer = await send<unknown, object>(
    { ...endpoint, token },
    'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    { ids: ['evt_01h455vb4pex5vsknk084sn02q', known] },
  );
  expect(answer).toMatchObject({
    data: { nodes: [null, { id: known }] },
    errors: [{ path: ['nodes', 0], extensions: { code: 'FORBIDDEN' } }],
  });
});
