import type { Config } from '../config.ts';
import { type Database, openPostgresql, useEmbedded } from '../db/database.ts';
import { claimDataDir } from '../db/embedded/data-dir.ts';
import { openEmbedded } from '../db/embedded/open.ts';
import { assertReachable } from '../db/postgresql.ts';

/**
 * Opens the database of a configuration for a command, as the service would: beside running ones on PostgreSQL, instead
 * of one on the embedded database.
 *
 * @param opened Gets what closes it.
 * @throws {StartError} when it cannot be opened.
 */
export async function openDatabase(
  config: Config,
  opened: AsyncDisposableStack,
  onError: (error: Error) => void,
): Promise<Database> {
  if (config.database.kind === 'postgresql') {
    await assertReachable(config.database);
    const database = openPostgresql({ ...config.database, poolSize: 2, tokenPoolSize: 1, onError });
    opened.defer(() => database.close());
    return database;
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  opened.defer(() => dataDir.release());
  const database = useEmbedded(await openEmbedded({ dataDir: `${dataDir.path}/database` }));
  opened.defer(() => database.close());
  return database;
}
