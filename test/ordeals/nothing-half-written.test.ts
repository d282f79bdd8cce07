import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { openPostgresql, useEmbedded } from '../../src/db/database.ts';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createProcessDatabase, failOnError } from '../support/database.ts';
import { unfair } from '../support/ordeal/deeds.ts';
import { stopHalfWay } from '../support/ordeal/half-way.ts';
import { faultsIn } from '../support/ordeal/leftovers.ts';
import { createWorld, lanes, liveThrough } from '../support/ordeal/world.ts';

const environment = await createProcessDatabase();
const { DATABASE_URL } = environment;

/** Breaks all connections to the database, as its restart does. */
async function breakConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

const openDatabase = async () =>
  DATABASE_URL
    ? openPostgresql({ url: DATABASE_URL, poolSize: 2, tokenPoolSize: 1, onError: failOnError })
    : useEmbedded(await openEmbedded({ dataDir: join(environment['DATA_DIR'] ?? '', 'database') }));

test('nothing of an account is half written or done twice', async () => {
  const world = await createWorld(environment, DATABASE_URL ? 2 : 1);
  const { cluster, deeds } = world;
  const kill = (count: number) => async () => {
    const halfWay = DATABASE_URL ? await stopHalfWay(DATABASE_URL) : undefined;
    await halfWay?.reached(lanes / 2);
    cluster.kill(count);
    await halfWay?.release();
    await cluster.settled();
  };
  const disasters = DATABASE_URL
    ? [kill(1), breakConnections, kill(2)]
    : [kill(1), kill(1), kill(1)];
  const { lives, strangers, isOver } = await liveThrough(world, disasters);
  expect(isOver).toBe(true);
  await cluster.stopAll();

  expect(unfair(deeds.races)).toEqual([]);
  expect(deeds.broken).toBeGreaterThan(0);
  const database = await openDatabase();
  closeAtEnd(() => database.close());
  const { prisma } = database;
  expect(await faultsIn(prisma, { lives, strangers }, { countsMessages: !DATABASE_URL })).toEqual(
    [],
  );
});
