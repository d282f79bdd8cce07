import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgresql } from '../../src/db/database.ts';
import { isUnreachable } from '../../src/db/unreachable.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import {
  fetchManagementToken,
  managementRequest,
  requestClientCredentials,
} from '../support/client-credentials.ts';
import { administer } from '../support/peers/postgresql/administer.ts';
import {
  createPostgresqlServer,
  type PostgresqlServer,
} from '../support/peers/postgresql/server.ts';
import { startTcpProxy, type TcpProxy } from '../support/peers/tcp-proxy.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const admin = { id: 'app_01h2xcejqtf2nbrexx3vqjhp41', secret: randomBytes(24).toString('hex') };
const role = 'signet';

/** What an answer says of itself, in each transport's own way. */
interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  retryAfter: response.headers.get('retry-after'),
  body: await response.text(),
});

/** Asks each transport for something that needs the database. */
function doors(url: string, token: string) {
  const json = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  const username = () => `frozen_${randomBytes(6).toString('hex')}`;
  const query = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }';
  return {
    graphql: () => post('/graphql', { query, variables: { input: { username: username() } } }),
    rest: () => post('/api/users', { username: username() }),
    token: () => requestClientCredentials({ url }, admin, managementRequest),
    page: () =>
      fetch(`${url}/oidc/auth?client_id=${admin.id}&response_type=code&scope=openid`, {
        redirect: 'manual',
        headers: { accept: 'text/html' },
      }),
  };
}

const unavailable = {
  graphql: /"SERVICE_UNAVAILABLE"/,
  rest: /"SERVICE_UNAVAILABLE"/,
  token: /"temporarily_unavailable"/,
  page: /<html/,
};

// The embedded database cannot freeze without the process.
describe.runIf(inject('postgresql'))('a PostgreSQL that does not answer', () => {
  let server: PostgresqlServer;
  let proxy: TcpProxy;
  let node: ServiceProcess;
  let url: string;
  let ask: ReturnType<typeof doors>;

  beforeAll(async () => {
    server = await createPostgresqlServer();
    closeAtEnd(() => server.close());
    await server.start();
    await administer(
      server.url,
      `CREATE ROLE ${role} LOGIN`,
      `CREATE DATABASE ${role} OWNER ${role}`,
    );
    const at = new URL(server.url);
    proxy = await startTcpProxy({ host: at.hostname, port: Number(at.port) });
    closeAtEnd(() => proxy.close());
    node = await startNode();
    url = await node.ready;
    ask = doors(url, await fetchManagementToken({ url }, admin));
  });

  const through = (port: number | string) => `postgres://${role}@127.0.0.1:${port}/${role}`;

  /** Does something while no process of the server runs. */
  async function whileFrozen(act: () => Promise<void>): Promise<void> {
    await server.freeze();
    try {
      await act();
    } finally {
      await server.thaw();
    }
  }

  async function startNode(): Promise<ServiceProcess> {
    const started = startProcess({
      DATABASE_URL: through(proxy.port),
      SIGNET_SECRET: 'a secret that is long enough for tests',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    });
    closeAtEnd(async () => void started.child.kill('SIGKILL'));
    await started.ready;
    return started;
  }

  /** Several at each door, more than there are connections, and the probes of a supervisor. */
  async function expectUnavailable(): Promise<void> {
    const asked = Object.entries(ask).flatMap(([door, open]) =>
      Array.from({ length: 15 }, async () => [door, await answerOf(await open())] as const),
    );
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const [door, { status, retryAfter, body }] of await Promise.all(asked)) {
      expect([door, status]).toEqual([door, 503]);
      expect([door, Number(retryAfter)]).toEqual([door, 5]);
      expect(body).toMatch(unavailable[door as keyof typeof unavailable]);
    }
  }

  async function expectToGoOn(): Promise<void> {
    const ready = async () => expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await eventually(ready);
    await eventually(async () => {
      const asked = Object.values(ask).map(async (open) => (await open()).status);
      for (const status of await Promise.all(asked)) expect(status).not.toBe(503);
    });
    expect((await ask.graphql()).status).toBe(200);
    expect((await ask.rest()).status).toBe(201);
    expect((await ask.token()).status).toBe(200);
  }

  test('a server that is frozen is answered for, and goes on', async () => {
    await expectToGoOn();
    await whileFrozen(async () => {
      await expectUnavailable();
      // Also those that come later.
      await expectUnavailable();
    });
    await expectToGoOn();
  });

  test('so is a network that carries nothing', async () => {
    await expectToGoOn();
    proxy.freeze();
    await expectUnavailable();
    proxy.thaw();
    await expectToGoOn();
  });

  test('SIGTERM ends a node while the server is frozen', async () => {
    const other = await startNode();
    await whileFrozen(async () => {
      other.child.kill('SIGTERM');
      // It could not give back what it had claimed, and says so.
      expect([0, 1]).toContain(await other.ended);
    });
    await expectToGoOn();
  });

  test('a role that may only read takes no write, and says so', async () => {
    await expectToGoOn();
    const renew = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`;
    await administer(
      server.url,
      `ALTER ROLE ${role} SET default_transaction_read_only = on`,
      renew,
    );
    await eventually(async () => {
      const ready = await answerOf(await fetch(`${url}/readyz`));
      expect(ready).toMatchObject({ status: 503, body: expect.stringMatching(/read-only/) });
    });
    for (const door of ['graphql', 'rest'] as const) {
      const { status, retryAfter, body } = await answerOf(await ask[door]());
      expect([door, status, Number(retryAfter)]).toEqual([door, 503, 5]);
      expect(body).toMatch(unavailable[door]);
    }
    await administer(server.url, `ALTER ROLE ${role} RESET default_transaction_read_only`);
    await expectToGoOn();
  });

  test('a standby is not used at all until it is promoted', async () => {
    await server.stop('fast');
    await server.demote();
    await server.start();
    await eventually(async () => {
      const ready = await answerOf(await fetch(`${url}/readyz`));
      expect(ready).toMatchObject({ status: 503, body: expect.stringMatching(/recovery/) });
    });
    await expectUnavailable();
    const late = startProcess({
      DATABASE_URL: through(proxy.port),
      SIGNET_SECRET: 'a secret that is long enough for tests',
    });
    expect(await late.ended).toBe(1);
    expect(late.stderr()).toMatch(/^[^\n]*DATABASE_URL[^\n]*\n$/);
    await server.promote();
    await expectToGoOn();
  });

  describe('on one connection', () => {
    const open = () => {
      const database = openPostgresql({
        url: through(new URL(server.url).port),
        poolSize: 1,
        tokenPoolSize: 1,
        onError: () => undefined,
      });
      closeAtEnd(() => database.close());
      return database;
    };
    const failure = (asked: Promise<unknown>) =>
      asked.then(
        () => undefined,
        (error: unknown) => error,
      );

    test('a late answer is nobody else’s', async () => {
      const { sql, tokens, prisma } = open();
      const ways = [
        (text: string) => sql.query<{ text: string }>('', 'SELECT $1 AS "text"', [text]),
        (text: string) => tokens.query<{ text: string }>('text', 'SELECT $1 AS "text"', [text]),
        (text: string) => prisma.$queryRaw<{ text: string }[]>`SELECT ${text} AS "text"`,
        (text: string) =>
          prisma.$transaction((tx) => tx.$queryRaw<{ text: string }[]>`SELECT ${text} AS "text"`),
      ];
      for (const way of ways) expect(await way('before')).toEqual([{ text: 'before' }]);
      await whileFrozen(async () => {
        for (const error of await Promise.all(ways.map((way) => failure(way('lost')))))
          expect(isUnreachable(error)).toBe(true);
      });
      for (const way of ways) {
        await eventually(() => way('after'));
        expect(await way('after')).toEqual([{ text: 'after' }]);
      }
    });

    test('a statement may be slow while the server answers', async () => {
      const { sql, prisma } = open();
      const slow = 'SELECT pg_sleep(6)::text AS "slept"';
      expect(await sql.query('', slow, [])).toEqual([{ slept: '' }]);
      expect(await prisma.$queryRawUnsafe(slow)).toEqual([{ slept: '' }]);
    });
  });
});
