import type { PGlite } from '@electric-sql/pglite';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { type DataFolder, EmbeddedCopy, readDataFolder } from './copy.ts';

/** An embedded database that a worker keeps from file to file: opening one takes ten times the work of emptying it. */
interface Kept {
  readonly embedded: PGlite;
  readonly image: Image;
}

/** What puts a database back as it was after its migrations. */
interface Image {
  /** The state of the catalogue: another one after any change of the schema. */
  readonly catalogue: string;
  /** Statements that bring back rows and sequences. */
  readonly restore: string;
}

// Each takes some hundred megabytes. Few files use two at a time.
const maxKept = 1;
const kept: Kept[] = [];
// A worker reads it once for all its files.
let folder: Promise<DataFolder> | undefined;

/**
 * Lends a migrated embedded database without records.
 *
 * @param migrated The folder of the migrated database.
 */
export async function lendEmbedded(
  migrated: string,
): Promise<{ embedded: PGlite; giveBack(): Promise<void> }> {
  const lent = kept.pop() ?? (await open(migrated));
  const { embedded } = lent;
  return {
    embedded,
    async giveBack() {
      // A test may have closed it.
      if (embedded.closed) return;
      const again = kept.length < maxKept ? await putBack(lent) : undefined;
      if (again) kept.push(again);
      else await embedded.close();
    },
  };
}

async function open(migrated: string): Promise<Kept> {
  folder ??= readDataFolder(migrated);
  const embedded = await openEmbedded({ fs: new EmbeddedCopy(await folder) });
  await embedded.exec(settings);
  return { embedded, image: await takeImage(embedded) };
}

// Tables stay as small as they were: planning a statement takes longer than running it. A piece of the log of changes
// grows at once: in memory, each step on the way would be a copy.
const settings = 'SET plan_cache_mode = auto; SET wal_init_zero = off';

// What VACUUM found empty is planned as if it stayed empty: each of 5,000 rows would look for its user in all users.
const unmeasured = `
  UPDATE pg_class SET reltuples = -1 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

// A row's xmin is the transaction that wrote it.
const catalogueQuery = `
  SELECT string_agg("part", ' ') AS "state" FROM (
    SELECT count(*) || ':' || max("xmin"::text::bigint) AS "part" FROM pg_class
    UNION ALL SELECT count(*) || ':' || max("xmin"::text::bigint) FROM pg_attribute
    UNION ALL SELECT count(*) || ':' || max("xmin"::text::bigint) FROM pg_proc
    UNION ALL SELECT count(*) || ':' || max("xmin"::text::bigint) FROM pg_trigger
    UNION ALL SELECT count(*) || ':' || max("xmin"::text::bigint) FROM pg_db_role_setting
  )`;

async function takeImage(embedded: PGlite): Promise<Image> {
  const read = async (statement: string) => {
    const { rows } = await embedded.query<{ text: string }>(statement);
    return rows.map(({ text }) => text);
  };
  const tables = await read(`
    SELECT oid::regclass::text AS "text" FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`);
  const sequences = await read(`
    SELECT format('SELECT setval(%L, %s, false)', oid::regclass, seqstart) AS "text"
    FROM pg_class JOIN pg_sequence ON seqrelid = oid
    WHERE relnamespace = 'public'::regnamespace`);
  const rows: string[] = [];
  for (const table of tables) {
    rows.push(
      ...(await read(`
        SELECT format('INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, %L)', json_agg("row")) AS "text"
        FROM ${table} AS "row" HAVING count(*) > 0`)),
    );
  }
  const catalogue = await readCatalogue(embedded);
  const restore = [
    // No trigger and no foreign key asks for an order.
    `SET session_replication_role = replica`,
    ...tables.map((table) => `DELETE FROM ${table}`),
    ...rows,
    ...sequences,
    `SET session_replication_role = origin`,
  ];
  return { catalogue, restore: restore.join(';\n') };
}

/** Makes a database again what it was when it was opened; undefined if somebody has changed its schema. */
async function putBack({ embedded, image }: Kept): Promise<Kept | undefined> {
  if ((await readCatalogue(embedded)) !== image.catalogue) return undefined;
  await embedded.exec(image.restore);
  await embedded.exec('VACUUM');
  await embedded.exec(unmeasured);
  await embedded.exec('DISCARD ALL');
  await embedded.exec(settings);
  return { embedded, image: { ...image, catalogue: await readCatalogue(embedded) } };
}

async function readCatalogue(embedded: PGlite): Promise<string> {
  const { rows } = await embedded.query<{ state: string }>(catalogueQuery);
  return rows[0]?.state ?? '';
}
