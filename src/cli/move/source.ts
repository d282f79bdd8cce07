import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type { Config } from '../../config.ts';
import { useEmbedded } from '../../db/database.ts';
import { claimDataDir } from '../../db/embedded/data-dir.ts';
import { openEmbedded } from '../../db/embedded/open.ts';
import { migrationState } from '../../db/migrations/migrate.ts';
import { StartError } from '../../errors.ts';
import { createSealing } from '../../keys/cipher.ts';
import { assertNothingNeedsAnother, assertSecretFits } from '../../secret-rotation/fits.ts';
import { CommandError } from '../command.ts';

/** A table that has rows of its own. */
export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** The tables that its foreign keys name. */
  readonly needs: readonly string[];
  /** For a part of the event log: its bounds, in SQL. */
  readonly bounds: string | null;
}

/** How far a sequence has come. */
interface Sequence {
  readonly name: string;
  readonly last: string;
  readonly isCalled: boolean;
}

/** The embedded database that is moved. Nothing writes to it meanwhile. */
export interface Source {
  /** The names of its migrations. */
  readonly migrations: readonly string[];
  /** Each after those that it needs. */
  readonly tables: readonly Table[];
  readonly sequences: readonly Sequence[];
  /** The next transaction's number. */
  readonly nextXid: bigint;
  count(table: Table): Promise<number>;
  /** The rows of a table, in the text form of COPY. */
  rows(table: Table): AsyncIterable<Buffer>;
}

/** A stretch of a table that is read at once. */
const blocksAtOnce = 64;

/**
 * Opens the embedded database in a data folder, and looks whether it can be moved.
 *
 * @param opened Gets what closes it.
 * @throws {CommandError} when it cannot be moved as it is; {@link StartError} when the secret does not fit.
 */
export async function openSource(
  { secret: given, previousSecret }: Config,
  folder: string,
  opened: AsyncDisposableStack,
): Promise<Source> {
  // Claiming a folder makes it.
  if (!(await stat(join(folder, 'database', 'PG_VERSION')).catch(() => undefined)))
    throw new CommandError(`DATA_DIR ${folder} has no database that could be moved.`);
  const dataDir = await claimDataDir(folder).catch((error: unknown) => {
    if (!(error instanceof StartError && error.message.includes('in use'))) throw error;
    throw new CommandError(
      `DATA_DIR ${folder} is in use by another process: stop the service first.`,
    );
  });
  opened.defer(() => dataDir.release());
  const secret = given ?? (await readSecret(folder));
  const embedded = await openEmbedded({ dataDir: join(folder, 'database') });
  const database = useEmbedded(embedded);
  opened.defer(() => database.close());

  const { isEmpty, pending, unfinished, unknown } = await migrationState(database.prisma);
  if (isEmpty || pending.length > 0 || unfinished.length > 0)
    throw new CommandError(
      'the embedded database is not of this version: start the service on it once, and stop it.',
    );
  if (unknown.length > 0)
    throw new CommandError(
      'a later version has migrated the embedded database: move it with that one.',
    );
  const sealing = createSealing(secret, previousSecret);
  await assertSecretFits(database, sealing);
  await assertNothingNeedsAnother(database, sealing);

  const read = async <Row>(text: string) => (await embedded.query<Row>(text)).rows;
  const migrations = await read<{ name: string }>(
    'SELECT migration_name AS "name" FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  const [state] = await read<{ next: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS "next"',
  );
  const names = await read<{ name: string }>(
    `SELECT relname AS "name" FROM pg_class
      WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const sequences: Sequence[] = [];
  for (const { name } of names) {
    const [row] = await read<Omit<Sequence, 'name'>>(
      `SELECT last_value::text AS "last", is_called AS "isCalled" FROM "${name}"`,
    );
    if (row) sequences.push({ name, ...row });
  }
  return {
    migrations: migrations.map(({ name }) => name),
    tables: inOrder(await read<Table>(readTables)),
    sequences,
    nextXid: BigInt(state?.next ?? 0),
    async count({ name }) {
      const [row] = await read<{ count: number }>(
        `SELECT count(*)::float8 AS "count" FROM "${name}"`,
      );
      return row?.count ?? 0;
    },
    rows: (table) => rowsOf(embedded, table),
  };
}

async function readSecret(folder: string): Promise<string> {
  try {
    return (await readFile(join(folder, 'secret'), 'utf8')).trim();
  } catch {
    throw new CommandError(
      `there is no secret in DATA_DIR ${folder}: set SIGNET_SECRET, as for the service.`,
    );
  }
}

/** Without what is left of a replacement of parts of the log, which begins anew: src/events/parts/retire.ts. */
const readTables = `
  SELECT t.relname AS "name", pg_get_expr(t.relpartbound, t.oid) AS "bounds",
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
           WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS "columns",
         ARRAY(SELECT DISTINCT o.relname::text FROM pg_constraint c JOIN pg_class o ON o.oid = c.confrelid
                WHERE c.conrelid = t.oid AND c.contype = 'f' AND o.oid <> t.oid) AS "needs"
    FROM pg_class t
   WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
     AND (t.relispartition OR t.relname !~ '^Event_[0-9]+_rest$')
   ORDER BY t.relname COLLATE "C"`;

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  let left = tables;
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const free = left.filter(({ needs }) => !needs.some((name) => names.has(name)));
    if (free.length === 0) throw new Error(`Tables need each other: ${[...names].join(', ')}`);
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}

async function* rowsOf(database: PGlite, { name, columns }: Table): AsyncIterable<Buffer> {
  const { rows } = await database.query<{ blocks: number }>(
    `SELECT (pg_relation_size('"${name}"') / current_setting('block_size')::int)::int AS "blocks"`,
  );
  const blocks = rows[0]?.blocks ?? 0;
  const listed = columns.map((column) => `"${column}"`).join(', ');
  for (let block = 0; block < blocks; block += blocksAtOnce) {
    const { blob } = await database.query(
      `COPY (SELECT ${listed} FROM "${name}"
              WHERE ctid >= '(${block},0)' AND ctid < '(${block + blocksAtOnce},0)') TO '/dev/blob'`,
    );
    if (blob && blob.size > 0) yield Buffer.from(await blob.arrayBuffer());
  }
}
