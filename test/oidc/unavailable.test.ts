import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { openPostgresql } from '../../src/db/database.ts';
import { basic } from '../support/client-credentials.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/peers/tcp-proxy.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { createTestClock, type TestService } from '../support/service.ts';
import { accessTokenType, exchangeGrantType, formOf, userToken } from '../support/tokens.ts';

const testDatabase = await createTestDatabase();

describe.runIf(testDatabase.url)('while PostgreSQL is gone', async () => {
  if (!testDatabase.url) return;
  const direct = new URL(testDatabase.url);
  const proxy = await startTcpProxy({
    host: direct.hostname,
    port: Number(direct.port || 5432),
  });
  const url = new URL(direct);
  url.host = `127.0.0.1:${proxy.port}`;
  const database = openPostgresql({
    url: url.href,
    poolSize: 3,
    tokenPoolSize: 3,
    onError: () => undefined,
  });
  const logged: Record<string, unknown>[] = [];
  const clock = createTestClock();
  const app = await startApp({
    config: readConfig({ PORT: '0' }),
    log: pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    clock,
    opened: { database, secret: 'a secret for tests only' },
  });
  const service = { app, clock, url: app.url } as TestService;
  afterAll(async () => {
    await proxy.mend().catch(() => undefined);
    await app.stop();
    await database.close();
    await proxy.close();
    await testDatabase.close();
  });
  const { client, user, resource } = await createSignInFixture(service);
  const subjectToken = await userToken(service, user.id, client);
  const { browser, visit } = await openSignInPage(service, client);
  await proxy.cut();

  const authorization = basic(client.id, client.secret);
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${app.url}/oidc/${path}`, {
      method: 'POST',
      headers: { authorization },
      body: formOf(form),
    });

  test.each<[string, () => Promise<Response>]>([
    [
      'an exchange',
      () =>
        post('token', {
          grant_type: exchangeGrantType,
          subject_token: subjectToken,
          subject_token_type: accessTokenType,
          resource: resource.indicator,
        }),
    ],
    [
      'client credentials',
      () => post('token', { grant_type: 'client_credentials', resource: resource.indicator }),
    ],
    ['a refresh token', () => post('token', { grant_type: 'refresh_token', refresh_token: 'x' })],
    ['a code', () => post('token', { grant_type: 'authorization_code', code: 'x' })],
    ['introspection', () => post('token/introspection', { token: 'x' })],
    ['introspection of a JWT', () => post('token/introspection', { token: subjectToken })],
    ['revocation', () => post('token/revocation', { token: 'x' })],
    ['revocation of a JWT', () => post('token/revocation', { token: subjectToken })],
    ['user info', () => fetch(`${app.url}/oidc/me`, { headers: { authorization: 'Bearer x' } })],
  ])('%s answers 503 temporarily_unavailable', async (_what, ask) => {
    for (let round = 0; round < 2; round += 1) {
      const response = await ask();
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
    }
  });

  test.each<[string, () => Promise<{ status: number; headers: Headers; body: unknown }>]>([
    ['the authorization endpoint', async () => (await openSignInPage(service, client)).visit],
    ['a sign-in page', () => browser.open(visit.url)],
    ['a sign-in', () => browser.submit(visit, { identifier: 'Ada', password })],
    ['a sign-out', () => browser.open(`${app.services.issuer}/session/end?client_id=${client.id}`)],
  ])('%s answers 503 and a page', async (_what, open) => {
    const { status, headers, body } = await open();
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(String(body)).toContain('Back in a moment');
    expect(String(body)).toContain('<button type="submit">Try again');
  });

  test('keys and metadata are still served', async () => {
    for (const path of ['jwks', '.well-known/openid-configuration'])
      expect((await fetch(`${app.url}/oidc/${path}`)).status).toBe(200);
  });

  test('the sign-in continues when PostgreSQL is back', async () => {
    const late = await openSignInPage(service, client);
    await proxy.mend();
    await expect
      .poll(async () => (await post('token/introspection', { token: 'x' })).status)
      .toBe(200);
    const done = await browser.submit(visit, { identifier: 'Ada', password });
    expect(done.url.searchParams.has('code')).toBe(true);
    const begun = await late.browser.submit(late.visit, {});
    expect(begun.url.pathname).toMatch(/^\/sign-in\//);
    // What runs by the clock tells of its own failures.
    expect(logged.filter(({ msg }) => String(msg).endsWith('request failed'))).toEqual([]);
  });
});
