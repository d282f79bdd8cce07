import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { type Database, openPostgresql } from '../../src/db/database.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { failOnError } from '../support/database.ts';
import { fillTables } from '../support/release/fill.ts';
import { openRelease } from '../support/release/open.ts';

const { database, url, close } = await openRelease();
closeAtEnd(close);

/** What statements need to find in a schema, and what it asks of them. A part of a table is the table's own affair. */
interface Shape {
  /** Each with its type. */
  readonly columns: readonly { table: string; name: string; type: string; isRequired: boolean }[];
  /** Unique keys, foreign keys and checks, each with the columns that it is about. */
  readonly rules: readonly { table: string; kind: string; columns: readonly string[] }[];
  /** Types with their values, sequences and functions. */
  readonly others: readonly string[];
}

async function shapeOf({ prisma }: Database): Promise<Shape> {
  const tables = `
    SELECT "oid", "relname" AS "table" FROM pg_class
     WHERE "relnamespace" = 'public'::regnamespace AND "relkind" IN ('r', 'p') AND NOT "relispartition"`;
  const namesOf = (relation: string, keys: string) => `
    ARRAY(SELECT "attname"::text FROM pg_attribute
           WHERE "attrelid" = ${relation} AND "attnum" = ANY (${keys}) ORDER BY "attname")`;
  return {
    columns: await prisma.$queryRawUnsafe(`
      SELECT "table"::text, "attname"::text AS "name", format_type("atttypid", "atttypmod") AS "type",
             "attnotnull" AND NOT "atthasdef" AND "attidentity" = '' AS "isRequired"
        FROM pg_attribute JOIN (${tables}) t ON "attrelid" = t."oid"
       WHERE "attnum" > 0 AND NOT "attisdropped"
       ORDER BY 1, 2`),
    rules: await prisma.$queryRawUnsafe(`
      SELECT "table"::text, 'unique' || coalesce(' by ' || pg_get_expr("indexprs", "indrelid"), '')
               || coalesce(' where ' || pg_get_expr("indpred", "indrelid"), '') AS "kind",
             ${namesOf('"indrelid"', '"indkey"')} AS "columns"
        FROM pg_index JOIN (${tables}) t ON "indrelid" = t."oid"
       WHERE "indisunique"
       UNION ALL
      SELECT "table"::text, CASE "contype" WHEN 'f' THEN 'reference' ELSE 'check' END,
             ${namesOf('"conrelid"', '"conkey"')}
        FROM pg_constraint JOIN (${tables}) t ON "conrelid" = t."oid"
       WHERE "contype" IN ('f', 'c')
       ORDER BY 1, 2, 3`),
    others: (
      await prisma.$queryRawUnsafe<{ name: string }[]>(`
        SELECT 'value ' || "typname" || '.' || "enumlabel" AS "name"
          FROM pg_enum JOIN pg_type t ON "enumtypid" = t."oid"
         UNION ALL
        SELECT 'sequence ' || "relname" FROM pg_class
         WHERE "relnamespace" = 'public'::regnamespace AND "relkind" = 'S'
         UNION ALL
        SELECT 'function ' || "oid"::regprocedure FROM pg_proc
         WHERE "pronamespace" = 'public'::regnamespace
         ORDER BY 1`)
    ).map(({ name }) => name),
  };
}

// A table of before is followed by its oid: a migration may rename it. The numbers of rows read are those of this
// transaction, and may be those of earlier ones too: so they are compared with those at the statement's start.
const watch = `
  CREATE SCHEMA watch;
  CREATE TABLE watch.before AS
    SELECT "oid" AS "id", "relname" AS "table" FROM pg_class
     WHERE "relnamespace" = 'public'::regnamespace AND "relkind" = 'r' AND "relname" <> '_prisma_migrations';
  CREATE TABLE watch.seen ("statement" text, "does" text);

  CREATE FUNCTION watch.at_write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO watch.seen VALUES (current_query(), 'writes ' || TG_TABLE_NAME);
    RETURN NULL;
  END $$;
  DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT * FROM watch.before LOOP
      EXECUTE format('CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %I
                        EXECUTE FUNCTION watch.at_write()', one."table");
    END LOOP;
  END $$;

  CREATE FUNCTION watch.at_start() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM set_config('watch.read', jsonb_object_agg("id", pg_stat_get_xact_tuples_returned("id"))::text, false)
       FROM watch.before;
  END $$;
  CREATE FUNCTION watch.at_end() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (
      SELECT FROM pg_locks JOIN watch.before ON "relation" = "id"
       WHERE "pid" = pg_backend_pid() AND "granted"
         AND "mode" IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    ) THEN
      INSERT INTO watch.seen SELECT current_query(), 'reads ' || "table" || ' while writers wait' FROM watch.before
       WHERE pg_stat_get_xact_tuples_returned("id") > (current_setting('watch.read')::jsonb ->> "id"::text)::bigint;
    END IF;
  END $$;
  CREATE FUNCTION watch.at_rewrite() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO watch.seen SELECT current_query(), 'rewrites ' || "table" FROM watch.before
     WHERE "id" = pg_event_trigger_table_rewrite_oid();
  END $$;
  CREATE EVENT TRIGGER watch_start ON ddl_command_start EXECUTE FUNCTION watch.at_start();
  CREATE EVENT TRIGGER watch_end ON ddl_command_end EXECUTE FUNCTION watch.at_end();
  CREATE EVENT TRIGGER watch_rewrite ON table_rewrite EXECUTE FUNCTION watch.at_rewrite();`;

const before = await shapeOf(database);
const client = new pg.Client({ connectionString: url });
const others: Database[] = [];
if (url) {
  const other = openPostgresql({ url, poolSize: 1, tokenPoolSize: 1, onError: failOnError });
  closeAtEnd(() => other.close());
  others.push(other);
  await client.connect();
  closeAtEnd(() => client.end());
  await fillTables(client, 3);
  await client.query(watch);
}
const applied = await Promise.all([database, ...others].map((one) => one.migrate()));
const after = await shapeOf(database);

const seen = async () =>
  (await client.query('DELETE FROM watch.seen RETURNING "does", "statement"')).rows as {
    does: string;
    statement: string;
  }[];

describe('the schema of today serves the nodes of the last release', () => {
  const keyOf = ({ table, name }: { table: string; name: string }) => `${table}.${name}`;
  const columns = new Map(after.columns.map((column) => [keyOf(column), column]));
  const ruleOf = ({ table, kind, columns }: Shape['rules'][number]) =>
    `${table}: ${kind} ${columns.join(', ')}`;
  const rules = (of: Shape) => new Set(of.rules.map(ruleOf));

  test('with every table and column, of the same type', () => {
    expect(before.columns.length).toBeGreaterThan(300);
    for (const { isRequired, ...column } of before.columns) {
      expect(columns.get(keyOf(column))).toMatchObject(column);
    }
  });

  test('with every value of a type, and no other, with every sequence and function', () => {
    const old = new Set(before.others);
    expect(old.difference(new Set(after.others))).toEqual(new Set());
    // A node cannot read a value that it does not know.
    const types = new Set(before.others.map((name) => /^value [^.]+/.exec(name)?.[0]));
    const known = after.others.filter((name) => types.has(/^value [^.]+/.exec(name)?.[0] ?? ''));
    expect(known.filter((name) => !old.has(name))).toEqual([]);
  });

  test('with every unique key that an insert may name', () => {
    const uniques = before.rules.filter(({ kind }) => kind.startsWith('unique')).map(ruleOf);
    expect(uniques.length).toBeGreaterThan(50);
    // A table in parts can have it in each part alone. An event is found by its id, and never written again.
    expect(new Set(uniques).difference(rules(after))).toEqual(new Set(['Event: unique id']));
  });

  test('without a value that an insert of the release does not give', () => {
    const old = new Map(before.columns.map((column) => [keyOf(column), column]));
    const tables = new Set(before.columns.map(({ table }) => table));
    const required = after.columns.filter(
      (column) => tables.has(column.table) && column.isRequired,
    );
    expect(required.filter((column) => !old.get(keyOf(column))?.isRequired)).toEqual([]);
  });

  test('without a rule about what the release writes', () => {
    const old = new Set(before.columns.map(keyOf));
    const ofOldColumns = after.rules.filter(({ table, columns }) =>
      columns.every((name) => old.has(keyOf({ table, name }))),
    );
    // What breaks them breaks the rules of before too, except in a locale that folds A to Z in its own way.
    const folded = [
      'OrganizationInvitation: unique by lower((invitee COLLATE "C")) where (status = \'PENDING\'::"InvitationStatus") organizationId',
      'User: unique by lower(("primaryEmail" COLLATE "C")) ',
      'User: unique by lower((username COLLATE "C")) ',
    ];
    expect(new Set(ofOldColumns.map(ruleOf)).difference(rules(before))).toEqual(new Set(folded));
  });
});

// The embedded database has no event triggers, and nobody else writes to it.
describe.runIf(inject('postgresql'))('the migrations since the last release', () => {
  test('are applied by one of the nodes that start at once, while the others wait', () => {
    const [names = [], ...rest] = applied.toSorted((a, b) => b.length - a.length);
    expect(new Set(names).size).toBe(names.length);
    expect(rest).toEqual([[]]);
  });

  // What reads no row takes a moment, however many there are.
  test('neither write, rewrite nor read the rows of a table while writers wait', async () => {
    expect(await seen()).toEqual([]);
  });

  const reads = 'reads User while writers wait';
  test.each<[statement: string, does: readonly string[]]>([
    ['CREATE INDEX ON "User" ("name")', [reads]],
    ['CREATE INDEX CONCURRENTLY ON "User" ("name")', []],
    ['ALTER TABLE "User" ADD COLUMN "a" integer NOT NULL DEFAULT 1', []],
    ['ALTER TABLE "User" ADD COLUMN "b" uuid DEFAULT gen_random_uuid()', ['rewrites User', reads]],
    ['ALTER TABLE "User" ALTER COLUMN "a" TYPE bigint', ['rewrites User', reads]],
    [`ALTER TABLE "User" ADD CHECK ("id" <> '')`, [reads]],
    [`ALTER TABLE "User" ADD CONSTRAINT "c" CHECK ("id" <> '') NOT VALID`, []],
    ['ALTER TABLE "User" VALIDATE CONSTRAINT "c"', []],
    ['ALTER TABLE "User" ALTER COLUMN "username" SET NOT NULL', [reads]],
    ['UPDATE "User" SET "name" = "id"', ['writes User']],
  ])('would be seen: %s', async (statement, does) => {
    await client.query(`UPDATE "User" SET "username" = "id" WHERE "username" IS NULL`);
    await seen();
    await client.query(statement);
    expect(await seen()).toEqual(does.map((one) => ({ statement, does: one })));
  });
});
