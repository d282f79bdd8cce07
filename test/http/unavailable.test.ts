import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type AdminCredentials, type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/errors.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { connect } from '../support/peers/subscriber.ts';
import { startTcpProxy, type TcpProxy } from '../support/peers/tcp-proxy.ts';

describe.runIf(inject('postgresql'))('with the database unreachable', () => {
  let own: TestDatabase;
  let proxy: TcpProxy;
  let app: App;
  let admin: AdminCredentials | undefined;
  let at: { url: string; token: string };
  const log = pino({ level: 'silent' });

  const start = (onAdminCredentials: (credentials: AdminCredentials) => void) => {
    const url = new URL(own.url as string);
    url.host = `127.0.0.1:${proxy.port}`;
    return startApp({
      config: readConfig({
        PORT: '0',
        DATABASE_URL: url.href,
        SIGNET_SECRET: 'a secret for tests only, and a long one',
      }),
      log,
      onAdminCredentials,
    });
  };

  beforeAll(async () => {
    own = await createTestDatabase();
    const url = new URL(own.url as string);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  });
  afterAll(async () => {
    await app?.stop();
    await proxy.close();
    await own.close();
  });

  test('a first start prints its secret before it fails', async () => {
    let cut: Promise<void> | undefined;
    const failed = start((credentials) => {
      admin = credentials;
      cut = proxy.cut();
    });
    await expect(failed).rejects.toThrow(StartError);
    await cut;
    await proxy.mend();
    app = await start(() => expect.fail('it is made once'));
    const token = await fetchManagementToken(app, admin as unknown as AdminCredentials);
    at = { url: app.url, token };
    expect((await send(at, '{ users { totalCount } }')).status).toBe(200);
  });

  test('every entry answers 503 with Retry-After, and recovers', async () => {
    const { client } = connect(at);
    const overWebSocket = async () => {
      for await (const result of client.iterate({ query: '{ users { totalCount } }' }))
        return result;
      return undefined;
    };
    expect(await overWebSocket()).toMatchObject({ data: { users: {} } });
    await proxy.cut();

    // Twice: connections that broke while idle, then none to be had.
    for (const _round of [1, 2]) {
      const graphql = await fetch(`${at.url}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ users { totalCount } }' }),
      });
      expect(graphql.status).toBe(503);
      expect(Number(graphql.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await graphql.json()).toMatchObject({
        errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
      });

      const rest = await callRest(at, 'GET', '/users');
      expect(rest).toMatchObject({
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE', status: 503 },
      });
      expect(rest.headers.get('content-type')).toBe('application/problem+json');
      expect(Number(rest.headers.get('retry-after'))).toBeGreaterThan(0);

      const page = await fetch(`${at.url}/console/setup?token=none`);
      expect(page.status).toBe(503);
      const again = `action="${app.services.baseUrl}/console/setup"><input type="hidden" name="token"`;
      expect(await page.text()).toContain(again);

      expect((await fetch(`${at.url}/readyz`)).status).toBe(503);
      expect((await fetch(`${at.url}/healthz`)).status).toBe(200);
      await expect(overWebSocket()).rejects.toMatchObject([
        { extensions: { code: 'SERVICE_UNAVAILABLE' } },
      ]);
    }
    // Who comes now is told to come again, not that the token is bad.
    expect((await connect(at).closed).code).toBe(1013);

    await proxy.mend();
    await expect.poll(async () => (await send(at, '{ users { totalCount } }')).status).toBe(200);
    await expect.poll(async () => (await callRest(at, 'GET', '/users')).status).toBe(200);
    expect(await overWebSocket()).toMatchObject({ data: { users: {} } });
  });
});
