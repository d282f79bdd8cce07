import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import { GraphQLError } from 'graphql';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { openPostgresql } from '../../src/db/database.ts';
import { isUnreachable } from '../../src/db/unreachable.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTcpProxy } from '../support/peers/tcp-proxy.ts';

const postgresql = inject('postgresql');

// Prisma lets them through as they are where it sends a savepoint.
test.each([
  {
    kind: 'postgres',
    originalCode: '08P01',
    originalMessage: 'server conn crashed?',
    code: '08P01',
    severity: 'FATAL',
    message: 'server conn crashed?',
    detail: undefined,
    column: undefined,
    hint: undefined,
  },
  { kind: 'SocketTimeout' },
] as const)('an error of Prisma’s adapter tells by its cause: $kind', (cause) => {
  expect(isUnreachable(new DriverAdapterError(cause))).toBe(true);
  expect(
    isUnreachable(new GraphQLError('', { originalError: new DriverAdapterError(cause) })),
  ).toBe(true);
});

describe.runIf(postgresql)('a PostgreSQL that goes away', async () => {
  if (!postgresql) return;
  const own = await createTestDatabase();
  const url = new URL(own.url as string);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  const database = openPostgresql({
    url: url.href,
    poolSize: 3,
    tokenPoolSize: 2,
    onError: () => undefined,
  });
  afterAll(async () => {
    await database.close();
    await proxy.close();
    await own.close();
  });
  const { prisma, tokens } = database;
  const ways = {
    'a model': () => prisma.user.findFirst({ where: { id: 'none' } }),
    'a raw statement': () => prisma.$queryRaw`SELECT 1`,
    'a transaction': () => prisma.$transaction((tx) => tx.$queryRaw`SELECT 1`),
    'the token path': () => tokens.query('one', 'SELECT 1', []),
  };
  const failure = (run: Promise<unknown>) => run.then(() => undefined).catch((error) => error);
  // A connection that broke while idle may be found out only by the statement that is given it.
  const recover = async () => {
    await proxy.mend();
    for (const run of Object.values(ways)) {
      await expect.poll(() => failure(run())).toBeUndefined();
    }
  };

  test('differs from a fault on every connection', async () => {
    await Promise.all(Object.values(ways).map((run) => run().catch(() => undefined)));
    await proxy.cut();
    // The first statement on a connection finds it broken; the next one finds nobody to connect to.
    for (const round of [1, 2]) {
      for (const [way, run] of Object.entries(ways)) {
        expect(isUnreachable(await failure(run())), `${way}, ${round}`).toBe(true);
      }
    }
    await recover();
  });

  test('differs from a fault during a statement', async () => {
    const running = [
      failure(prisma.$queryRaw`SELECT pg_sleep(60)::text`),
      failure(tokens.query('sleep', 'SELECT pg_sleep(60)::text', [])),
      failure(prisma.$transaction((tx) => tx.$queryRaw`SELECT pg_sleep(60)::text`)),
    ];
    await expect
      .poll(
        () => prisma.$queryRaw`SELECT 1 FROM pg_stat_activity
          WHERE "query" LIKE 'SELECT pg_sleep(60)%' AND "state" = 'active'`,
      )
      .toHaveLength(3);
    await proxy.cut();
    for (const error of await Promise.all(running)) expect(isUnreachable(error)).toBe(true);
    await recover();
  });

  test('is not a statement that PostgreSQL refuses', async () => {
    const refused = [
      () => prisma.$queryRaw`SELECT nothing`,
      () => tokens.query('nothing', 'SELECT nothing', []),
      () => prisma.$transaction((tx) => tx.$queryRaw`SELECT 1/0`),
    ];
    for (const run of refused) {
      const error = await failure(run());
      expect(error).toBeInstanceOf(Error);
      expect(isUnreachable(error)).toBe(false);
    }
  });
});

test('a Unix socket that is gone counts as the database', async () => {
  const database = openPostgresql({
    url: 'postgres://nobody@localhost/none?host=/no/such/folder',
    poolSize: 1,
    tokenPoolSize: 1,
    onError: () => undefined,
  });
  closeAtEnd(() => database.close());
  const { prisma, tokens } = database;
  const ways = [
    prisma.user.findFirst(),
    prisma.$queryRaw`SELECT 1`,
    prisma.$transaction((tx) => tx.$queryRaw`SELECT 1`),
    tokens.query('one', 'SELECT 1', []),
  ];
  for (const way of await Promise.allSettled(ways))
    expect(isUnreachable((way as PromiseRejectedResult).reason)).toBe(true);
});

test('it is recognized inside other errors', () => {
  const gone = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(isUnreachable(new Error('the log', { cause: gone }))).toBe(true);
  expect(isUnreachable(new AggregateError([gone]))).toBe(true);
  expect(isUnreachable(new GraphQLError('user', { originalError: gone }))).toBe(true);
});

test('another unreachable host does not count as the database', () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(isUnreachable(new TypeError('fetch failed', { cause }))).toBe(false);
  const noFile = Object.assign(new Error("ENOENT: no such file, open 'x'"), { code: 'ENOENT' });
  expect(isUnreachable(noFile)).toBe(false);
  expect(isUnreachable(new Error('a bug'))).toBe(false);
  expect(isUnreachable(undefined)).toBe(false);
});
