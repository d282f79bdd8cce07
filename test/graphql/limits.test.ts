import { describe, expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const ask = <Data>(query: string, variables: object = {}) =>
  send<Data, object>(endpoint, query, variables);

const lists = [
  'users',
  'roles',
  'resources',
  'applications',
  'organizations',
  'organizationRoles',
  'organizationScopes',
  'organizationInvitations',
  'webhooks',
];

describe('a search', () => {
  test.each(lists)('of %s takes up to 256 characters', async (list) => {
    const query = `query ($text: String!) { ${list}(filter: { search: $text }) { totalCount } }`;
    expect(await ask(query, { text: 'x'.repeat(256) })).toEqual({
      status: 200,
      data: { [list]: { totalCount: 0 } },
    });
    expect(await ask(query, { text: 'x'.repeat(257) })).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });

  test.each([
    ['users', 'createUser(input: { name: $name }) { ... on CreateUserPayload { user { id } } }'],
    ['roles', 'createRole(input: { name: $name, type: USER }) { __typename }'],
    [
      'resources',
      'createResource(input: { name: $name, indicator: "https://x.example.com" }) { __typename }',
    ],
    ['applications', 'createApplication(input: { name: $name, type: SPA }) { __typename }'],
    ['organizations', 'createOrganization(input: { name: $name }) { __typename }'],
    ['organizationRoles', 'createOrganizationRole(input: { name: $name }) { __typename }'],
    [
      'organizationScopes',
      'createOrganizationScope(input: { name: "s", description: $name }) { __typename }',
    ],
  ])('of %s takes %, _ and \\ literally', async (list, create) => {
    const name = `50%_off\\${list}`;
    await ask(`mutation ($name: String!) { ${create} }`, { name });
    const count = async (text: string) => {
      const query = `query ($text: String!) { ${list}(filter: { search: $text }) { totalCount } }`;
      const { data } = await ask<Record<string, { totalCount: number }>>(query, { text });
      return data?.[list]?.totalCount;
    };
    for (const found of ['50%_OFF', '%_o', `off\\${list}`, '\\'])
      expect(await count(found)).toBe(1);
    for (const pattern of ['5%off', '50__off', '%%', '_%', '\\%'])
      expect(await count(pattern)).toBe(0);
  });

  test('over REST too', async () => {
    expect(await callRest(endpoint, 'GET', `/users?search=${'x'.repeat(257)}`)).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT' },
    });
  });
});

describe('the ids of nodes', () => {
  const id = 'user_01h455vb4pex5vsknk084sn02q';
  const deep =
    '... on User { roles(first: 100) { edges { node { scopes(first: 100) { edges { node { id } } } } } } }';

  test.each([
    [`query ($ids: [ID!]!) { nodes(ids: $ids) { id ${deep} } }`, Array(50).fill(id)],
    [`query ($ids: [ID!]!) { nodes(ids: $ids) { id } }`, Array(1001).fill(id)],
  ])('count in the cost of %s', async (query, ids) => {
    expect(await ask(query, { ids: ids.slice(0, 2) })).toEqual({
      status: 200,
      data: { nodes: [null, null] },
    });
    expect(await ask(query, { ids })).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }],
    });
  });
});

test.each([
  ['fields', `{${'a{'.repeat(3000)}`],
  ['lists', `{a(b:${'['.repeat(3990)}`],
])('a document of %s nested too deeply is refused', async (_case, query) => {
  const { data, errors } = await ask(query);
  expect(data).toBeUndefined();
  expect(errors?.[0]?.extensions?.['code']).toBe('GRAPHQL_PARSE_FAILED');
});

test('a webhook accepts no document nested too deeply', async () => {
  const query = `subscription{events(types:${'['.repeat(3980)}`;
  const input = { name: 'deep', url: 'https://8.8.8.8/', query };
  const mutation =
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { __typename } }';
  expect(await ask(mutation, { input })).toMatchObject({
    data: { createWebhook: { __typename: 'InvalidInputError' } },
  });
});

test('variables nested too deep are refused', async () => {
  const text = `{"query":"query ($input: UpdateUserCustomDataInput!) { updateUserCustomData(input: $input) { __typename ... on Error { code } } }","variables":{"input":{"id":"user_x","customData":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}}}}`;
  const response = await fetch(`${endpoint.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${endpoint.token}` },
    body: text,
  });
  expect(response.status).toBeLessThan(500);
});
