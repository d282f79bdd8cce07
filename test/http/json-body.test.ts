import { beforeAll, describe, expect, test } from 'vitest';
import { askRaw } from '../support/peers/raw-http.ts';
import { startService } from '../support/service.ts';

const service = await startService();
let token: string;
beforeAll(async () => {
  token = await service.managementToken();
});

const kibibytes = (count: number) => Buffer.alloc(count * 1024, ' ');
const document = JSON.stringify({ query: '{ __typename }' });
const padded = (size: number) => [document, ...Array.from({ length: size }, () => kibibytes(1))];

const post = async (
  path: string,
  body: readonly (string | Buffer)[],
  headers: Record<string, string> = {},
) => {
  const { status, body: answer } = await askRaw(
    `${service.url}${path}`,
    { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body,
  );
  return { status, body: JSON.parse(answer.toString()) };
};
const authorization = () => ({ authorization: `Bearer ${token}` });

describe('a body for GraphQL', () => {
  test.each([
    ['of a length that is told', { 'content-length': String(101 * 1024 + document.length) }],
    ['in chunks', {}],
  ])('has at most 100 KiB without a token, %s', async (_what, headers) => {
    expect(await post('/graphql', padded(99))).toMatchObject({
      status: 200,
      body: { data: { __typename: 'Query' } },
    });
    expect(await post('/graphql', padded(101), headers as Record<string, string>)).toMatchObject({
      status: 413,
      body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
  });

  test('has at most 4 MiB with a token', async () => {
    expect(await post('/graphql', padded(4095), authorization())).toMatchObject({ status: 200 });
    expect(await post('/graphql', padded(4097), authorization())).toMatchObject({ status: 413 });
  });

  test('that is large is refused because of its bad token', async () => {
    const headers = { authorization: 'Bearer no-such-token' };
    expect(await post('/graphql', padded(200), headers)).toMatchObject({
      status: 401,
      body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    });
    expect(await post('/api/users', padded(200), headers)).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    });
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'])(
    'is not %s',
    async (type) => {
      expect(await post('/graphql', [document], { 'content-type': type })).toMatchObject({
        status: 415,
        body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
      });
    },
  );

  test.each(['application/json; charset=utf-8', 'application/graphql-response+json'])(
    'may be %s',
    async (type) => {
      expect(await post('/graphql', [document], { 'content-type': type })).toMatchObject({
        status: 200,
      });
    },
  );

  test.each([['[]'], ['"x"'], ['7'], ['null'], ['{'], [''], [`[${document}]`], ['{"query":7}']])(
    'that is %s is refused as such',
    async (body) => {
      expect(await post('/graphql', [body])).toMatchObject({
        status: 400,
        body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
      });
    },
  );

  test('is not needed for a query in the URL', async () => {
    const get = async (query: string) => {
      const response = await fetch(`${service.url}/graphql?${query}`);
      return { status: response.status, body: (await response.json()) as unknown };
    };
    const named = 'query=query($n:Boolean!){__typename@include(if:$n)}';
    expect(await get(`${named}&variables={"n":true}`)).toEqual({
      status: 200,
      body: { data: { __typename: 'Query' } },
    });
    expect(await get(`${named}&variables={`)).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
  });
});

describe('a body for REST', () => {
  test('has at most 100 KiB without a token', async () => {
    const body = Array.from({ length: 101 }, () => kibibytes(1));
    expect(await post('/api/users', body)).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    });
    expect(await post('/api/users', ['{}', ...body], authorization())).toMatchObject({
      status: 201,
    });
  });

  test('of an unknown sender is not awaited', async () => {
    expect(await post('/api/users', ['{}'])).toMatchObject({ status: 401 });
  });
});
