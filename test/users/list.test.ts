import { beforeAll, describe, expect, test } from 'vitest';
import { ask, graphql, payload, send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService();
let endpoint: { url: string; token: string };

const names = ['anna', 'Bert', 'carl', 'Dina', 'emil', 'fritz', 'gerd', 'hans', 'ida'];

const Create = graphql(`
  mutation CreateListed($input: CreateUserInput!) {
    createUser(input: $input) { __typename ... on CreateUserPayload { user { id } } }
  }
`);

const ids: string[] = [];
beforeAll(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
  for (const [index, name] of names.entries()) {
    service.clock.advance(1000);
    const input = {
      username: name,
      primaryEmail: `${name}@example.com`,
      name: index % 3 === 0 ? null : `The ${name}`,
    };
    ids.push(
      payload((await ask(endpoint, Create, { input })).createUser, 'CreateUserPayload').user.id,
    );
  }
});

const List = graphql(`
  query ListUsers(
    $first: Int, $after: String, $last: Int, $before: String, $filter: UserFilter, $orderBy: UserOrder
  ) {
    users(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { id username name } }
    }
  }
`);

const list = async (variables: object) => (await ask(endpoint, List, variables as never)).users;

async function walk(direction: 'forward' | 'backward', variables: object, size = 2) {
  const found: (string | null | undefined)[] = [];
  let cursor: string | null | undefined = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof list>> = await list(
      direction === 'forward'
        ? { ...variables, first: size, after: cursor }
        : { ...variables, last: size, before: cursor },
    );
    const usernames = page.edges.map(({ node }) => node.username);
    if (direction === 'forward') found.push(...usernames);
    else found.unshift(...usernames);
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    if (direction === 'forward' ? !hasNextPage : !hasPreviousPage) return found;
    cursor = direction === 'forward' ? endCursor : startCursor;
  }
}

test('lists the newest first by default, and counts all', async () => {
  const page = await list({ first: 3 });
  expect(page.totalCount).toBe(names.length);
  expect(page.edges.map(({ node }) => node.id)).toEqual(ids.slice(-3).reverse());
});

describe.each([
  ['CREATED_AT', 'ASC'],
  ['CREATED_AT', 'DESC'],
  ['NAME', 'ASC'],
  ['NAME', 'DESC'],
  ['USERNAME', 'ASC'],
  ['UPDATED_AT', 'DESC'],
  ['LAST_SIGN_IN_AT', 'ASC'],
] as const)('ordered by %s %s', (field, direction) => {
  test('gives the same list forward, backward, and at once', async () => {
    const orderBy = { field, direction };
    const whole = (await list({ first: 100, orderBy })).edges.map(({ node }) => node.username);
    expect(new Set(whole).size).toBe(names.length);
    expect(await walk('forward', { orderBy })).toEqual(whole);
    expect(await walk('backward', { orderBy })).toEqual(whole);
  });
});

test('puts those without a value last in both directions', async () => {
  for (const direction of ['ASC', 'DESC'] as const) {
    const page = await list({ first: 100, orderBy: { field: 'NAME', direction } });
    expect(page.edges.slice(-3).every(({ node }) => node.name === null)).toBe(true);
  }
});

test('continues after a user who was deleted meanwhile', async () => {
  const orderBy = { field: 'USERNAME', direction: 'ASC' };
  const firstBefore = (await list({ first: 1, orderBy })).edges[0]?.node.id;
  const { createUser } = await ask(endpoint, Create, { input: { username: 'AAA' } });
  const { id } = payload(createUser, 'CreateUserPayload').user;
  const page = await list({ first: 1, orderBy });
  expect(page.edges[0]?.node.id).toBe(id);
  await ask(
    endpoint,
    graphql(`mutation DeleteListed($id: ID!) { deleteUser(input: { id: $id }) { __typename } }`),
    { id },
  );
  const next = await list({ first: 1, orderBy, after: page.pageInfo.endCursor });
  expect(next.edges[0]?.node.id).toBe(firstBefore);
});

test.each([
  ['part of a name', { search: 'THE BERT' }, ['Bert']],
  ['part of a user name', { search: 'rit' }, ['fritz']],
  ['part of an e-mail address', { search: 'dina@EXAMPLE' }, ['Dina']],
  ['a pattern character, as itself', { search: '%' }, []],
  ['who is suspended', { isSuspended: true }, []],
  ['a role nobody has', { roleId: 'role_01h455vb4pex5vsknk084sn02q' }, []],
])('finds users by %s', async (_what, filter, expected) => {
  const page = await list({ filter });
  expect(page.edges.map(({ node }) => node.username)).toEqual(expected);
  expect(page.totalCount).toBe(expected.length);
});

test('finds users by id and by creation time', async () => {
  expect(
    (await list({ filter: { search: ids[4] } })).edges.map(({ node }) => node.username),
  ).toEqual(['emil']);
  const { createdAt } = (
    await ask(endpoint, graphql(`query CreatedAt($id: ID!) { user(id: $id) { createdAt } }`), {
      id: ids[6] as string,
    })
  ).user as { createdAt: string };
  expect((await list({ filter: { createdAfter: createdAt } })).totalCount).toBe(2);
  expect((await list({ filter: { createdBefore: createdAt } })).totalCount).toBe(6);
});

test.each([
  ['a page over 100', { first: 101 }],
  ['a negative page', { first: -1 }],
  ['both ends', { first: 1, last: 1 }],
  ['a cursor that is none', { first: 1, after: 'x' }],
])('refuses %s as BAD_USER_INPUT', async (_what, variables) => {
  const { status, errors } = await send(endpoint, List, variables as never);
  expect(status).toBe(400);
  expect(errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
});

test('refuses a cursor of another order as BAD_USER_INPUT', async () => {
  const byName = await list({ first: 1, orderBy: { field: 'NAME', direction: 'ASC' } });
  const { status, errors } = await send(endpoint, List, {
    first: 1,
    after: byName.pageInfo.endCursor,
    orderBy: { field: 'UPDATED_AT', direction: 'ASC' },
  });
  expect([status, errors?.[0]?.extensions['code']]).toEqual([400, 'BAD_USER_INPUT']);
});
