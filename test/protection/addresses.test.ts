import { expect, test } from 'vitest';
import { clientOf } from '../../src/protection/addresses.ts';
import { basic } from '../support/client-credentials.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';

// Each test has addresses of its own: the proxy in front names them.
const service = await startService({ TRUST_PROXY: '1' });
// A lock or a window ends when the test moves the clock.
service.clock.freeze();
const fixture = await createSignInFixture(service);

const askToken = (
  secret: string,
  address: string,
  at: Pick<TestService, 'url'> = service,
  path = '/oidc/token',
) =>
  fetch(`${at.url}${path}`, {
    method: 'POST',
    headers: { authorization: basic(service.admin.id, secret), 'x-forwarded-for': address },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'urn:signet:management',
      token: 'none',
    }),
  });

async function fail(times: number, address: string, at: Pick<TestService, 'url'> = service) {
  const statuses: number[] = [];
  for (let i = 0; i < times; i += 1) statuses.push((await askToken('wrong', address, at)).status);
  return new Set(statuses);
}

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::'],
  ['fe80::1%eth0', 'fe80::'],
  ['nonsense', 'nonsense'],
])('%s is counted as %s', (address, client) => {
  expect(clientOf(address)).toBe(client);
});

test('a hundred token failures block an address for ten minutes', async () => {
  const address = '192.0.2.10';
  expect(await fail(100, address)).toEqual(new Set([401]));
  const refused = await askToken(service.admin.secret, address);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(590);
  expect(refused.headers.get('cache-control')).toBe('no-store');
  expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });

  expect((await askToken(service.admin.secret, '192.0.2.11')).status).toBe(200);
  service.clock.advance(600_000);
  expect((await askToken(service.admin.secret, address)).status).toBe(200);
});

test('a client that comes by another port each time is the same client', async () => {
  const failFrom = async (addressOf: (port: number) => string) => {
    for (let port = 0; port < 100; port += 1)
      expect((await askToken('wrong', addressOf(50_000 + port))).status).toBe(401);
    return (await askToken(service.admin.secret, addressOf(40_000))).status;
  };
  expect(await failFrom((port) => `192.0.2.12:${port}`)).toBe(429);
  expect(await failFrom((port) => `[2001:db8:12::1]:${port}`)).toBe(429);
});

test('what a client puts in front of its address does not make it another', async () => {
  for (let i = 0; i < 100; i += 1)
    expect((await askToken('wrong', `198.51.100.${i}, 192.0.2.13`)).status).toBe(401);
  expect((await askToken(service.admin.secret, '198.51.100.200, 192.0.2.13')).status).toBe(429);
  expect((await askToken(service.admin.secret, '192.0.2.14')).status).toBe(200);
});

test('nodes share the count; success never counts', async () => {
  const address = '192.0.2.20';
  const second = await startSecondNode(service, { TRUST_PROXY: '1' });
  expect(await fail(60, address)).toEqual(new Set([401]));
  for (let i = 0; i < 60; i += 1) {
    expect((await askToken(service.admin.secret, address)).status).toBe(200);
  }
  expect(await fail(40, address, second)).toEqual(new Set([401]));
  expect((await askToken('wrong', address, second)).status).toBe(429);
  // The first node learns it by the next failure.
  expect((await askToken('wrong', address)).status).toBe(401);
  expect((await askToken(service.admin.secret, address)).status).toBe(429);
});

test("an authenticated client's failures do not count against its address", async () => {
  const address = '192.0.2.30';
  const post = (parameters: Record<string, string>) =>
    fetch(`${service.url}/oidc/token`, {
      method: 'POST',
      headers: {
        authorization: basic(fixture.client.id, fixture.client.secret),
        'x-forwarded-for': address,
      },
      body: new URLSearchParams(parameters),
    });
  for (let i = 0; i < 101; i += 1) {
    const { status } = await post({ grant_type: 'refresh_token', refresh_token: 'expired' });
    expect(status).toBe(400);
  }
  expect((await askToken(service.admin.secret, address)).status).toBe(200);
});

test('guessed secrets at introspection and guessed public codes count', async () => {
  const spa = await fixture.createApplication({ type: 'SPA' });
  const address = '192.0.2.40';
  for (let i = 0; i < 50; i += 1) {
    expect((await askToken('wrong', address, service, '/oidc/token/introspection')).status).toBe(
      401,
    );
    const response = await fetch(`${service.url}/oidc/token`, {
      method: 'POST',
      headers: { 'x-forwarded-for': address },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: `guess${i}`,
        client_id: spa.id,
      }),
    });
    expect(response.status).toBe(400);
  }
  // What the library answered is counted once it is sent.
  const status = async () =>
    (await askToken('wrong', address, service, '/oidc/token/introspection')).status;
  await expect.poll(status).toBe(429);
});

test('more than 300 sign-in requests a minute are refused', async () => {
  const address = '192.0.2.50';
  const ask = (from = address) =>
    fetch(`${service.url}/sign-in/unknown`, { headers: { 'x-forwarded-for': from } });
  for (let i = 0; i < 6; i += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  }
  const refused = await ask();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await ask('192.0.2.51')).status).toBe(404);
  service.clock.advance(60_000);
  expect((await ask()).status).toBe(404);
});

test('failed passwords of many accounts count against their address', async () => {
  const address = '192.0.2.60';
  const headers = { 'x-forwarded-for': address };
  const browser = openBrowser(service.app.services.baseUrl);
  const { visit } = await openSignInPage(service, fixture.client, { browser });
  for (let i = 0; i < 100; i += 1) {
    const answer = await browser.submit(visit, { identifier: `name${i}`, password: 'x' }, headers);
    expect(answer.status).toBe(422);
  }
  const refused = await browser.submit(visit, { identifier: 'Ada', password }, headers);
  expect(refused.status).toBe(429);
  expect(refused.body).not.toContain('name="password"');
  expect((await askToken(service.admin.secret, address)).status).toBe(429);
  expect((await browser.submit(visit, { identifier: 'Ada', password })).status).not.toBe(429);
});

test('no table holds an address', async () => {
  await fail(1, '192.0.2.77');
  const { prisma } = service.app.services.database;
  expect(
    JSON.stringify(await prisma.$queryRaw`SELECT a::text FROM "AddressCount" a`),
  ).not.toContain('192.0.2');
});
