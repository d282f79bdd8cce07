import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Turn, TurnKind } from '../../src/admission/turns.ts';
import { basic } from '../support/client-credentials.ts';
import { send } from '../support/operations/graphql.ts';
import { connect } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

// The queue has its own clock, which stands still: what waits is late when the test says so.
const pressure = { at: 0, slack: false };
const service = await startService(
  { MAX_QUEUE_MS: '500', MCP: 'true' },
  { pressure: { now: () => pressure.at, hasSlack: () => pressure.slack } },
);
const { turns } = service.app.services;
const token = await service.managementToken();
const at = { url: service.url, token };
const places = { token: 64, request: 8, export: 1 } as const;

let held: Turn[] = [];
const hold = (kind: keyof typeof places) => {
  for (let i = 0; i < places[kind]; i += 1)
    turns.take(
      kind,
      (turn) => held.push(turn),
      () => undefined,
    );
};
function end() {
  for (const turn of held) turn.leave();
  held = [];
}
beforeEach(() => {
  hold('token');
  hold('request');
  hold('export');
});
afterEach(end);

const waiting = async (kind: TurnKind): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`signet_requests_waiting\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1]);
};

/** Sends a request, and lets it wait for too long. */
async function late(kind: TurnKind, path: string, init: RequestInit = {}): Promise<Response> {
  const answer = fetch(`${service.url}${path}`, init);
  await expect.poll(() => waiting(kind)).toBe(1);
  pressure.at += 500;
  return answer;
}

const json = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
const document = { query: '{ __typename }' };

describe('a request that waits for too long', () => {
  test.each([
    ['/graphql', {}],
    ['/console/graphql', { 'x-signet-console': '1', origin: service.app.services.baseUrl }],
    ['/account/graphql', {}],
    ['/experience/graphql', {}],
  ])('is an error of GraphQL at %s', async (path, headers) => {
    const answer = await late('request', path, json(document, headers));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({
      errors: [{ extensions: { code: 'OVERLOADED' } }],
    });
    if (path === '/graphql' || path === '/account/graphql') {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('is a problem in REST, which pages of any origin can read', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await late('request', '/api/users', { headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      503,
      'application/problem+json',
    ]);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(await answer.json()).toMatchObject({ code: 'OVERLOADED', status: 503 });
  });

  test('is a problem at /mcp', async () => {
    const answer = await late('request', '/mcp', json({}, { authorization: `Bearer ${token}` }));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({ code: 'OVERLOADED' });
  });

  test('is an export that has not begun', async () => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' };
    const answer = await late('export', '/api/events', { headers });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'OVERLOADED' });
  });

  test.each(['/oidc/token', '/oidc/token/introspection', '/oidc/token/revocation'])(
    'is an error of OAuth at %s',
    async (path) => {
      const answer = await late('token', path, {
        method: 'POST',
        headers: { authorization: basic(service.admin.id, service.admin.secret) },
        body: new URLSearchParams({ grant_type: 'client_credentials', token: 'x' }),
      });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toMatchObject({ error: 'temporarily_unavailable' });
    },
  );

  test.each(['/sign-in', '/account', '/oidc/auth?client_id=x', '/console', '/nothing'])(
    'is a page at %s, with a way to try again',
    async (path) => {
      const answer = await late('request', path, {
        headers: { accept: 'text/html' },
        redirect: 'manual',
      });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.headers.get('content-type')).toContain('text/html');
      expect(await answer.text()).toContain('Try again');
    },
  );

  test('is an error of the one operation on a WebSocket, which stays open', async () => {
    end();
    const { client } = connect(at);
    const ask = () =>
      new Promise<unknown>((resolve, reject) =>
        client.subscribe(document, { next: resolve, error: reject, complete: () => undefined }),
      );
    expect(await ask()).toMatchObject({ data: { __typename: 'Query' } });
    hold('request');
    const answer = ask().catch((error: unknown) => error);
    await expect.poll(() => waiting('request')).toBe(1);
    pressure.at += 500;
    expect(await answer).toMatchObject([{ extensions: { code: 'OVERLOADED' } }]);
    end();
    expect(await ask()).toMatchObject({ data: { __typename: 'Query' } });
  });
});

test('what has its turn in time is answered', async () => {
  const answer = send(at, '{ __typename }');
  await expect.poll(() => waiting('request')).toBe(1);
  end();
  expect((await answer).status).toBe(200);
});

test('who goes away while waiting takes no turn', async () => {
  const request = get(`${service.url}/api/users`, { agent: false });
  request.on('error', () => undefined);
  await expect.poll(() => waiting('request')).toBe(1);
  request.destroy();
  await expect.poll(() => waiting('request')).toBe(0);
});

test('a new connection waits for as long as it takes', async () => {
  turns.take(
    'connection',
    (turn) => held.push(turn),
    () => undefined,
  );
  const connection = connect(at);
  await expect.poll(() => waiting('connection')).toBe(1);
  pressure.at += 60_000;
  let isOpen = false;
  connection.client.on('connected', () => {
    isOpen = true;
  });
  end();
  await expect.poll(() => isOpen).toBe(true);
});

test('an overloaded service answers probes, metrics and key sets, and refuses the rest on arrival', async () => {
  const waitingOnes = Array.from({ length: 9 }, () => send(at, '{ __typename }'));
  await expect.poll(() => waiting('request')).toBe(9);
  pressure.at += 499;
  const later = Array.from({ length: 8 }, () => send(at, '{ __typename }'));
  await expect.poll(() => waiting('request')).toBe(17);
  pressure.at += 1;
  expect((await Promise.all(waitingOnes)).map(({ status }) => status)).toEqual(
    Array.from({ length: 9 }, () => 503),
  );
  for (const path of [
    '/healthz',
    '/readyz',
    '/metrics',
    '/oidc/jwks',
    '/oidc/.well-known/jwks.json',
    '/oidc/.well-known/openid-configuration',
  ]) {
    expect([path, (await fetch(`${service.url}${path}`)).status]).toEqual([path, 200]);
  }
  expect(service.logged.map(({ msg }) => msg)).toContain(
    'there is too much to do: requests are refused',
  );
  // At once: nothing moves the clock of the queue.
  const early = await send(at, '{ __typename }');
  expect([early.status, early.errors?.[0]?.extensions['code']]).toEqual([503, 'OVERLOADED']);
  for (const [path, init] of [
    ['/api/users', {}],
    ['/mcp', json({})],
  ] as const) {
    const refused = await fetch(`${service.url}${path}`, init);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ code: 'OVERLOADED' });
  }
  // Tokens have a queue of their own.
  const granted = service.managementToken();
  await expect.poll(() => waiting('token')).toBe(1);
  end();
  expect(await granted).toBeTypeOf('string');
  await Promise.all(later);
  expect((await send(at, '{ __typename }')).status).toBe(200);
});
