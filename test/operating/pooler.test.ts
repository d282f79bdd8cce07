import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openPostgresql } from '../../src/db/database.ts';
import { quietTransaction, sqlOf } from '../../src/db/transaction.ts';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createTestDatabase, failOnError } from '../support/database.ts';
import { lossesOf, undergo } from '../support/nothing-lost.ts';
import { callRest } from '../support/operations/rest.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/peers/postgresql/pgbouncer.ts';
import { createPostgresqlServer } from '../support/peers/postgresql/server.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const secret = 'a secret for tests only, and a long one';
const isPossible = inject('postgresql') !== null && pgbouncerMissing === undefined;
const missing = pgbouncerMissing ? ` (left out: ${pgbouncerMissing})` : '';

describe.runIf(isPossible || pgbouncerMissing)(`behind PgBouncer${missing}`, async () => {
  if (!isPossible) return test.skip(`${pgbouncerMissing}`);
  const { url, close } = await createTestDatabase();
  closeAtEnd(close);
  const direct = url as string;
  const open = async (...settings: ['transaction' | 'session', number]) => {
    const pooler = await startPgbouncer(direct, ...settings);
    closeAtEnd(pooler.close);
    return pooler.url;
  };

  test('two nodes lose and repeat nothing in transaction mode, on four connections', async () => {
    const findings = await undergo({
      environment: { DATABASE_URL: await open('transaction', 4), DATABASE_DIRECT_URL: direct },
      nodes: 2,
      mutations: 150,
      kills: 1,
      hasSink: false,
    });
    expect(findings.refused).toEqual([]);
    expect(Object.entries(lossesOf(findings)).filter(([, count]) => count !== 0)).toEqual([]);
  });

  test('settings hold for a transaction, and statements have no names', async () => {
    const pooled = await open('transaction', 1);
    const database = openPostgresql({
      url: pooled,
      directUrl: direct,
      poolSize: 2,
      tokenPoolSize: 2,
      onError: failOnError,
    });
    closeAtEnd(() => database.close());
    const { prisma, sql, tokens } = database;
    const read = `SELECT current_setting('lock_timeout') AS "lock",
                         current_setting('enable_seqscan') AS "scan",
                         (SELECT count(*)::int FROM pg_prepared_statements WHERE name <> '') AS "named"`;
    const usual = [{ lock: '10s', scan: 'on', named: 0 }];
    const ways: readonly [() => Promise<unknown>, unknown][] = [
      [() => tokens.query('read', read, []), [{ lock: '10s', scan: 'off', named: 0 }]],
      [() => sql.query('read', read, []), usual],
      [() => prisma.$queryRawUnsafe(read), usual],
      [() => prisma.$transaction((tx) => tx.$queryRawUnsafe(read)), usual],
      [() => quietTransaction(database, (tx) => sqlOf(tx).query('read', read, [])), usual],
      [() => quietTransaction(database, (tx) => tx.$queryRawUnsafe(read)), usual],
    ];
    // All on one backend, twice.
    for (const [way, settings] of [...ways, ...ways]) expect(await way()).toEqual(settings);
    const stranger = new pg.Client({ connectionString: pooled });
    await stranger.connect();
    const { rows } = await stranger.query(read);
    await stranger.end();
    expect(rows).toEqual([{ lock: '0', scan: 'on', named: 0 }]);
    const isolation = prisma.$transaction(
      (tx) => tx.$queryRaw<object[]>`SHOW transaction_isolation`,
      { isolationLevel: 'Serializable' },
    );
    expect(await isolation).toEqual([{ transaction_isolation: 'serializable' }]);
  });

  test('without it, statements are prepared once for each connection', async () => {
    const database = openPostgresql({
      url: direct,
      poolSize: 1,
      tokenPoolSize: 1,
      onError: failOnError,
    });
    closeAtEnd(() => database.close());
    const read = `SELECT array_agg(name) AS "names", current_setting('lock_timeout') AS "lock"
                    FROM pg_prepared_statements WHERE name <> ''`;
    for (const sql of [database.sql, database.tokens])
      for (const names of [['read'], ['read']])
        expect(await sql.query('read', read, [])).toEqual([{ names, lock: '10s' }]);
  });

  test.each([
    { what: 'without a way past it', isDirectToo: false, variable: 'DATABASE_URL' },
    { what: 'if the way past it is one too', isDirectToo: true, variable: 'DATABASE_DIRECT_URL' },
  ])('a start in transaction mode ends $what', async ({ isDirectToo, variable }) => {
    const pooled = await open('transaction', 4);
    const node = startProcess({
      DATABASE_URL: pooled,
      SIGNET_SECRET: secret,
      ...(isDirectToo ? { DATABASE_DIRECT_URL: pooled } : {}),
    });
    closeAtEnd(async () => void node.child.kill('SIGKILL'));
    expect(await node.ended).toBe(1);
    expect(node.stderr()).toMatch(
      new RegExp(`^Signet cannot start: ${variable} leads through a pooler [^\\n]*\\n$`),
    );
  });

  test('a start ends if the way past it leads to another database', async () => {
    const { url: other, close } = await createTestDatabase();
    closeAtEnd(close);
    const node = startProcess({
      DATABASE_URL: await open('transaction', 4),
      DATABASE_DIRECT_URL: other as string,
      SIGNET_SECRET: secret,
    });
    closeAtEnd(async () => void node.child.kill('SIGKILL'));
    expect(await node.ended).toBe(1);
    expect(node.stderr()).toMatch(
      /^Signet cannot start: DATABASE_URL and DATABASE_DIRECT_URL lead to different databases: [^\n]*\n$/,
    );
  });

  test('session mode needs no other way', async () => {
    const node = startProcess({ DATABASE_URL: await open('session', 40), SIGNET_SECRET: secret });
    closeAtEnd(async () => {
      node.child.kill('SIGTERM');
      await node.ended;
    });
    expect((await fetch(`${await node.ready}/readyz`)).status).toBe(200);
  });

  test('a node goes on after a promotion, and tells when the pooler is gone', async () => {
    const server = await createPostgresqlServer();
    closeAtEnd(() => server.close());
    await server.start();
    const pooler = await startPgbouncer(server.url, 'transaction', 4);
    let isOpen = true;
    const closePooler = async () => {
      if (isOpen) await pooler.close();
      isOpen = false;
    };
    closeAtEnd(closePooler);
    const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
    const node = startProcess({
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: server.url,
      SIGNET_SECRET: secret,
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    });
    closeAtEnd(async () => {
      node.child.kill('SIGTERM');
      await node.ended;
    });
    const url = await node.ready;
    const expectReady = (status: number) =>
      eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(status));
    const token = await fetchManagementToken({ url }, admin);
    const create = (username: string) => callRest({ url, token }, 'POST', '/users', { username });

    expect((await create('before')).status).toBe(201);
    await server.stop('fast');
    await server.demote();
    await server.start();
    await expectReady(503);
    expect((await create('meanwhile')).status).toBe(503);
    await server.promote();
    await expectReady(200);
    await eventually(async () => expect((await create('after')).status).toBe(201));
    await closePooler();
    await expectReady(503);
  });
});
