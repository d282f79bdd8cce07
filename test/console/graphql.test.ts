import { describe, expect, test } from 'vitest';
import { consoleFolder, openConsole, openSocket, setUpConsole } from '../support/people/console.ts';
import { startService } from '../support/service.ts';

const service = await startService({}, { consoleFolder });
const { origin } = new URL(service.app.services.baseUrl);
const browser = await setUpConsole(service);
const cookie = browser.cookiesFor('/console/graphql');
const { prisma } = service.testDatabase.database;

const fromPage = {
  accept: 'application/json',
  'content-type': 'application/json',
  origin,
  'x-signet-console': '1',
};
const createUser = JSON.stringify({
  query: 'mutation { createUser(input: { username: "forged" }) { __typename } }',
});

async function post(headers: Record<string, string>, body: BodyInit = createUser) {
  const response = await fetch(`${service.url}/console/graphql`, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const without = (name: keyof typeof fromPage): Record<string, string> => {
  const { [name]: _left, ...rest } = fromPage;
  return rest;
};

describe('POST /console/graphql', () => {
  test.each<[string, Record<string, string>]>([
    ['no Origin', without('origin')],
    ['the Origin null', { ...fromPage, origin: 'null' }],
    ['another Origin', { ...fromPage, origin: 'https://evil.example' }],
    ['an Origin that begins as ours', { ...fromPage, origin: `${origin}.evil.example` }],
    ['our host on another port', { ...fromPage, origin: 'http://localhost:1' }],
    ['our host under another scheme', { ...fromPage, origin: origin.replace('http', 'https') }],
    ['Sec-Fetch-Site: same-site', { ...fromPage, 'sec-fetch-site': 'same-site' }],
    ['Sec-Fetch-Site: cross-site', { ...fromPage, 'sec-fetch-site': 'cross-site' }],
    ['no X-Signet-Console', without('x-signet-console')],
    ['another X-Signet-Console', { ...fromPage, 'x-signet-console': 'true' }],
  ])('refuses a request with %s', async (_what, headers) => {
    const { status, text } = await post({ ...headers, cookie });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect(await prisma.user.count()).toBe(1);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql+json',
  ])('takes no %s', async (type) => {
    const { status } = await post({ ...fromPage, 'content-type': type, cookie });
    expect(status).toBe(415);
    expect(await prisma.user.count()).toBe(1);
  });

  test.each<[string, Record<string, string>]>([
    ['no session', {}],
    ['an empty cookie', { cookie: 'signet_console=' }],
    ['a made-up session', { cookie: `signet_console=${'x'.repeat(43)}` }],
    ['a management token in its place', {}],
  ])('is 401 with %s', async (what, headers) => {
    const given = what.startsWith('a management')
      ? { authorization: `Bearer ${await service.managementToken()}` }
      : headers;
    for (const body of [createUser, JSON.stringify({ query: '{ __typename }' })]) {
      const { status, text } = await post({ ...fromPage, ...given }, body);
      expect(status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
    }
    expect(await prisma.user.count()).toBe(1);
  });

  test('lets no other origin read an answer', async () => {
    const { status, headers } = await post({ ...fromPage, cookie }, '{"query":"{ __typename }"}');
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    const preflight = await fetch(`${service.url}/console/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-signet-console',
      },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    expect(preflight.ok).toBe(false);
  });

  test('is the only method', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const response = await fetch(
        `${service.url}/console/graphql?query=mutation{createUser(input:{}){__typename}}`,
        { method, headers: { ...fromPage, cookie } },
      );
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')).toBe('POST');
    }
    expect(await prisma.user.count()).toBe(1);
  });

  test('answers as /graphql does: errors, limits and a body that is none', async () => {
    const bodies: [string, number, string][] = [
      ['{', 400, 'BAD_USER_INPUT'],
      ['{"query":"{"}', 200, 'GRAPHQL_PARSE_FAILED'],
      ['{"query":"{ nothing }"}', 200, 'GRAPHQL_VALIDATION_FAILED'],
      ['', 400, 'BAD_USER_INPUT'],
    ];
    for (const [body, expected, code] of bodies) {
      const answers = [
        await post({ ...fromPage, cookie }, body),
        await fetch(`${service.url}/graphql`, {
          method: 'POST',
          headers: {
            ...without('origin'),
            authorization: `Bearer ${await service.managementToken()}`,
          },
          body,
        }).then(async (response) => ({ status: response.status, text: await response.text() })),
      ];
      for (const { status, text } of answers) {
        expect([body, status]).toEqual([body, expected]);
        expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code } }] });
      }
    }
  });

  test('streams a subscription, which ends with the session', async () => {
    const other = openConsole(service);
    const { body } = await browser.ask('{ __typename }');
    expect(body.data).toEqual({ __typename: 'Query' });
    expect(await other.session()).toBeUndefined();
    const response = await fetch(`${service.url}/console/graphql`, {
      method: 'POST',
      headers: { ...fromPage, accept: 'text/event-stream', cookie },
      body: JSON.stringify({ query: 'subscription { events(types: [USER_CREATED]) { name } }' }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await browser.ask('mutation { createUser(input: { username: "seen" }) { __typename } }');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('User.Created')) text += (await reader?.read())?.value ?? '';
    const session = await prisma.firstPartySession.findFirstOrThrow();
    await prisma.firstPartySession.delete({ where: { id: session.id } });
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: '' };
      if (done) break;
      text += value;
    }
    expect(text).toContain('The session is over');
    await prisma.firstPartySession.create({ data: session });
  });
});

describe('the WebSocket /console/graphql', () => {
  test('answers queries and follows events, without a token', async () => {
    const socket = openSocket(service.url, { cookie, origin });
    socket.send({ type: 'connection_init' });
    await socket.received(1);
    socket.send({ type: 'subscribe', id: 'q', payload: { query: '{ users { totalCount } }' } });
    const [ack, answer] = await socket.received(3);
    expect(ack?.type).toBe('connection_ack');
    expect(answer).toMatchObject({ id: 'q', payload: { data: { users: { totalCount: 2 } } } });
  });

  test.each<[string, { cookie?: string }]>([
    ['without a cookie', {}],
    ['with a made-up cookie', { cookie: `signet_console=${'x'.repeat(43)}` }],
  ])('closes with 4403 %s, before anything is said', async (_what, headers) => {
    expect((await openSocket(service.url, { ...headers, origin }).closed).code).toBe(4403);
  });

  test('takes no token in place of the session', async () => {
    const socket = openSocket(service.url, { origin });
    const authorization = `Bearer ${await service.managementToken()}`;
    socket.send({ type: 'connection_init', payload: { authorization } });
    expect((await socket.closed).code).toBe(4403);
  });

  test.each<[string, { origin?: string }]>([
    ['without an Origin', {}],
    ['with the Origin null', { origin: 'null' }],
    ['with another Origin', { origin: 'https://evil.example' }],
  ])('is refused %s', async (_what, headers) => {
    const { code, reason } = await openSocket(service.url, { cookie, ...headers }).closed;
    expect({ code, reason }).toEqual({ code: 0, reason: expect.stringContaining('403') });
  });

  test('is not what /graphql takes a cookie for', async () => {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { ...fromPage, cookie },
      body: '{"query":"{ users { totalCount } }"}',
    });
    expect(response.status).toBe(401);
  });
});
