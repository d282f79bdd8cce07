import { beforeAll, describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();
const hardened = await startService({ INTROSPECTION: 'false', GRAPHIQL: 'false' });
let token: string;
beforeAll(async () => {
  token = await service.managementToken();
});

async function post(body: unknown, headers: Record<string, string> = {}, to = service) {
  const response = await fetch(`${to.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { errors, data } = text.startsWith('{')
    ? JSON.parse(text)
    : { errors: undefined, data: text };
  return {
    status: response.status,
    headers: response.headers,
    data,
    code: errors?.[0]?.extensions?.code,
    errors,
  };
}
const bearer = () => ({ authorization: `Bearer ${token}` });
const graphqlResponse = { accept: 'application/graphql-response+json' };

describe('a top-level error has its code and status', () => {
  test('UNAUTHENTICATED, 401, without a required token', async () => {
    const answer = await post({ query: '{ users { totalCount } }' });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="/);
  });

  test.each([
    ['garbage', 'Bearer abc'],
    ['another scheme', 'Basic YTpi'],
    ['no token', 'Bearer'],
    ['a token of no key of ours', 'Bearer eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.e30.'],
  ])('UNAUTHENTICATED, 401, with %s, even where none is required', async (_what, authorization) => {
    const answer = await post({ query: '{ __typename }' }, { authorization });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });

  test('UNAUTHENTICATED, 401, with an expired token', async () => {
    const expired = await service.managementToken();
    service.clock.advance(3_601_000);
    const answer = await post({ query: '{ __typename }' }, { authorization: `Bearer ${expired}` });
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    token = await service.managementToken();
  });

  test('FORBIDDEN, 403, with the scope that is missing', async () => {
    const weak = await service.managementToken('users:read');
    const answer = await post(
      { query: 'mutation { createUser(input: { username: "x" }) { __typename } }' },
      { authorization: `Bearer ${weak}` },
    );
    expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(answer.errors[0].extensions.requiredScope).toBe('users:write');
  });

  test('GRAPHQL_PARSE_FAILED and GRAPHQL_VALIDATION_FAILED', async () => {
    const headers = { ...bearer(), ...graphqlResponse };
    expect(await post({ query: '{ users {' }, headers)).toMatchObject({
      status: 400,
      code: 'GRAPHQL_PARSE_FAILED',
    });
    expect(await post({ query: '{ nothing }' }, headers)).toMatchObject({
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
  });

  test.each([
    [
      'variables that do not fit',
      { query: 'query($n: Int!) { users(first: $n) { totalCount } }', variables: { n: 'x' } },
    ],
    ['a page that is too large', { query: '{ users(first: 101) { totalCount } }' }],
    ['no query at all', {}],
    ['an operation that is not there', { query: 'query A { __typename }', operationName: 'B' }],
    ['a body that is no JSON', '{'],
  ])('BAD_USER_INPUT, 400, for %s', async (_what, body) => {
    expect(await post(body, { ...bearer(), ...graphqlResponse })).toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
    });
  });

  test.each([
    [
      'too deep',
      `{ roles { edges { node { ${'scopes { edges { node { resource { '.repeat(4)}id${'} } } }'.repeat(4)} } } } }`,
    ],
    [
      'too costly',
      '{ users(first: 100) { edges { node { roles(first: 100) { edges { node { scopes(first: 100) { edges { node { id } } } } } } } } } }',
    ],
    [
      'too many aliases',
      `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
    ],
  ])('QUERY_TOO_COMPLEX, 400, for a document that is %s', async (_what, query) => {
    expect(await post({ query }, { ...bearer(), ...graphqlResponse })).toMatchObject({
      status: 400,
      code: 'QUERY_TOO_COMPLEX',
    });
  });

  test('refuses a document with too many tokens', async () => {
    const query = `{ ${'__typename '.repeat(4_001)} }`;
    expect(await post({ query }, { ...bearer(), ...graphqlResponse })).toMatchObject({
      status: 400,
      code: 'GRAPHQL_PARSE_FAILED',
    });
  });

  test('refuses a body over 4 MiB', async () => {
    expect((await post('x'.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
  });

  test('refuses a mutation by GET', async () => {
    const query = encodeURIComponent('mutation { createUser(input: {}) { __typename } }');
    const response = await fetch(`${service.url}/graphql?query=${query}`, { headers: bearer() });
    expect(response.status).toBe(405);
  });
});

test('masks a fault, and logs it under the client’s id', async () => {
  const broken = await startService();
  const authorization = `Bearer ${await broken.managementToken()}`;
  await broken.testDatabase.database.prisma
    .$executeRaw`ALTER TABLE "Role" RENAME COLUMN "description" TO "gone"`;
  const answer = await post(
    { query: '{ roles { edges { node { description } } } }' },
    { authorization },
    broken,
  );
  expect(answer).toMatchObject({ status: 500, code: 'INTERNAL_SERVER_ERROR' });
  expect(JSON.stringify(answer.errors)).not.toMatch(/prisma|description|does not exist/i);
  const { requestId } = answer.errors[0].extensions;
  const line = broken.logged.find((entry) => entry['requestId'] === requestId);
  expect(JSON.stringify(line)).toMatch(/description does not exist/);
});

describe('introspection', () => {
  const query = '{ __schema { queryType { name } } }';

  test('is on by default, with GraphiQL for browsers', async () => {
    expect((await post({ query })).data).toEqual({ __schema: { queryType: { name: 'Query' } } });
    const page = await fetch(`${service.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    // A stop waits for who has not read its answer.
    await page.text();
  });

  test('can be off, with GraphiQL and name suggestions', async () => {
    const authorization = `Bearer ${await hardened.managementToken()}`;
    expect(await post({ query }, { authorization, ...graphqlResponse }, hardened)).toMatchObject({
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
    const { errors } = await post(
      { query: '{ userz { totalCount } }' },
      { authorization },
      hardened,
    );
    expect(errors[0].message).not.toContain('Did you mean');
    const page = await fetch(`${hardened.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(await page.text()).not.toContain('GraphiQL');
  });
});
