import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { inUtc } from '../../src/db/connections/adapter.ts';
import { type Database, openPostgresql } from '../../src/db/database.ts';
import { sessionSettings } from '../../src/db/postgresql.ts';
import { quietTransaction, sqlOf } from '../../src/db/transaction.ts';
import { insertUserRow } from '../../src/db/user-row.ts';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { failOnError } from '../support/database.ts';
import { settledEvents } from '../support/events.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/peers/postgresql/pgbouncer.ts';
import { startReceiver, verify } from '../support/peers/receiver.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { exchange } from '../support/tokens.ts';
import { adminOf, createUser, createWebhook, succeeded } from '../support/webhooks.ts';

/** Something else than the service relies on, for each of its settings. */
const strange: Readonly<Record<keyof typeof sessionSettings, string>> = {
  TimeZone: "'Asia/Kolkata'",
  DateStyle: "'SQL, DMY'",
  IntervalStyle: "'sql_standard'",
  client_encoding: "'LATIN1'",
  standard_conforming_strings: 'off',
  bytea_output: "'escape'",
  extra_float_digits: '-5',
  array_nulls: 'off',
  transform_null_equals: 'on',
  row_security: 'off',
  default_transaction_isolation: "'serializable'",
  statement_timeout: "'7s'",
  lock_timeout: "'1ms'",
  idle_in_transaction_session_timeout: "'7s'",
  idle_session_timeout: "'10min'",
};

test.each([
  ['2026-11-27 15:08:00.123456+00', '2026-11-27 15:08:00.123456+00'],
  ['2026-11-27 20:38:00.123+05:30', '2026-11-27 15:08:00.123+00'],
  ['2026-11-27 10:08:00-05', '2026-11-27 15:08:00.000+00'],
  ['1890-01-01 05:53:28+05:53:28', '1890-01-01 00:00:00.000+00'],
  ['infinity', 'infinity'],
])('%s is the instant %s', (text, instant) => {
  expect(inUtc(text)).toBe(instant);
});

const title = 'on a database whose sessions begin with other settings';

// The embedded database takes its settings from nobody.
describe.runIf(inject('postgresql'))(title, async () => {
  if (!inject('postgresql')) return;
  const service = await startService(
    { ALLOW_PRIVATE_WEBHOOKS: 'true' },
    { databaseSettings: strange },
  );
  const { database } = service.app.services;
  const direct = service.testDatabase.url as string;

  const names = Object.keys(sessionSettings);
  const read = `SELECT json_object_agg("name", current_setting("name"))::text
                         || current_setting('transaction_isolation') AS "all"
                  FROM unnest(string_to_array('${names.join(' ')}', ' ')) AS "asked" ("name")`;
  const waysOf = (one: Database): Readonly<Record<string, () => Promise<unknown>>> => ({
    tokens: () => one.tokens.query('read', read, []),
    sql: () => one.sql.query('read', read, []),
    prisma: () => one.prisma.$queryRawUnsafe(read),
    transaction: () => one.prisma.$transaction((tx) => tx.$queryRawUnsafe(read)),
    'statement of a transaction': () =>
      quietTransaction(one, (tx) => sqlOf(tx).query('read', read, [])),
    'Prisma in a transaction': () => quietTransaction(one, (tx) => tx.$queryRawUnsafe(read)),
  });
  const own = async (one: Database) => {
    for (const [way, ask] of Object.entries(waysOf(one))) {
      const [row] = (await ask()) as { all: string }[];
      const [, settings = '', isolation] = /^(\{.*\})(.*)$/s.exec(row?.all ?? '') ?? [];
      expect({ way, ...JSON.parse(settings) }).toEqual({ way, ...sessionSettings });
      expect({ way, isolation }).toEqual({ way, isolation: 'read committed' });
    }
  };

  test('every way to it states what the service relies on', async () => {
    const stranger = new pg.Client({ connectionString: direct });
    await stranger.connect();
    const { rows } = await stranger.query<{ TimeZone: string }>('SHOW TimeZone');
    await stranger.end();
    expect(rows).toEqual([{ TimeZone: 'Asia/Kolkata' }]);
    await own(database);
    expect(
      await database.prisma.$transaction(
        (tx) => tx.$queryRaw<object[]>`SHOW transaction_isolation`,
        { isolationLevel: 'RepeatableRead' },
      ),
    ).toEqual([{ transaction_isolation: 'repeatable read' }]);
  });

  test.skipIf(pgbouncerMissing)('so it does through PgBouncer', async () => {
    const pooler = await startPgbouncer(direct, 'transaction', 1);
    closeAtEnd(pooler.close);
    const pooled = openPostgresql({
      url: pooler.url,
      directUrl: direct,
      poolSize: 2,
      tokenPoolSize: 2,
      onError: failOnError,
    });
    closeAtEnd(() => pooled.close());
    await own(pooled);
    await own(pooled);
    expect(
      await pooled.prisma.$transaction((tx) => tx.$queryRawUnsafe<{ all: string }[]>(read), {
        isolationLevel: 'Serializable',
      }),
    ).toEqual([{ all: expect.stringMatching(/"UTC".*serializable$/s) }]);
    const stranger = new pg.Client({ connectionString: pooler.url });
    await stranger.connect();
    const { rows } = await stranger.query('SHOW transaction_isolation');
    await stranger.end();
    expect(rows).toEqual([{ transaction_isolation: 'serializable' }]);
  });

  test('Prisma and our own SQL read of a row the same instant, to the millisecond', async () => {
    for (const at of [
      '2026-11-27T15:08:00.007Z',
      '2026-03-29T01:30:00.999Z',
      '1969-07-20T20:17:40Z',
    ]) {
      const instant = new Date(at);
      const [byPrisma, byDriver] = [newId('User'), newId('User')];
      const stamps = { createdAt: instant, updatedAt: instant };
      await database.prisma.user.create({ data: { id: byPrisma, ...stamps } });
      await quietTransaction(database, (tx) => insertUserRow(tx, { id: byDriver, ...stamps }));
      for (const id of [byPrisma, byDriver]) {
        const { createdAt } = await database.prisma.user.findUniqueOrThrow({ where: { id } });
        const text = `SELECT "createdAt", extract(epoch FROM "createdAt") * 1000 AS "ms" FROM "User" WHERE "id" = $1`;
        const [ours] = await database.sql.query<{ createdAt: Date; ms: string }>('', text, [id]);
        const [raw] = await database.prisma.$queryRaw<{ createdAt: Date }[]>`
          SELECT "createdAt" FROM "User" WHERE "id" = ${id} AND "createdAt" = ${instant}::timestamptz`;
        expect([createdAt, ours?.createdAt, raw?.createdAt]).toEqual([instant, instant, instant]);
        expect(Number(ours?.ms)).toBe(instant.getTime());
      }
    }
    const micro = `SELECT '2026-11-27T15:08:00.123999Z'::timestamptz AS "at"`;
    const [ours] = await database.sql.query<{ at: Date }>('', micro, []);
    const [theirs] = await database.prisma.$queryRawUnsafe<{ at: Date }[]>(micro);
    expect(theirs?.at).toEqual(ours?.at);
  });

  test('events, deliveries, sessions and tokens have the right time', async () => {
    const before = Date.now();
    const isNow = (at: Date | string | undefined) => {
      const time = new Date(at ?? Number.NaN).getTime();
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(Date.now());
    };
    const admin = await adminOf(service);
    const receiver = await startReceiver();
    const { id, secret } = await createWebhook(admin, { url: receiver.url });
    const user = await createUser(admin);
    const [message] = await receiver.arrived(1);
    isNow((message && (verify(secret, message) as { timestamp: string }))?.timestamp);
    const { deliveries } = await succeeded(admin, id);
    isNow(deliveries[0]?.attempts[0]?.at);
    const events = (await settledEvents(service, admin.token)) as unknown as {
      data: { user?: { id: string } };
      occurredAt: string;
    }[];
    const told = events.filter(({ data }) => JSON.stringify(data).includes(user.id));
    expect(told.length).toBeGreaterThan(0);
    for (const { occurredAt } of told) isNow(occurredAt);

    const fixture = await createSignInFixture(service);
    const tokens = await fixture.signIn({
      resource: fixture.resource.indicator,
      scope: 'openid offline_access read',
    });
    const session = await database.prisma.session.findFirstOrThrow({
      where: { userId: fixture.user.id },
    });
    isNow(session.createdAt);
    expect(session.expiresAt.getTime()).toBeGreaterThan(Date.now());
    const backend = await fixture.directory.createClient({ allowTokenExchange: true });
    const exchanged = await exchange(service, backend, {
      subject_token: tokens.access_token,
      resource: fixture.resource.indicator,
    });
    expect(exchanged.status).toBe(200);
    await database.prisma.user.update({
      where: { id: fixture.user.id },
      data: { tokensValidAfter: new Date() },
    });
    const dead = await exchange(service, backend, {
      subject_token: tokens.access_token,
      resource: fixture.resource.indicator,
    });
    expect(dead.status).toBe(400);
  });
});
