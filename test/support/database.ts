import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openPostgresql, useEmbedded } from '../../src/db/database.ts';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { closeAtEnd } from './cleanup.ts';
import { type DataFolder, EmbeddedCopy, readDataFolder } from './embedded-copy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** An administrative connection if the suite runs on PostgreSQL; absent: embedded. */
    postgresql: string | null;
    /** The name of the migrated database that is cloned. */
    template: string;
    /** The folder of the migrated embedded database. */
    migrated: string;
  }
}

/** A test's own migrated database. */
export interface TestDatabase {
  readonly database: Database;
  /** Opens the same database again, as a second node would; only on PostgreSQL. */
  readonly url: string | undefined;
  readonly embedded: PGlite | undefined;
  close(): Promise<void>;
}

// A worker reads it once for all its files.
let migrated: Promise<DataFolder> | undefined;

/** Makes a broken connection fail the test, unless dropping the database broke it. */
export const failOnError = (error: Error) => {
  // Dropping the database at the end breaks idle connections; nothing else may.
  if (!/terminating connection/.test(error.message)) throw error;
};

/** Creates a database for one test file: cloned from the template, or a copy of the migrated folder. */
export async function createTestDatabase(poolSize = 5): Promise<TestDatabase> {
  const postgresql = inject('postgresql');
  if (!postgresql) {
    migrated ??= readDataFolder(inject('migrated'));
    const embedded = await openEmbedded({ fs: new EmbeddedCopy(await migrated) });
    const database = useEmbedded(embedded);
    return { database, url: undefined, embedded, close: () => database.close() };
  }
  const name = `signet_test_${randomBytes(6).toString('hex')}`;
  await administer(postgresql, `CREATE DATABASE "${name}" TEMPLATE "${inject('template')}"`);
  // No test crashes the server, so nothing has to wait for its disk.
  await administer(postgresql, `ALTER DATABASE "${name}" SET synchronous_commit = off`);
  const url = new URL(postgresql);
  url.pathname = `/${name}`;
  const database = openPostgresql({
    url: url.href,
    poolSize,
    tokenPoolSize: poolSize,
    onError: failOnError,
  });
  return {
    database,
    url: url.href,
    embedded: undefined,
    async close() {
      await database.close();
      await administer(postgresql, `DROP DATABASE "${name}" WITH (FORCE)`);
    },
  };
}

/**
 * Creates a migrated database for a file's processes, one after another on the embedded one.
 *
 * @returns The variables that name it.
 */
export async function createProcessDatabase(): Promise<Record<string, string>> {
  if (inject('postgresql')) {
    const { url, close } = await createTestDatabase();
    closeAtEnd(close);
    return { DATABASE_URL: url as string };
  }
  return { DATA_DIR: await createDataDir() };
}

/** Creates a data folder with a migrated database and no records. Only where the suite runs on the embedded database. */
export async function createDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signet-data-dir-'));
  closeAtEnd(() => rm(dataDir, { recursive: true, force: true }));
  await cp(inject('migrated'), join(dataDir, 'database'), { recursive: true });
  return dataDir;
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
