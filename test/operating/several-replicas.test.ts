import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { administer } from '../support/peers/postgresql/administer.ts';
import {
  createPostgresqlServer,
  type PostgresqlServer,
} from '../support/peers/postgresql/server.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
// Who administers the servers needs none; the service does, everywhere.
const rules = [
  'host all postgres all trust',
  'host replication postgres all trust',
  'host all all all scram-sha-256',
];

// The embedded database has no replica.
describe.runIf(inject('postgresql'))('several replicas, with one password file', () => {
  let primary: PostgresqlServer;
  let replicas: PostgresqlServer[];
  let passwordFile: string;
  let url: string;
  let token: string;

  const hosts = (servers: readonly PostgresqlServer[]) =>
    servers.map((server) => new URL(server.url).host);

  beforeAll(async () => {
    primary = await createPostgresqlServer();
    closeAtEnd(() => primary.close());
    await primary.start();
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file');
    await client.end();
    await administer(
      primary.url,
      `COPY (SELECT unnest('{${rules.join(',')}}'::text[])) TO '${rows[0]?.hba_file}'`,
      'SELECT pg_reload_conf()',
      "CREATE ROLE signet LOGIN PASSWORD 'first'",
      'CREATE DATABASE signet OWNER signet',
    );
    replicas = [];
    for (let number = 1; number <= 3; number += 1) {
      const replica = await createPostgresqlServer(primary);
      closeAtEnd(() => replica.close());
      await replica.start();
      replicas.push(replica);
    }
    const folder = await mkdtemp(join(tmpdir(), 'signet-password-'));
    closeAtEnd(() => rm(folder, { recursive: true }));
    passwordFile = join(folder, 'password');
    await writeFile(passwordFile, 'first\n');
    const one = replicas.slice(0, 1);
    const node = startProcess({
      DATABASE_URL: `postgres://signet@${hosts([primary, ...one])}/signet?target_session_attrs=read-write`,
      DATABASE_REPLICA_URLS: hosts(replicas)
        .map((host) => `postgres://signet@${host}/signet`)
        .join(),
      DATABASE_PASSWORD_FILE: passwordFile,
      SIGNET_SECRET: 'a secret for tests only, and a long one',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    });
    closeAtEnd(async () => {
      node.child.kill('SIGTERM');
      await node.ended;
    });
    url = await node.ready;
    token = await fetchManagementToken({ url }, admin);
  });

  async function call(method: string, path: string, { body, position }: Asked = {}) {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(position ? { 'signet-position': position } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each route has an answer of its own shape.
    const answer = (await response.json()) as any;
    return { status: response.status, answer, headers: response.headers };
  }

  let made = 0;

  /** Makes a user as soon as that is possible. */
  async function createUser() {
    made += 1;
    const username = `person${100 + made}`;
    const headers = await eventually(async () => {
      const created = await call('POST', '/users', { body: { username } });
      expect(created.status).toBe(201);
      return created.headers;
    });
    return { username, position: headers.get('signet-position') ?? '' };
  }

  const listed = async (username: string, position?: string) => {
    const { status, answer } = await call('GET', `/users?search=${username}`, { position });
    return status === 200 ? (answer.users.length as number) : status;
  };

  async function metric(sample: string): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
    return Number(line?.slice(sample.length) ?? 0);
  }

  const expectUsed = (used: number, leftOut: number) =>
    eventually(async () => {
      expect(await metric('signet_replicas{state="in_use"}')).toBe(used);
      expect(await metric('signet_replicas{state="left_out"}')).toBe(leftOut);
    });

  /** Waits until a replica answers, having replayed this. */
  async function expectReadAtReplica({
    username,
    position,
  }: {
    username: string;
    position: string;
  }) {
    const before = await metric('signet_reads_total{place="replica"}');
    await eventually(async () => {
      expect(await listed(username, position)).toBe(1);
      expect(await metric('signet_reads_total{place="replica"}')).toBeGreaterThan(before);
    });
  }

  /** Reads all the while, and returns the answers other than one user. */
  async function whileReading(username: string, work: () => Promise<unknown>) {
    const others: number[] = [];
    let isOver = false;
    const readers = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const found = await listed(username);
          if (found !== 1) others.push(found);
        }
      }),
    );
    const over = work().finally(() => {
      isOver = true;
    });
    await Promise.all([readers, over]);
    return others;
  }

  test('a dead one and one that lags are left out, and no read fails', async () => {
    const [, lagging, dead] = replicas as [PostgresqlServer, PostgresqlServer, PostgresqlServer];
    const user = await createUser();
    await expectUsed(3, 0);
    await eventually(async () => {
      for (const _ of replicas) expect(await listed(user.username)).toBe(1);
    });
    const others = await whileReading(user.username, async () => {
      await administer(lagging.url, 'SELECT pg_wal_replay_pause()');
      await dead.stop('immediate');
      const later = await createUser();
      await expectUsed(1, 2);
      await expectReadAtReplica(later);
      await administer(lagging.url, 'SELECT pg_wal_replay_resume()');
      await dead.start();
      await expectUsed(3, 0);
    });
    expect(others).toEqual([]);
  });

  test('a changed password holds for each of them without a restart', async () => {
    await administer(primary.url, "ALTER ROLE signet PASSWORD 'second'");
    await writeFile(passwordFile, 'second\n');
    const changed = await createUser();
    await eventually(async () => {
      for (let i = 0; i < 2 * replicas.length; i += 1)
        expect(await listed(changed.username)).toBe(1);
    });
    for (const server of [...replicas, primary])
      await administer(
        server.url,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'signet'",
      );
    const user = await createUser();
    await expectUsed(3, 0);
    await expectReadAtReplica(user);
  });

  test('after a failover the promoted one is the primary, and the others are read', async () => {
    const [next, ...others] = replicas as [PostgresqlServer, ...PostgresqlServer[]];
    await expectUsed(3, 0);
    const before = await createUser();
    await eventually(async () => {
      for (const _ of replicas) expect(await listed(before.username)).toBe(1);
    });
    const answers = await whileReading(before.username, async () => {
      // It gives all that it has to the standbys before it ends.
      await primary.stop('fast');
      await next.promote();
      const { hostname, port } = new URL(next.url);
      for (const other of others)
        await administer(
          other.url,
          `ALTER SYSTEM SET primary_conninfo = 'host=${hostname} port=${port} user=postgres'`,
          'SELECT pg_reload_conf()',
        );
      const after = await createUser();
      expect(await listed(after.username, after.position)).toBe(1);
      await expectUsed(2, 1);
      await expectReadAtReplica(after);
    });
    // Without a primary, nobody can be told whether the token still holds.
    expect(new Set(answers).difference(new Set([503]))).toEqual(new Set());

    for (const other of others) await administer(other.url, 'SELECT pg_wal_replay_pause()');
    const late = await createUser();
    // The position is of the history of before.
    expect(await listed(late.username, before.position)).toBe(1);
    for (const other of others) await administer(other.url, 'SELECT pg_wal_replay_resume()');
    await expectUsed(2, 1);
    await expectReadAtReplica(late);
  });
});

interface Asked {
  readonly body?: object;
  readonly position?: string | undefined;
}
