import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Sql } from './sql.ts';

/**
 * Starts PostgreSQL inside this process.
 *
 * @param dataDir The folder it keeps its data in; absent, it lives in memory.
 * @param loadDataDir A dump to begin with, as `dumpDataDir()` makes it.
 */
export function openEmbedded(options: {
  dataDir?: string;
  loadDataDir?: Blob | File;
}): Promise<PGlite> {
  return PGlite.create({
    ...options,
    extensions: { pg_trgm },
    // A commit is on the disk before it is acknowledged.
    relaxedDurability: false,
  });
}

/** Prisma's view of an embedded database. */
export class EmbeddedAdapter extends PrismaPGlite implements SqlMigrationAwareDriverAdapterFactory {
  readonly #database: PGlite;

  constructor(database: PGlite) {
    super(database);
    this.#database = database;
  }

  override async connect(): Promise<SqlDriverAdapter> {
    const adapter = await super.connect();
    return awaitScripts(adapter, this.#database);
  }

  override async connectToShadowDb(): Promise<SqlDriverAdapter> {
    const shadow = await openEmbedded({});
    const adapter = await new PrismaPGlite(shadow).connect();
    adapter.dispose = () => shadow.close();
    return awaitScripts(adapter, shadow);
  }
}

// pglite-prisma-adapter 0.7.2 starts a script and does not wait for it, nor does it report its failure.
function awaitScripts(adapter: SqlDriverAdapter, database: PGlite): SqlDriverAdapter {
  adapter.executeScript = async (script) => {
    await database.exec(script);
  };
  return adapter;
}

/** Runs single statements on the embedded database. */
export const embeddedSql = (database: PGlite): Sql => ({
  async query<Row>(_name: string, text: string, values: readonly unknown[]) {
    const { rows } = await database.query<Row>(text, [...values]);
    return rows;
  },
});
