import type pg from 'pg';
import { createEndpoint } from '../../db/connections/endpoint.ts';
import { migrationScripts } from '../../db/migrations/migrate.ts';
import {
  type Addresses,
  assertMayMigrate,
  assertReachable,
  connectStated,
  withAdvisoryLock,
} from '../../db/postgresql.ts';
import { eventLog } from '../../events/parts/ranges.ts';
import { CommandError } from '../command.ts';
import { copyIn } from './copy-in.ts';
import type { Source, Table } from './source.ts';

/** The rows of a table on both sides. */
export interface Counted {
  readonly table: string;
  readonly here: number;
  readonly there: number;
}

/**
 * Moves a database to an empty one of a server, all of it in one transaction.
 *
 * @param say Tells what is done.
 * @returns What was counted, before the transaction was committed.
 * @throws {CommandError} when the target is not empty, or the counts differ; nothing is left there.
 */
export async function moveTo(
  addresses: Addresses,
  source: Source,
  say: (line: string) => void,
): Promise<readonly Counted[]> {
  await assertReachable(addresses);
  const { url, directUrl = url, passwordFile } = addresses;
  const endpoint = createEndpoint({ url: directUrl, passwordFile });
  await assertMayMigrate(endpoint);
  // A node that starts there meanwhile waits for it.
  return withAdvisoryLock(endpoint, 'signet:migrations', async () => {
    const client = new endpoint.Client({ application_name: 'signet move' });
    // The running statement reports the error, or the next one does.
    client.on('error', () => undefined);
    await connectStated(client);
    try {
      // While the embedded database is read, the server waits.
      await client.query('SET idle_in_transaction_session_timeout = 0');
      await assertEmpty(client, source);
      await catchUp(client, source, say);
      await client.query('BEGIN');
      const counted = await moveRows(client, source, say);
      await client.query('COMMIT');
      // Without statistics the first statements would be planned for empty tables. The server makes them itself later.
      const analyzed = counted.map(({ table }) => named(table)).join(', ');
      await client.query(`ANALYZE ${analyzed}, ${named(eventLog.table)}`).catch(() => undefined);
      return counted;
    } finally {
      await client.end();
    }
  });
}

/** Rows that migrations leave; any number of them of themselves. */
const leftByMigrations: Readonly<Record<string, number>> = {
  _prisma_migrations: Number.POSITIVE_INFINITY,
  EventPart: 1,
};

const named = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The tables of a target; none, or those of this version without what a service has written. */
async function assertEmpty(client: pg.Client, source: Source): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT c.relname AS "name" FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'f')
       AND NOT EXISTS (SELECT FROM pg_depend d
                        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY 1`);
  const names = rows.map(({ name }) => name);
  if (names.length === 0) return [];
  const refuse = (reason: string): never => {
    throw new CommandError(
      `the database to move to is not empty: ${reason}. Give it a new one; nothing was changed.`,
    );
  };
  const known = new Set(source.tables.map(({ name }) => name));
  const unknown = names.filter((name) => !known.has(name) && !/^Event_\d+$/.test(name));
  if (unknown.length > 0) refuse(`it has ${unknown.slice(0, 10).join(', ')}`);
  const missing = source.tables.filter(({ name, bounds }) => !bounds && !names.includes(name));
  if (missing.length > 0) refuse('it has tables of another version');
  const { rows: applied } = await client.query<{ name: string; isFinished: boolean }>(`
    SELECT migration_name AS "name", finished_at IS NOT NULL AS "isFinished"
      FROM "_prisma_migrations" WHERE rolled_back_at IS NULL`);
  const isSame =
    applied.length === source.migrations.length &&
    applied.every(({ name, isFinished }) => isFinished && source.migrations.includes(name));
  if (!isSame) refuse('it has tables of another version');
  const filled: string[] = [];
  for (const name of names) {
    const count = await countOf(client, name);
    if (count > (leftByMigrations[name] ?? 0)) filled.push(`${name} ${count}`);
  }
  if (filled.length > 0) refuse(`it has rows (${filled.join(', ')})`);
  return names;
}

async function countOf(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::float8 AS "count" FROM ${named(table)}`,
  );
  return rows[0]?.count ?? 0;
}

const countedAtOnce = 100_000n;

/**
 * Lets the server's count of transactions catch up with the embedded database's. Events, cursors and deliveries hold
 * numbers of transactions, and those that are ahead of the server's would mean nothing there: the log would be numbered
 * anew, and every cursor would expire.
 */
async function catchUp(
  client: pg.Client,
  { nextXid }: Source,
  say: (line: string) => void,
): Promise<void> {
  await client.query('SET synchronous_commit = off');
  let isTold = false;
  for (;;) {
    const { rows } = await client.query<{ next: string }>(
      'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS "next"',
    );
    const behind = nextXid - BigInt(rows[0]?.next ?? 0);
    if (behind <= 0n) break;
    if (!isTold) say(`The server has counted ${behind} fewer transactions; it catches up.`);
    isTold = true;
    const count = behind < countedAtOnce ? behind : countedAtOnce;
    await client.query(`
      DO $$ BEGIN
        FOR i IN 1..${count} LOOP
          PERFORM pg_current_xact_id();
          COMMIT;
        END LOOP;
      END $$`);
  }
  await client.query('SET synchronous_commit = on');
}

async function moveRows(
  client: pg.Client,
  source: Source,
  say: (line: string) => void,
): Promise<Counted[]> {
  await prepareTables(client, source);
  await fitParts(client, source);
  const counted: Counted[] = [];
  for (const table of source.tables) {
    const columns = table.columns.map(named).join(', ');
    const here = await source.count(table);
    if (here > 0) say(`Copying ${table.name}: ${here}`);
    await copyIn(client, `COPY ${named(table.name)} (${columns}) FROM STDIN`, source.rows(table));
    counted.push({ table: table.name, here, there: await countOf(client, table.name) });
  }
  for (const { name, last, isCalled } of source.sequences) {
    await client.query('SELECT setval($1::regclass, $2, $3)', [named(name), last, isCalled]);
  }
  const differing = counted.filter(({ here, there }) => here !== there);
  if (differing.length > 0) {
    const all = differing.map(({ table, here, there }) => `${table} ${here} and ${there}`);
    throw new CommandError(`the counts differ, and nothing was moved: ${all.join(', ')}.`);
  }
  return counted;
}

/** Makes the tables, or empties those that the migrations left. Nobody else uses them until the end. */
async function prepareTables(client: pg.Client, source: Source): Promise<void> {
  const found = await assertEmpty(client, source);
  if (found.length === 0) {
    for (const script of await migrationScripts()) await client.query(script);
    await client.query(migrationsTable);
    // Migrations have set it.
    await client.query('SET lock_timeout = 0');
  } else {
    await client.query(`LOCK TABLE ${found.map(named).join(', ')} IN ACCESS EXCLUSIVE MODE`);
    // Somebody may have written before it was locked.
    await assertEmpty(client, source);
  }
  for (const name of Object.keys(leftByMigrations))
    await client.query(`DELETE FROM ${named(name)}`);
}

/** Prisma's own, which the migrations do not make. */
const migrationsTable = `
  CREATE TABLE "_prisma_migrations" (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/** Divides the event log as the source has it. */
async function fitParts(client: pg.Client, source: Source): Promise<void> {
  const isSame = (one: Pick<Table, 'name' | 'bounds'>, other: Pick<Table, 'name' | 'bounds'>) =>
    one.name === other.name && one.bounds === other.bounds;
  const { rows } = await client.query<{ name: string; bounds: string }>(`
    SELECT relname AS "name", pg_get_expr(relpartbound, oid) AS "bounds" FROM pg_class
     WHERE relispartition AND relkind = 'r' AND relnamespace = 'public'::regnamespace`);
  const wanted = source.tables.filter(({ bounds }) => bounds !== null);
  for (const part of rows) {
    if (!wanted.some((one) => isSame(one, part)))
      await client.query(`DROP TABLE ${named(part.name)}`);
  }
  for (const part of wanted) {
    if (rows.some((one) => isSame(one, part))) continue;
    const { name, bounds } = part;
    await client.query(
      `CREATE TABLE ${named(name)} PARTITION OF ${named(eventLog.table)} ${bounds}`,
    );
    for (const statement of eventLog.also?.(name) ?? []) await client.query(statement);
  }
}
