import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { inject } from 'vitest';
import { type Database, openPostgresql, useEmbedded } from '../../src/db/database.ts';
import { closeAtEnd } from './cleanup.ts';
import { lendEmbedded } from './embedded/stock.ts';
import { administer } from './peers/postgresql/administer.ts';

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

/** Makes a broken connection fail the test, unless dropping the database broke it. */
export const failOnError = (error: Error) => {
  // Dropping the database at the end breaks idle connections; nothing else may.
  if (!/terminating connection|server conn crashed|server login failed/.test(error.message))
    throw error;
};

/** Leads through the pooler of TEST_POOLER_URL, if there is one, with the direct way beside it. */
export function throughPooler(direct: URL): { url: string; directUrl?: string } {
  const pooler = process.env['TEST_POOLER_URL'];
  if (pooler === undefined) return { url: direct.href };
  const url = new URL(pooler);
  url.pathname = direct.pathname;
  return { url: url.href, directUrl: direct.href };
}

/** The origin of a database in which lower('I') is no i. Only a copy of template0 may have a locale of its own. */
export const turkish =
  "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C.UTF-8'";

/**
 * Creates a database for one test file: cloned from the template, or the worker's embedded one, as good as new.
 *
 * @param settings What a PostgreSQL sets in each session of it, unless the session states another.
 * @param origin What a PostgreSQL makes it from, if it is not the template.
 */
export async function createTestDatabase(
  poolSize = 5,
  settings: Readonly<Record<string, string>> = {},
  origin = `TEMPLATE "${inject('template')}"`,
): Promise<TestDatabase> {
  const postgresql = inject('postgresql');
  if (!postgresql) {
    const { embedded, giveBack } = await lendEmbedded(inject('migrated'));
    const database = useEmbedded(embedded);
    return {
      database,
      url: undefined,
      embedded,
      async close() {
        await database.prisma.$disconnect();
        await giveBack();
      },
    };
  }
  const name = `signet_test_${randomBytes(6).toString('hex')}`;
  await administer(
    postgresql,
    `CREATE DATABASE "${name}" ${origin}`,
    // No test crashes the server, so nothing has to wait for its disk.
    `ALTER DATABASE "${name}" SET synchronous_commit = off`,
    ...Object.entries(settings).map(
      ([setting, value]) => `ALTER DATABASE "${name}" SET ${setting} = ${value}`,
    ),
  );
  const url = new URL(postgresql);
  url.pathname = `/${name}`;
  const database = openPostgresql({
    ...throughPooler(url),
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
