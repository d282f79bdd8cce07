import { expect, test } from 'vitest';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { embeddedSql } from '../../../src/db/embedded/sql.ts';
import { Statements } from '../../../src/db/embedded/statements.ts';
import { closeAtEnd } from '../../support/cleanup.ts';

const database = await openEmbedded({});
closeAtEnd(() => database.close());
const sql = embeddedSql(database, new Statements(database), { enable_seqscan: 'off' });

test('gives values and takes them as PGlite’s own query does', async () => {
  const text = `
    SELECT $1::text AS "text", $2::text[] AS "texts", $3::timestamptz AS "at", $4::int AS "number",
           $5::boolean AS "flag", $6::text AS "none", ARRAY[now() - now()]::text[] AS "array"`;
  const values = ['a"b', ['x', null, '{"y"}', ''], new Date(0), 7, false, null];
  const expected = (await database.query(text, values)).rows;
  expect(await sql.query('values', text, values)).toEqual(expected);
  expect(await sql.query('values', text, values)).toEqual(expected);
  expect(await sql.query('none', 'SELECT 1 WHERE false', [])).toEqual([]);
  expect(await sql.query('several', 'SELECT generate_series(1, 2) AS "n"', [])).toEqual([
    { n: 1 },
    { n: 2 },
  ]);
});

test('parses a statement once', async () => {
  const read = async () => {
    const { rows } = await database.query<{ calls: number }>(
      `SELECT ("generic_plans" + "custom_plans")::int AS "calls" FROM pg_prepared_statements WHERE "statement" = 'SELECT $1::int AS "n"'`,
    );
    return rows;
  };
  await sql.query('once', 'SELECT $1::int AS "n"', [1]);
  await sql.query('once', 'SELECT $1::int AS "n"', [2]);
  expect(await read()).toEqual([{ calls: 2 }]);
});

test('reports an error with its code, and goes on', async () => {
  const text = 'SELECT 1 / $1::int AS "n"';
  await expect(sql.query('faulty', text, [0])).rejects.toMatchObject({ code: '22012' });
  expect(await sql.query('faulty', text, [1])).toEqual([{ n: 1 }]);
  const unknown = () => sql.query('unknown', 'SELECT "x" FROM "nowhere"', []);
  await expect(unknown()).rejects.toMatchObject({ code: '42P01' });
  await expect(unknown()).rejects.toMatchObject({ code: '42P01' });
  expect(await sql.query('after', 'SELECT 1 AS "n"', [])).toEqual([{ n: 1 }]);
});

test('has its settings to itself', async () => {
  const text = `SELECT current_setting('enable_seqscan') AS "seqscan"`;
  expect(await sql.query('setting', text, [])).toEqual([{ seqscan: 'off' }]);
  expect((await database.query(text)).rows).toEqual([{ seqscan: 'on' }]);
});

test('waits for an open transaction, and sees nothing of one that rolls back', async () => {
  await database.exec('CREATE TABLE "thing" ("id" int)');
  let counted: Promise<unknown> | undefined;
  await database.transaction(async (tx) => {
    await tx.query('INSERT INTO "thing" VALUES (1)');
    counted = sql.query('count', 'SELECT count(*)::int AS "n" FROM "thing"', []);
    await tx.query('SELECT 1');
    await tx.rollback();
  });
  expect(await counted).toEqual([{ n: 0 }]);
});
