import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type Database, openPostgresql, useEmbedded } from '../../../src/db/database.ts';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { failOnError } from '../database.ts';
import { administer } from '../peers/postgresql/administer.ts';
import { releaseScripts } from './data.ts';

/** The database as the last release left it, to be closed by the caller. */
export interface ReleaseDatabase {
  readonly database: Database;
  /** Only on PostgreSQL. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens a new database with the data of the last release. Nothing of today's version is applied to it.
 *
 * @param origin What a PostgreSQL makes it from.
 */
export async function openRelease(origin = ''): Promise<ReleaseDatabase> {
  const postgresql = inject('postgresql');
  if (!postgresql) {
    const embedded = await openEmbedded({});
    for (const script of releaseScripts) await embedded.exec(script);
    return {
      database: useEmbedded(embedded),
      url: undefined,
      close: () => embedded.close(),
    };
  }
  const name = `signet_test_${randomBytes(6).toString('hex')}`;
  await administer(postgresql, `CREATE DATABASE "${name}" ${origin}`);
  const url = new URL(postgresql);
  url.pathname = `/${name}`;
  await administer(url.href, ...releaseScripts);
  const database = openPostgresql({
    url: url.href,
    poolSize: 5,
    tokenPoolSize: 2,
    onError: failOnError,
  });
  return {
    database,
    url: url.href,
    async close() {
      await database.close();
      await administer(postgresql, `DROP DATABASE "${name}" WITH (FORCE)`);
    },
  };
}
