import pg from 'pg';
import { pino } from 'pino';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { openPostgresql } from '../../src/db/database.ts';
import { encodeWalPosition } from '../../src/db/replicas/position.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import {
  basic,
  fetchManagementToken,
  requestClientCredentials,
} from '../support/client-credentials.ts';
import { failOnError } from '../support/database.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { administer } from '../support/peers/postgresql/administer.ts';
import {
  createPostgresqlServer,
  type PostgresqlServer,
} from '../support/peers/postgresql/server.ts';
import { runSignet } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const header = 'signet-position';
const secret = 'a secret for tests only, and a long one';

interface Asked {
  readonly variables?: object;
  readonly position?: string | undefined;
  readonly token?: string;
}

// The embedded database has no replica.
describe.runIf(inject('postgresql'))('DATABASE_REPLICA_URLS', () => {
  let primary: PostgresqlServer;
  let replica: PostgresqlServer;

  beforeAll(async () => {
    primary = await createPostgresqlServer();
    closeAtEnd(() => primary.close());
    await primary.start();
    replica = await createPostgresqlServer(primary);
    closeAtEnd(() => replica.close());
    await replica.start();
  });

  /** Follows the replica as one of this primary; tells whether it was read, one change after the other. */
  function follow({ url }: PostgresqlServer) {
    const changes: boolean[] = [];
    const { replicas, close } = openPostgresql({
      url,
      poolSize: 1,
      tokenPoolSize: 1,
      onError: failOnError,
      replicas: {
        urls: [replica.url],
        maxLagMs: 1_000,
        onChange: (_replica, isUsed) => void changes.push(isUsed),
      },
    });
    closeAtEnd(close);
    return { replicas, changes };
  }

  test('an idle primary is no lag', async () => {
    const client = new pg.Client({ connectionString: replica.url });
    await client.connect();
    closeAtEnd(() => client.end());
    const { replicas, changes } = follow(primary);
    await administer(primary.url, 'CREATE ROLE somebody');
    await eventually(() => expect(replicas?.reader(undefined)).toBeDefined());
    await eventually(async () => {
      const { rows } = await client.query<{ seconds: number }>(
        'SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8 AS "seconds"',
      );
      expect(rows[0]?.seconds).toBeGreaterThan(2);
    });
    expect(replicas?.reader(undefined)).toBeDefined();
    expect(changes).toEqual([true]);
  });

  test('one that has what the primary never had is not read', async () => {
    const other = await createPostgresqlServer();
    closeAtEnd(() => other.close());
    await other.start();
    const { replicas, changes } = follow(other);
    await eventually(() => expect(changes.length).toBeGreaterThan(0));
    expect(changes).toEqual([false]);
    expect(replicas?.reader(undefined)).toBeUndefined();
  });

  describe('of services', () => {
    let admin: { id: string; secret: string };
    let token: string;
    /** Reads the replica however far it is behind. */
    let patient: App;
    /** Leaves out a replica that is a second behind. */
    let strict: App;
    let without: App;

    async function start(environment: Record<string, string>): Promise<App> {
      const app = await startApp({
        config: readConfig({
          PORT: '0',
          DATABASE_URL: primary.url,
          // Each takes the tokens of the others.
          BASE_URL: 'http://signet.example.com',
          SIGNET_SECRET: secret,
          MAX_QUEUE_MS: '600000',
          ...environment,
        }),
        log: pino({ level: 'silent' }),
        onAdminCredentials: (credentials) => {
          admin = credentials;
        },
      });
      closeAtEnd(() => app.stop());
      return app;
    }

    beforeAll(async () => {
      const urls = { DATABASE_REPLICA_URLS: replica.url };
      patient = await start({ ...urls, REPLICA_MAX_LAG_MS: '600000' });
      strict = await start(urls);
      without = await start({});
      token = await fetchManagementToken(patient, admin);
    });

    async function ask(app: App, query: string, asked: Asked = {}) {
      const { variables, position } = asked;
      const response = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${asked.token ?? token}`,
          ...(position === undefined ? {} : { [header]: position }),
        },
        body: JSON.stringify({ query, variables }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: each document has data of its own shape.
      const { data, errors } = (await response.json()) as any;
      return { status: response.status, data, errors, position: response.headers.get(header) };
    }

    async function rest(
      app: App,
      path: string,
      asked: { position?: string | null; method?: string; body?: object } = {},
    ) {
      const { position, body, method = body ? 'POST' : 'GET' } = asked;
      const response = await fetch(`${app.url}/api${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(position == null ? {} : { [header]: position }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return {
        status: response.status,
        // biome-ignore lint/suspicious/noExplicitAny: each route has an answer of its own shape.
        answer: (await response.json()) as any,
        position: response.headers.get(header),
      };
    }

    let made = 0;

    /** Makes a user, and returns its name and the position after it. */
    async function createUser(app: App) {
      made += 1;
      const username = `person${100 + made}`;
      const { data, position } = await ask(
        app,
        `mutation ($input: CreateUserInput!) {
         createUser(input: $input) { ... on CreateUserPayload { user { id username roles { totalCount } } } }
       }`,
        { variables: { input: { username } } },
      );
      // The payload is read at the primary.
      expect(data.createUser.user.username).toBe(username);
      return { id: data.createUser.user.id as string, username, position: position ?? '' };
    }

    const list = 'query ($search: String) { users(filter: { search: $search }) { totalCount } }';
    const isListed = async (app: App, search: string, position?: string) =>
      (await ask(app, list, { variables: { search }, position })).data.users.totalCount === 1;

    async function metric(app: App, sample: string): Promise<number | undefined> {
      const text = await (await fetch(`${app.url}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
      return line === undefined ? undefined : Number(line.slice(sample.length));
    }
    const used = (app: App) => metric(app, 'signet_replicas{state="in_use"}');
    const readAt = (app: App, place: string) => metric(app, `signet_reads_total{place="${place}"}`);

    /** Does something while the replica stays where it is. */
    async function whilePaused<T>(work: () => Promise<T>): Promise<T> {
      await administer(replica.url, 'SELECT pg_wal_replay_pause()');
      try {
        return await work();
      } finally {
        await administer(replica.url, 'SELECT pg_wal_replay_resume()');
      }
    }

    /** Waits until the replica has what the primary has, and is read. */
    async function caughtUp(app: App) {
      const { username } = await createUser(app);
      await eventually(async () => {
        expect(await used(app)).toBe(1);
        expect(await isListed(app, username)).toBe(true);
      });
    }

    test('lists and searches are read at the replica, one’s own changes at the primary', async () => {
      await caughtUp(patient);
      const mine = await whilePaused(async () => {
        const { id, username, position } = await createUser(patient);
        expect(await isListed(patient, username)).toBe(false);
        expect(await isListed(patient, username, position)).toBe(true);
        const path = `/users?search=${username}`;
        expect((await rest(patient, path)).answer.users).toEqual([]);
        expect((await rest(patient, path, { position })).answer.users).toHaveLength(1);
        // Records by their ids too.
        const node = `{ node(id: "${id}") { id } }`;
        expect((await ask(patient, node)).data.node).toBeNull();
        expect((await ask(patient, node, { position })).data.node).toEqual({ id });
        expect((await rest(patient, `/users/${id}`)).status).toBe(404);
        expect((await rest(patient, `/users/${id}`, { position })).status).toBe(200);
        return { username, position };
      });
      await eventually(async () => expect(await isListed(patient, mine.username)).toBe(true));
      // Once the replica has it, it is read there.
      const before = (await readAt(patient, 'replica')) ?? 0;
      await eventually(async () => {
        expect(await isListed(patient, mine.username, mine.position)).toBe(true);
        expect(await readAt(patient, 'replica')).toBeGreaterThan(before);
      });
    });

    test('a position that the replica cannot have is read at the primary', async () => {
      await caughtUp(patient);
      await whilePaused(async () => {
        const { username } = await createUser(patient);
        const earlier = encodeWalPosition({ timeline: 1, lsn: 1n });
        expect(await isListed(patient, username, earlier)).toBe(false);
        const strange = {
          future: encodeWalPosition({ timeline: 1, lsn: 2n ** 60n }),
          'of another history': encodeWalPosition({ timeline: 7, lsn: 1n }),
          malformed: 'nonsense',
          long: 'A'.repeat(4_000),
          empty: '',
        };
        for (const [what, position] of Object.entries(strange))
          expect(await isListed(patient, username, position), what).toBe(true);
      });
    });

    test('a change over REST has a position, and is decided at the primary', async () => {
      await caughtUp(patient);
      await whilePaused(async () => {
        const body = { name: 'Shop', indicator: 'https://shop.example.com' };
        const shop = await rest(patient, '/resources', { body });
        expect(shop.status).toBe(201);
        const path = `/resources/${shop.answer.resource.id}`;
        expect((await rest(patient, path)).status).toBe(404);
        expect((await rest(patient, path, shop)).status).toBe(200);
        const scope = await rest(patient, `${path}/scopes`, { body: { name: 'order:read' } });
        expect(scope.status).toBe(201);
        // That the scope is one of the resource is read before it is changed.
        const changed = await rest(patient, `${path}/scopes/${scope.answer.scope.id}`, {
          method: 'PATCH',
          body: { description: 'Reads orders.' },
        });
        expect([changed.status, changed.answer]).toEqual([200, expect.anything()]);
        expect((await rest(patient, '/resources', { body })).status).toBe(409);
      });
    });

    test('the log, credentials and settings are read at the primary', async () => {
      await caughtUp(patient);
      await whilePaused(async () => {
        const { id } = await createUser(patient);
        const variables = { id };
        const { data } = await ask(
          patient,
          'query ($id: ID!) { events(subjectId: $id, first: 1) { edges { node { id } } } }',
          { variables },
        );
        const eventId = data.events.edges[0].node.id;
        const nodes = await ask(patient, 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
          variables: { ids: [eventId, id] },
        });
        expect(nodes.data.nodes).toEqual([{ id: eventId }, { id }]);
        // All of a query is read in one place.
        for (const beside of ['signInExperience { version }', 'service { version }']) {
          const query = `query ($id: ID!) { user(id: $id) { id } ${beside} }`;
          expect((await ask(patient, query, { variables })).data.user).toEqual({ id });
        }
        const query = 'query ($id: ID!) { user(id: $id) { sessions(first: 1) { totalCount } } }';
        expect((await ask(patient, query, { variables })).data.user.sessions.totalCount).toBe(0);
      });
    });

    test('a caller’s rights end at once, however far the replica is behind', async () => {
      const { done, next } = createMaker(overGraphQL(patient, token));
      const scopes = await ask(patient, '{ scopes(first: 100) { edges { node { id name } } } }');
      const { id: scopeId } = scopes.data.scopes.edges
        .map(({ node }: { node: { id: string; name: string } }) => node)
        .find(({ name }: { name: string }) => name === 'users:read');
      const { role } = await done('createRole', {
        name: next('reader'),
        type: 'MACHINE_TO_MACHINE',
        scopeIds: [scopeId],
      });
      const made = await done('createApplication', { name: 'Caller', type: 'MACHINE_TO_MACHINE' });
      const client = { id: made.application.id, secret: made.secret };
      const held = { applicationId: client.id, roleIds: [role.id] };
      await done('assignApplicationRoles', held);
      const [first, second] = [
        await fetchManagementToken(patient, client, 'users:read'),
        await fetchManagementToken(patient, client, 'users:read'),
      ];
      await caughtUp(patient);
      const statusOf = async (token: string) => (await ask(patient, list, { token })).status;
      expect(await statusOf(first)).toBe(200);
      await whilePaused(async () => {
        await done('removeApplicationRole', { applicationId: client.id, roleId: role.id });
        const asked = { resource: 'urn:signet:management', scope: 'users:read' };
        const { scope = '' } = (await (
          await requestClientCredentials(patient, client, asked)
        ).json()) as { scope?: string };
        expect(scope).toBe('');
        await fetch(`${patient.url}/oidc/token/revocation`, {
          method: 'POST',
          headers: { authorization: basic(client.id, client.secret) },
          body: new URLSearchParams({ token: first }),
        });
        expect(await statusOf(first)).toBe(401);
        expect(await statusOf(second)).toBe(200);
        await done('deleteApplication', { id: client.id });
        expect(await statusOf(second)).toBe(401);
        // The replica still has it.
        const query = `{ application(id: "${client.id}") { id } }`;
        expect((await ask(patient, query)).data.application).toEqual({ id: client.id });
      });
    });

    test('a replica that lags is left out, and taken back', async () => {
      await caughtUp(strict);
      await whilePaused(async () => {
        const { username } = await createUser(strict);
        await eventually(async () => expect(await isListed(strict, username)).toBe(true));
        expect(await used(strict)).toBe(0);
        expect(await metric(strict, 'signet_replicas{state="left_out"}')).toBe(1);
        expect(await metric(strict, 'signet_replica_lag_seconds{replica="1"}')).toBeGreaterThan(1);
        // Another node may take more.
        expect(await isListed(patient, username)).toBe(false);
      });
      await eventually(async () => expect(await used(strict)).toBe(1));
    });

    test.for(['stop', 'freeze'] as const)(
      'no read fails when the replica ends: %s',
      async (how) => {
        await caughtUp(patient);
        const { username } = await createUser(patient);
        await eventually(async () => expect(await isListed(patient, username)).toBe(true));
        let isOver = false;
        let answered = 0;
        const readers = Array.from({ length: 4 }, async () => {
          while (!isOver) {
            expect(await isListed(patient, username)).toBe(true);
            answered += 1;
          }
        });
        const more = async () => {
          const before = answered;
          await eventually(() => expect(answered).toBeGreaterThan(before + 20));
        };
        await more();
        if (how === 'stop') await replica.stop('immediate');
        else await replica.freeze();
        await eventually(async () => expect(await used(patient)).toBe(0));
        await more();
        if (how === 'stop') await replica.start();
        else await replica.thaw();
        await eventually(async () => expect(await used(patient)).toBe(1));
        await more();
        isOver = true;
        await Promise.all(readers);
      },
    );

    test('npx signet doctor tells of each', async () => {
      const { stdout } = await runSignet(['doctor', '--stopped', '--json'], {
        environment: {
          DATABASE_URL: primary.url,
          DATABASE_REPLICA_URLS: [replica.url, primary.url, inject('postgresql')].join(),
          SIGNET_SECRET: secret,
        },
      });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; message: string }[] };
      expect(findings.filter(({ check }) => check.startsWith('replica'))).toEqual([
        expect.objectContaining({ check: 'replica 1', state: 'ok' }),
        expect.objectContaining({ check: 'replica 2', state: 'warning' }),
        expect.objectContaining({ check: 'replica 3', state: 'fault' }),
      ]);
    });

    test('pages of other origins may read the header', async () => {
      for (const path of ['/graphql', '/api/users']) {
        const { headers } = await fetch(`${patient.url}${path}`, {
          method: 'OPTIONS',
          headers: {
            origin: 'https://app.example.com',
            'access-control-request-method': 'GET',
            'access-control-request-headers': header,
          },
        });
        expect(headers.get('access-control-allow-headers')).toContain(header);
        const answer = await fetch(`${patient.url}${path}`, {
          headers: { origin: 'https://app.example.com' },
        });
        expect(answer.headers.get('access-control-expose-headers')).toContain('Signet-Position');
      }
    });

    test('without the variable there is no such header', async () => {
      expect((await createUser(without)).position).toBe('');
      const answer = await fetch(`${without.url}/api/users`);
      const exposed = answer.headers.get('access-control-expose-headers');
      expect(exposed).toContain('ETag');
      expect(exposed).not.toContain('Signet-Position');
      const metrics = await (await fetch(`${without.url}/metrics`)).text();
      expect(metrics).not.toMatch(/signet_replica|signet_reads/);
      expect(await isListed(without, 'person101', 'nonsense')).toBe(true);
    });
  });
});
