import { describe, expect, test } from 'vitest';
import { listen } from '../../src/http/listener.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { send } from '../support/operations/graphql.ts';
import { askRaw } from '../support/peers/raw-http.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const token = await service.managementToken();
const html = 'text/html,application/xhtml+xml';
const long = 'x'.repeat(300);

const ask = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

test.each(['[', 'a b', 'x:99999999', '%'])(
  'a client may name a host that is none: %s',
  async (host) => {
    const headers = { host, 'content-type': 'application/json', authorization: `Bearer ${token}` };
    for (const path of ['/graphql', '/api/users?first=1', '/healthz']) {
      const body = path === '/graphql' ? ['{"query":"{ __typename }"}'] : undefined;
      const answer = await askRaw(`${service.url}${path}`, headers, body);
      expect([path, answer.status]).toEqual([path, 200]);
    }
  },
);

describe('an address that no route takes', () => {
  const addresses = [
    ['%zz', 400, 'BAD_USER_INPUT'],
    ['%ff', 400, 'BAD_USER_INPUT'],
    ['x-nothing-x', 404, 'UNKNOWN_ROUTE'],
  ] as const;

  test.each([...addresses, [`users/${long}`, 414, 'URI_TOO_LONG'] as const])(
    'is a problem under /api: %s',
    async (path, status, code) => {
      const answer = await ask(`/api/${path}`, { accept: html });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(JSON.parse(answer.text)).toMatchObject({ status, code });
      if (code !== 'UNKNOWN_ROUTE') expect(answer.text).not.toContain(path);
    },
  );

  test.each([
    ...addresses,
    ['sign-in', 404, 'UNKNOWN_ROUTE'] as const,
    [`sign-in/${long}`, 414, 'URI_TOO_LONG'] as const,
  ])('is a page for a browser: %s', async (path, status, _code) => {
    const answer = await ask(`/${path}`, { accept: html, 'accept-language': 'de' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('content-security-policy')).not.toBeNull();
    expect(answer.text).toContain('<html lang="de">');
    expect(answer.text).not.toContain(path);
  });

  test.each(addresses)('is JSON for programs: %s', async (path, status, code) => {
    const answer = await ask(`/${path}`);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ code });
    expect(answer.text).not.toContain(path);

    const oauth = await ask(`/oidc/${path}`);
    expect(oauth.status).toBe(status);
    expect(JSON.parse(oauth.text)).toMatchObject({ error: 'invalid_request' });
    expect(oauth.text).not.toContain(path);
  });
});

describe('a GraphQL request', () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { response, body: (await response.json()) as unknown };
  };
  const malformed = { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] };

  test.each(['{"query":null}', '{}', '{"variables":{}}'])('is refused as %s', async (sent) => {
    for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
      const { response, body } = await post(sent, { accept });
      expect(response.status).toBe(400);
      expect(body).toMatchObject(malformed);
    }
    const { response } = await post('{"query":"{ __typename }"}');
    expect(response.status).toBe(200);
  });

  test('is told when it accepts nothing that is answered', async () => {
    const { response, body } = await post('{"query":"{ __typename }"}', { accept: 'text/csv' });
    expect(response.status).toBe(406);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject(malformed);
    const subscription = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0';
    const asked = await post('{"query":"subscription { events { id } }"}', {
      accept: subscription,
    });
    expect(asked.response.status).toBe(406);
    expect(JSON.stringify(asked.body)).toContain('text/event-stream');
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('is not taken by %s', async (method) => {
    for (const type of ['application/json', 'text/plain']) {
      const response = await fetch(`${service.url}/graphql`, {
        method,
        headers: { 'content-type': type },
        ...(method === 'DELETE' ? {} : { body: 'x' }),
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, POST');
      expect(await response.json()).toMatchObject(malformed);
    }
  });
});

test('a cursor that no text of the database is is malformed', async () => {
  const lists = [
    'users(first: 1, after: $cursor) { totalCount }',
    'users(first: 1, after: $cursor, orderBy: { field: NAME }) { totalCount }',
    'users(last: 1, before: $cursor) { totalCount }',
    'roles(first: 1) { edges { node { scopes(first: 1, after: $cursor) { totalCount } } } }',
  ];
  for (const part of ['\ud800', '\udc00x', 'a\0']) {
    for (const position of [
      [part, 'x'],
      ['x', part],
    ]) {
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url');
      for (const list of lists) {
        const { status, errors } = await send(
          { url: service.url, token },
          `query ($cursor: String) { ${list} }`,
          { cursor },
        );
        expect(status, list).toBe(400);
        expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
      }
    }
  }
});

test('a service that is starting says when to come back', async () => {
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  closeAtEnd(() => listener.close());
  const at = `http://127.0.0.1:${listener.port}`;
  const starting = await fetch(`${at}/graphql`, { headers: { connection: 'close' } });
  expect(starting.status).toBe(503);
  expect(Number(starting.headers.get('retry-after'))).toBeGreaterThan(0);
  const alive = await fetch(`${at}/healthz`, { headers: { connection: 'close' } });
  expect(alive.headers.get('retry-after')).toBeNull();
});
