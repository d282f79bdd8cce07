import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/clock.ts';
import { type Database, openPostgresql, useEmbedded } from '../../src/db/database.ts';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { quietTransaction } from '../../src/db/transaction.ts';
import { beginParts } from '../../src/events/parts/begin.ts';
import './database.ts';

/** Builds what `npm start` does, if it is not there from these sources. */
const build = (what: 'console' | 'service') =>
  promisify(execFile)(
    process.execPath,
    [fileURLToPath(new URL(`../../scripts/build-${what}.js`, import.meta.url)), '--if-needed'],
    // With the NODE_ENV of a test, React's development build would be taken.
    { env: { ...process.env, NODE_ENV: 'production' } },
  );

/** Migrates, and makes the tables that each start would make, so that a worker's database need not be made anew. */
async function prepare(database: Database): Promise<void> {
  await database.migrate();
  await quietTransaction(database, beginParts({ clock: systemClock }));
}

/** Migrates once; each test file starts from a copy. */
export default async function setup(project: TestProject) {
  const built = Promise.all([build('console'), build('service')]);
  const folder = await mkdtemp(join(tmpdir(), 'signet-test-'));
  const migrated = join(folder, 'migrated');
  const template = `signet_template_${project.name}_${process.pid}`;
  const postgresql = process.env['TEST_DATABASE_URL'] ?? null;
  const clients: (() => Promise<void>)[] = [];

  if (postgresql) {
    const client = new pg.Client({ connectionString: postgresql });
    await client.connect();
    await client.query(`CREATE DATABASE "${template}"`);
    const url = new URL(postgresql);
    url.pathname = `/${template}`;
    const database = openPostgresql({
      url: url.href,
      poolSize: 1,
      tokenPoolSize: 1,
      onError: (error) => {
        throw error;
      },
    });
    await prepare(database);
    await database.close();
    clients.push(async () => {
      await client.query(`DROP DATABASE "${template}" WITH (FORCE)`);
      await client.end();
    });
  } else {
    const embedded = await openEmbedded({ dataDir: migrated });
    await prepare(useEmbedded(embedded));
    // What starts from a copy has nothing to recover.
    await embedded.exec('CHECKPOINT');
    await embedded.close();
  }

  await built;
  project.provide('postgresql', postgresql);
  project.provide('template', template);
  project.provide('migrated', migrated);

  return async () => {
    for (const close of clients) await close();
    await rm(folder, { recursive: true, force: true });
  };
}
