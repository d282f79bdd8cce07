import { expect, test } from 'vitest';
import { onceCommitted } from '../../src/db/around.ts';
import { transactByDriver } from '../../src/db/driver-transaction.ts';
import {
  brokenConstraint,
  inOneTransaction,
  quietTransaction,
  sqlOf,
  writeAhead,
} from '../../src/db/transaction.ts';
import { insertUserRow } from '../../src/db/user-row.ts';
import { newId } from '../../src/ids.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createTestDatabase } from '../support/database.ts';

const testDatabase = await createTestDatabase(2);
closeAtEnd(() => testDatabase.close());
const { database } = testDatabase;

const user = () => {
  const now = new Date();
  return { id: newId('User'), createdAt: now, updatedAt: now };
};
const exists = async (id: string) =>
  (await database.prisma.user.findUnique({ where: { id } })) !== null;

const fails = 'SELECT 1 / $1::int';

test('a user is written and returned as Prisma would', async () => {
  const fields = {
    ...user(),
    username: 'alice',
    isEmailVerified: true,
    profile: { given: "O'Neil", list: [1, '"{}'] },
    customData: {},
  };
  const written = await quietTransaction(database, (tx) => insertUserRow(tx, fields));
  expect(written).toMatchObject(fields);
  expect(written).toEqual(
    await database.prisma.user.findUniqueOrThrow({ where: { id: fields.id } }),
  );
});

test('no field becomes part of a statement unless it is a column', async () => {
  const hostile = { ...user(), '"id") SELECT 1 --': 'x' };
  await expect(quietTransaction(database, (tx) => insertUserRow(tx, hostile))).rejects.toThrow(
    'No column',
  );
  expect(await exists(hostile.id)).toBe(false);
});

test('a write ahead that fails fails the transaction, and nothing is written', async () => {
  const row = user();
  const committing = quietTransaction(database, async (tx) => {
    await insertUserRow(tx, row);
    await writeAhead(tx, 'fails', fails, [0]);
  });
  await expect(committing).rejects.toThrow(/division by zero/);
  expect(await exists(row.id)).toBe(false);
});

test('the next statement reports that fault, not its consequence', async () => {
  const row = user();
  const reported: unknown[] = [];
  const committing = quietTransaction(database, async (tx) => {
    await insertUserRow(tx, row);
    await writeAhead(tx, 'fails', fails, [0]);
    await insertUserRow(tx, user()).catch((error: unknown) => {
      reported.push(error);
      throw error;
    });
  });
  await expect(committing).rejects.toThrow(/division by zero/);
  for (const error of reported) expect(String(error)).toMatch(/division by zero/);
  expect(await exists(row.id)).toBe(false);
});

test('a write ahead keeps its place among the statements', async () => {
  const row = user();
  const name = await quietTransaction(database, async (tx) => {
    await insertUserRow(tx, row);
    await writeAhead(tx, 'rename', 'UPDATE "User" SET "name" = $2 WHERE "id" = $1', [row.id, 'a']);
    const [seen] = await sqlOf(tx).query<{ name: string }>(
      'seen',
      'SELECT "name" FROM "User" WHERE "id" = $1',
      [row.id],
    );
    await writeAhead(tx, 'rename', 'UPDATE "User" SET "name" = $2 WHERE "id" = $1', [row.id, 'b']);
    return seen?.name;
  });
  expect(name).toBe('a');
  expect(await database.prisma.user.findUnique({ where: { id: row.id } })).toMatchObject({
    name: 'b',
  });
});

test('a transaction of which nothing was asked sends nothing, and the connection is free after it', async () => {
  for (let i = 0; i < 5; i += 1) {
    await quietTransaction(database, async () => undefined);
    await expect(
      quietTransaction(database, async () => {
        throw new Error('before any statement');
      }),
    ).rejects.toThrow('before any statement');
  }
  const row = user();
  await quietTransaction(database, (tx) => insertUserRow(tx, row));
  expect(await exists(row.id)).toBe(true);
});

test('after a first statement that failed, the connection can be used again', async () => {
  for (let i = 0; i < 5; i += 1) {
    await expect(
      quietTransaction(database, (tx) => sqlOf(tx).query('fails-first', fails, [0])),
    ).rejects.toThrow(/division by zero/);
    await expect(
      quietTransaction(database, (tx) => sqlOf(tx).query('no-syntax', 'SELEC 1', [])),
    ).rejects.toThrow(/syntax error/);
  }
  const [row] = await quietTransaction(database, (tx) =>
    sqlOf(tx).query<{ half: number }>('fails-first', fails, [1]),
  );
  expect(Object.values(row ?? {})).toEqual([1]);
});

test.runIf(testDatabase.url)(
  'a commit that the database turns into a rollback is an error',
  async () => {
    const row = user();
    const committing = quietTransaction(database, async (tx) => {
      await insertUserRow(tx, row);
      await sqlOf(tx)
        .query('fails', fails, [0])
        .catch(() => undefined);
    });
    await expect(committing).rejects.toThrow(/rolled/);
    expect(await exists(row.id)).toBe(false);
  },
);

test('what comes after the end of a transaction does not run', async () => {
  const row = user();
  const late = await quietTransaction(database, async (tx) => () => insertUserRow(tx, row));
  await expect(late()).rejects.toThrow();
  expect(await exists(row.id)).toBe(false);
});

test('Prisma and the driver share one transaction', async () => {
  const [byDriver, byPrisma] = [user(), user()];
  const seen = await quietTransaction(database, async (tx) => {
    await insertUserRow(tx, byDriver);
    await writeAhead(tx, 'name', 'UPDATE "User" SET "name" = $2 WHERE "id" = $1', [
      byDriver.id,
      'ahead',
    ]);
    const [found] = await Promise.all([
      tx.user.findUniqueOrThrow({ where: { id: byDriver.id } }),
      tx.user.create({ data: byPrisma }),
    ]);
    const rows = await sqlOf(tx).query('find', 'SELECT "id" FROM "User" WHERE "id" = $1', [
      byPrisma.id,
    ]);
    return { name: found.name, count: rows.length };
  });
  expect(seen).toEqual({ name: 'ahead', count: 1 });
  expect(await exists(byDriver.id)).toBe(true);
  expect(await exists(byPrisma.id)).toBe(true);
});

test('nothing of either is written when the work fails', async () => {
  const [byDriver, byPrisma] = [user(), user()];
  const failing = quietTransaction(database, async (tx) => {
    await insertUserRow(tx, byDriver);
    await tx.user.create({ data: byPrisma });
    throw new Error('changed its mind');
  });
  await expect(failing).rejects.toThrow('changed its mind');
  expect(await exists(byDriver.id)).toBe(false);
  expect(await exists(byPrisma.id)).toBe(false);
});

test('a write ahead that fails fails what Prisma wrote', async () => {
  const row = user();
  const failing = quietTransaction(database, async (tx) => {
    await tx.user.create({ data: row });
    await writeAhead(tx, 'fails', fails, [0]);
  });
  await expect(failing).rejects.toThrow(/division by zero/);
  expect(await exists(row.id)).toBe(false);
});

test('Prisma reports a broken constraint by its name', async () => {
  const row = user();
  await quietTransaction(database, (tx) => tx.user.create({ data: row }));
  const again = await quietTransaction(database, (tx) => tx.user.create({ data: row })).catch(
    (error: unknown) => error,
  );
  expect(brokenConstraint(again)).toMatch(/User_pkey|"id"/);
});

test("Prisma's client does nothing after the end of its transaction", async () => {
  const row = user();
  const late = await quietTransaction(database, async (tx) => {
    await tx.user.count();
    return () => tx.user.create({ data: row });
  });
  await expect(late()).rejects.toThrow();
  expect(await exists(row.id)).toBe(false);
});

test('many transactions at once keep to their own connections', async () => {
  const rows = Array.from({ length: 40 }, user);
  const results = await Promise.allSettled(
    rows.map((row, i) =>
      quietTransaction(database, async (tx) => {
        if (i % 2) await insertUserRow(tx, row);
        else await tx.user.create({ data: row });
        await tx.$executeRaw`UPDATE "User" SET "name" = ${row.id} WHERE "id" = ${row.id}`;
        if (i % 5 === 0) throw new Error('undone');
      }),
    ),
  );
  const written = await database.prisma.user.findMany({
    where: { id: { in: rows.map(({ id }) => id) } },
  });
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(8);
  expect(written).toHaveLength(32);
  expect(written.every(({ id, name }) => id === name)).toBe(true);
});

test.runIf(testDatabase.url)('a transaction that takes too long is rolled back', async () => {
  const row = user();
  const connection = await database.lend?.();
  if (!connection) throw new Error('PostgreSQL lends connections.');
  const endless = transactByDriver(
    database.prisma,
    connection,
    async (tx) => {
      await tx.user.create({ data: row });
      for (;;) await connection.query('one', 'SELECT 1', []);
    },
    200,
  );
  await expect(endless).rejects.toThrow('The transaction is over');
  expect(await exists(row.id)).toBe(false);
});

test.runIf(testDatabase.url)(
  'a connection that breaks fails its transaction, and is replaced',
  async () => {
    for (const usePrisma of [false, true]) {
      const row = user();
      const breaking = quietTransaction(database, async (tx) => {
        await insertUserRow(tx, row);
        if (usePrisma) await tx.user.count();
        const [backend] = await sqlOf(tx).query<{ pid: number }>(
          'pid',
          'SELECT pg_backend_pid() AS "pid"',
          [],
        );
        await database.prisma.$queryRaw`SELECT pg_terminate_backend(${backend?.pid}::int, 5000)`;
      });
      await expect(breaking).rejects.toThrow();
      expect(await exists(row.id)).toBe(false);
      await quietTransaction(database, (tx) => insertUserRow(tx, row));
      expect(await exists(row.id)).toBe(true);
    }
  },
);

test('of one transaction, a part that fails leaves nothing, and the others are written together', async () => {
  const [first, failed, last] = [user(), user(), user()];
  const afterwards: string[] = [];
  const insert = (row: ReturnType<typeof user>) =>
    quietTransaction(database, (tx) => insertUserRow(tx, row));
  const result = await inOneTransaction(
    database,
    async () => {
      await insert(first);
      await onceCommitted(async () => void afterwards.push('committed'));
      const failing = quietTransaction(database, async (tx) => {
        await insertUserRow(tx, failed);
        await writeAhead(tx, 'fails', fails, [0]);
      });
      await expect(failing).rejects.toThrow(/division by zero/);
      expect(await exists(first.id)).toBe(true);
      await insert(last);
      expect(afterwards).toEqual([]);
      return 'done';
    },
    { last: async (done) => done },
  );
  expect(result).toBe('done');
  expect(afterwards).toEqual(['committed']);
  expect(await Promise.all([first, failed, last].map(({ id }) => exists(id)))).toEqual([
    true,
    false,
    true,
  ]);
});

test('a rehearsal reads what it wrote, and leaves nothing', async () => {
  const row = user();
  const afterwards: string[] = [];
  const seen = await inOneTransaction(
    database,
    async () => {
      await quietTransaction(database, (tx) => insertUserRow(tx, row));
      // Beside `transaction` too.
      await database.prisma.user.update({ where: { id: row.id }, data: { name: 'Seen' } });
      await onceCommitted(async () => void afterwards.push('committed'));
      return database.prisma.user.findUniqueOrThrow({ where: { id: row.id } });
    },
    { isRehearsal: true, last: async (found) => found.name },
  );
  expect(seen).toBe('Seen');
  expect(await exists(row.id)).toBe(false);
  expect(afterwards).toEqual([]);
});
