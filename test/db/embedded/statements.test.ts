import { expect, test } from 'vitest';
import { callsOn } from '../../../src/db/embedded/answers.ts';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { closeAtEnd } from '../../support/cleanup.ts';

const database = await openEmbedded({});
closeAtEnd(() => database.close());
const calls = await callsOn(database, {});
const query = (sql: string) => ({ sql, args: [], argTypes: [] });
const read = async (sql: string) => (await calls.queryRaw(undefined, query(sql))).rows;
const write = (sql: string, transaction?: number) => calls.executeRaw(transaction, query(sql));

test('counts the rows that a statement writes', async () => {
  await calls.executeScript('CREATE TABLE "counted" ("n" int)');
  expect(await write('INSERT INTO "counted" SELECT generate_series(1, 12)')).toBe(12);
  expect(await write('UPDATE "counted" SET "n" = 0 WHERE "n" > 10')).toBe(2);
  expect(await write('DELETE FROM "counted" WHERE "n" > 100')).toBe(0);
  expect(await write('SELECT 1')).toBe(0);
});

test('gives the columns of a table as they are after a script', async () => {
  await calls.executeScript('CREATE TABLE "changed" AS SELECT 1 AS "one"');
  expect(await read('SELECT * FROM "changed"')).toEqual([[1]]);
  await calls.executeScript('ALTER TABLE "changed" ADD COLUMN "two" int DEFAULT 2');
  expect(await read('SELECT * FROM "changed"')).toEqual([[1, 2]]);
});

test('goes on after an error, in a transaction too', async () => {
  await calls.executeScript('CREATE TABLE "once" ("n" int PRIMARY KEY)');
  const transaction = await calls.begin();
  expect(await write('INSERT INTO "once" VALUES (1)', transaction)).toBe(1);
  await expect(write('INSERT INTO "once" VALUES (1)', transaction)).rejects.toMatchObject({
    cause: { kind: 'UniqueConstraintViolation', originalCode: '23505' },
  });
  await expect(write('SELECT 2', transaction)).rejects.toMatchObject({
    cause: { originalCode: '25P02' },
  });
  await calls.rollback(transaction);
  expect(await read('SELECT * FROM "once"')).toEqual([]);
  expect(await write('INSERT INTO "once" VALUES (1)')).toBe(1);
});

test('keeps no more than some hundred statements', async () => {
  for (let n = 0; n < 600; n += 1) expect(await read(`SELECT ${n} AS "n"`)).toEqual([[n]]);
  expect(await read('SELECT 0 AS "n"')).toEqual([[0]]);
  const [[kept] = []] = await read('SELECT count(*)::int FROM pg_prepared_statements');
  expect(kept).toBeGreaterThan(100);
  expect(kept).toBeLessThanOrEqual(500);
});

test('keeps no long statement', async () => {
  const list = Array.from({ length: 4000 }, (_, n) => n);
  const long = `SELECT count(*)::int FROM unnest(ARRAY[${list}])`;
  expect(await read(long)).toEqual([[4000]]);
  expect(
    await read('SELECT 1 FROM pg_prepared_statements WHERE length("statement") > 10000'),
  ).toEqual([]);
});
