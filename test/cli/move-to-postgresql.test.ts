import { cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createTestDatabase } from '../support/database.ts';
import { callRest } from '../support/operations/rest.ts';
import { freePort } from '../support/peers/free-port.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/peers/postgresql/pgbouncer.ts';
import { createPostgresqlServer } from '../support/peers/postgresql/server.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { signIn } from '../support/people/sign-in.ts';
import { redirectUri } from '../support/people/sign-in-fixture.ts';
import { runSignet, startProcess } from '../support/process.ts';
import type { TestService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { createUser, createWebhook } from '../support/webhooks.ts';

describe.runIf(inject('postgresql'))('signet move-to-postgresql', async () => {
  if (!inject('postgresql')) return;
  const folder = await mkdtemp(join(tmpdir(), 'signet-move-'));
  closeAtEnd(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  const move = (url: string, environment = {}, killed = new AbortController().signal) =>
    runSignet(['move-to-postgresql', url], {
      environment: { DATA_DIR: dataDir, ...environment },
      killed,
    });
  const password = 'correct horse battery staple';
  const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };

  // The address stays as it is, whatever is behind it.
  const port = await freePort();
  const front = { url: `http://127.0.0.1:${port}` };
  const settings = { ALLOW_PRIVATE_WEBHOOKS: 'true', PORT: String(port), BASE_URL: front.url };
  const asService = {
    app: { services: { baseUrl: front.url, issuer: `${front.url}/oidc` } },
  } as TestService;
  const receiver = await startReceiver();
  receiver.answerWith(503);

  const embedded = startProcess({
    ...settings,
    DATA_DIR: dataDir,
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
  });
  closeAtEnd(async () => {
    embedded.child.kill('SIGKILL');
    await embedded.ended;
  });
  await embedded.ready;
  const token = await fetchManagementToken(front, admin);
  const endpoint = { url: front.url, token };
  const { body: made } = await callRest(endpoint, 'POST', '/users', {
    username: 'ada',
    name: 'Zoë\tO’Neil \\N "quoted"\nof two lines',
    customData: { text: 'a\\b\n{"}' },
    password,
  });
  const { body: application } = await callRest(endpoint, 'POST', '/applications', {
    name: 'The web application',
    type: 'TRADITIONAL',
    redirectUris: [redirectUri],
  });
  const client = { id: application.application.id, secret: application.secret };
  const request = { client, redirectUri, username: 'ada', password };
  const first = await signIn(asService, { ...request, scope: 'openid offline_access' });
  const cursor = await logEnd(endpoint);
  await createWebhook(endpoint, { url: receiver.url });
  const late = await createUser(endpoint);
  const [undelivered] = await receiver.arrived(1);
  const { body: before } = await callRest(endpoint, 'GET', `/users/${made.user.id}`);

  const { url: template, close } = await createTestDatabase();
  closeAtEnd(close);
  const busy = await move(template as string);
  embedded.child.kill('SIGTERM');
  await embedded.ended;
  const attempts = receiver.received.length;

  const open = async (url: string) => {
    const connection = new pg.Client({ connectionString: url });
    await connection.connect();
    closeAtEnd(() => connection.end());
    return async (text: string) =>
      (await connection.query<{ value: unknown }>(text)).rows.map(({ value }) => value);
  };
  const newDatabase = async (origin?: string) => {
    const { url, close } = await createTestDatabase(5, {}, origin);
    closeAtEnd(close);
    return url as string;
  };

  test('is refused while the service runs', () => {
    expect(busy.code).toBe(1);
    expect(busy.stderr).toMatch(/in use by another process: stop the service first/);
    expect(busy.stdout).toBe('');
  });

  test('brings everything to a new server, and the service goes on there', async () => {
    const server = await createPostgresqlServer();
    closeAtEnd(() => server.close());
    await server.start();
    const moved = await move(server.url);
    expect(moved.stderr).toMatch(/^The server has counted \d+ fewer transactions/);
    expect(moved.code).toBe(0);
    expect(moved.stdout).toMatch(
      /and the contents of \S+ as its SIGNET_SECRET\. Do not start it on this DATA_DIR again\.\n$/,
    );
    const counts = [...moved.stdout.matchAll(/^(\w+) +(\d+) +(\d+)$/gm)];
    expect(counts.length).toBeGreaterThan(70);
    for (const [, , here, there] of counts) expect(there).toBe(here);
    expect(moved.stdout).toMatch(/^User +2 +2$/m);
    expect(moved.stdout).toContain(`the contents of ${join(dataDir, 'secret')} as its`);

    // What was made by one transaction is what migrations make one by one.
    const schemaOf = async (url: string) => (await open(url))(shape);
    expect(await schemaOf(server.url)).toEqual(await schemaOf(template as string));

    // The next attempt is minutes away.
    const read = await open(server.url);
    await read(`UPDATE "Delivery" SET "nextAttemptAt" = now() WHERE "status" = 'PENDING'`);
    receiver.answerWith(204);
    const node = startProcess({
      ...settings,
      DATABASE_URL: server.url,
      SIGNET_SECRET: (await readFile(join(dataDir, 'secret'), 'utf8')).trim(),
    });
    closeAtEnd(async () => {
      node.child.kill('SIGTERM');
      await node.ended;
    });
    await node.ready;
    expect(node.stdout()).not.toMatch(/another cluster|sequences were behind|migrations applied/);

    // The token of a key of before, people, and their refresh tokens.
    expect(await callRest(endpoint, 'GET', `/users/${made.user.id}`)).toMatchObject({
      status: 200,
      body: before,
    });
    const refreshed = await fetch(`${front.url}/oidc/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: first.refresh_token ?? '',
      }),
    });
    expect(refreshed.status).toBe(200);
    await signIn(asService, request);

    // The queue, and the log from a cursor of before.
    const delivered = await receiver.arrived(attempts + 1);
    expect(delivered.at(attempts)?.json).toEqual(undelivered?.json);
    const after = await createUser(endpoint);
    const followed = subscribe(connect(endpoint), { after: cursor, types: ['USER_CREATED'] });
    const events = await followed.received(2);
    expect(events.map(({ data }) => data['id'])).toEqual([late.id, after.id]);
    expect(followed.errors).toEqual([]);
    const messages = await receiver.arrived(attempts + 2);
    expect(messages.at(attempts + 1)?.json.data).toMatchObject({ id: after.id });

    // Again: it is not empty any more.
    const again = await move(server.url);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/is not empty: it has rows \(.*User 3/);
  });

  test('divides the log as it was, without what a replacement of parts has begun', async () => {
    const copied = join(folder, 'copied');
    await cp(dataDir, copied, { recursive: true });
    const database = await openEmbedded({ dataDir: join(copied, 'database') });
    await database.exec(`
      ALTER TABLE "Event" DETACH PARTITION "Event_0";
      DROP TABLE "Event_1";
      ALTER TABLE "Event" ATTACH PARTITION "Event_0" FOR VALUES FROM (MINVALUE) TO (3000000000000);
      CREATE TABLE "Event_3" PARTITION OF "Event" FOR VALUES FROM (3000000000000) TO (4000000000000);
      CREATE TABLE "Event_0_rest" (LIKE "Event");
      INSERT INTO "Event_0_rest" SELECT * FROM "Event";
      UPDATE "Event" SET "position" = 3000000000007 WHERE "id" = (SELECT max("id") FROM "Event");
      -- More than is read at once.
      INSERT INTO "Event" ("id", "type", "data", "occurredAt")
      SELECT 'evt_' || i, 'User.Created', jsonb_build_object('text', repeat('x', 800)), now()
        FROM generate_series(1, 3000) i`);
    const events = await database.query<{ count: number }>(
      'SELECT count(*)::int AS "count" FROM "Event"',
    );
    await database.close();
    const url = await newDatabase();
    expect(await move(url, { DATA_DIR: copied })).toMatchObject({ code: 0 });
    const read = await open(url);
    expect(
      await read(`
        SELECT relname || ' ' || pg_get_expr(relpartbound, oid) AS "value" FROM pg_class
         WHERE relname ~ '^Event_[0-9]+(_rest)?$' ORDER BY 1`),
    ).toEqual([
      "Event_0 FOR VALUES FROM (MINVALUE) TO ('3000000000000')",
      "Event_3 FOR VALUES FROM ('3000000000000') TO ('4000000000000')",
    ]);
    expect(await read('SELECT count(*)::int AS "value" FROM "Event"')).toEqual([
      events.rows[0]?.count,
    ]);
    expect(await read('SELECT count(*)::int AS "value" FROM "Event_3"')).toEqual([1]);
    expect(
      await read(
        `SELECT indexdef AS "value" FROM pg_indexes WHERE tablename = 'Event_0' AND indexdef ~ 'UNIQUE.*[(]id[)]'`,
      ),
    ).toHaveLength(1);
  });

  test('leaves nothing if it is killed in the middle, and can be run again', async () => {
    const url = await newDatabase();
    const read = await open(url);
    await read(`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END'`);
    await read('CREATE TRIGGER wait BEFORE INSERT ON "User" FOR EACH ROW EXECUTE FUNCTION wait()');
    const [, database = ''] = /\/(\w+)$/.exec(url) ?? [];
    await read('SELECT pg_advisory_lock(4711)');
    const killed = new AbortController();
    const killing = move(url, {}, killed.signal);
    const waiting = `
      SELECT count(*)::int AS "value" FROM pg_stat_activity
       WHERE datname = '${database}' AND application_name = 'signet move'`;
    await eventually(async () =>
      expect(await read(`${waiting} AND wait_event = 'advisory'`)).toEqual([1]),
    );
    killed.abort();
    await killing;
    await read('SELECT pg_advisory_unlock(4711)');
    await eventually(async () => expect(await read(waiting)).toEqual([0]));
    for (const table of ['Application', 'Scope', 'User', 'SigningKey'])
      expect(await read(`SELECT count(*)::int AS "value" FROM "${table}"`)).toEqual([0]);
    await read('DROP FUNCTION wait CASCADE');

    const second = await move(url);
    expect(second.code).toBe(0);
    expect(await read('SELECT count(*)::int AS "value" FROM "User"')).toEqual([2]);
  });

  test.each([
    ['tables of something else', 'CREATE TABLE "Reading" ("id" INT)', 'it has Reading'],
    [
      'tables of another version',
      `DELETE FROM "_prisma_migrations" WHERE "migration_name" LIKE '%init'`,
      'it has tables of another version',
    ],
  ])('refuses a target with %s', async (_what, statement, reason) => {
    const url = await newDatabase();
    const read = await open(url);
    await read(statement);
    const { code, stdout, stderr } = await move(url);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`the database to move to is not empty: ${reason}.`);
    expect(await read('SELECT count(*)::int AS "value" FROM "User"')).toEqual([0]);
  });

  test.skipIf(pgbouncerMissing)('goes past a pooler by DATABASE_DIRECT_URL', async () => {
    const url = await newDatabase();
    const pooler = await startPgbouncer(url, 'transaction', 2);
    closeAtEnd(pooler.close);
    const read = await open(url);
    const users = () => read('SELECT count(*)::int AS "value" FROM "User"');
    const alone = await move(pooler.url);
    expect({ code: alone.code, stdout: alone.stdout }).toEqual({ code: 1, stdout: '' });
    expect(alone.stderr).toContain(
      'DATABASE_URL leads through a pooler in transaction mode: DATABASE_DIRECT_URL must lead past it',
    );
    const elsewhere = await newDatabase();
    const astray = await move(pooler.url, { DATABASE_DIRECT_URL: elsewhere });
    expect({ code: astray.code, stdout: astray.stdout }).toEqual({ code: 1, stdout: '' });
    expect(astray.stderr).toContain(
      'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases',
    );
    expect(await users()).toEqual([0]);
    expect(await move(pooler.url, { DATABASE_DIRECT_URL: url })).toMatchObject({ code: 0 });
    expect(await users()).toEqual([2]);
  });

  test('refuses another secret than that of the folder', async () => {
    const { code, stderr } = await move(template as string, {
      SIGNET_SECRET: 'Xq3vT9-another-secret-for-tests-0bZ1',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('SIGNET_SECRET is not the one');
  });

  test('makes no folder where there is none', async () => {
    const missing = join(folder, 'missing');
    const { code, stderr } = await move(template as string, { DATA_DIR: missing });
    expect(code).toBe(1);
    expect(stderr).toContain(`DATA_DIR ${missing} has no database that could be moved.`);
    await expect(stat(missing)).rejects.toThrow('ENOENT');
  });
});

/** What a schema is made of, but for the parts of the log that a service has begun. */
const shape = `
  SELECT "value" FROM (
    SELECT format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                  pg_get_expr(d.adbin, d.adrelid))
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL SELECT format('%s %s %s', relname, relkind, reloptions) FROM pg_class
     WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
     WHERE pronamespace = 'public'::regnamespace AND l.lanname IN ('sql', 'plpgsql')
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    UNION ALL SELECT format('%s %s', enumtypid::regtype, enumlabel) FROM pg_enum
  ) s ("value")
   WHERE "value" NOT LIKE '%Event_1%' ORDER BY 1`;
