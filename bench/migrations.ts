// How long the migrations since the last release keep others waiting, on a million rows: while they run, a writer and a
// reader of each table ask for its lock again and again. A database is created, filled and dropped.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openPostgresql } from '../src/db/database.ts';
import { administer } from '../test/support/peers/postgresql/administer.ts';
import { releaseScripts } from '../test/support/release/data.ts';
import { fillTables } from '../test/support/release/fill.ts';
import { createBenchDatabase } from './database.ts';

const rows = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
// Those that the migrations are about, as far as they grow with the people.
const tables = (
  process.env['BENCH_TABLES'] ?? 'Application,Event,OidcRecord,SubjectToken,UserGrant'
).split(',');

const created = await createBenchDatabase();
if (!created) process.exit(1);
await administer(created.url, ...releaseScripts);
const filling = new pg.Client({ connectionString: created.url });
await filling.connect();
await filling.query('SET synchronous_commit = off');
const from = performance.now();
await fillTables(filling, rows, tables);
await filling.query('VACUUM ANALYZE');
await filling.query('CHECKPOINT');
console.log(
  `${rows} rows in each of ${tables.length} tables, in ${seconds(performance.now() - from)} s`,
);

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

interface Longest {
  readonly ms: number;
  readonly at: Date;
}

let isOver = false;
/** Takes a table's lock as a statement does, again and again, and returns the longest wait for it. */
async function ask(table: string, mode: 'ROW EXCLUSIVE' | 'ACCESS SHARE'): Promise<Longest> {
  const client = new pg.Client({ connectionString: created?.url });
  await client.connect();
  let longest: Longest = { ms: 0, at: new Date() };
  while (!isOver) {
    const start = performance.now();
    await client.query(`BEGIN; LOCK TABLE "${table}" IN ${mode} MODE; COMMIT`);
    const ms = performance.now() - start;
    if (ms > longest.ms) longest = { ms, at: new Date() };
    await delay(2);
  }
  await client.end();
  return longest;
}

const asked = tables.flatMap((table) =>
  (['ROW EXCLUSIVE', 'ACCESS SHARE'] as const).map(async (mode) => ({
    table,
    who: mode === 'ROW EXCLUSIVE' ? 'writers' : 'readers',
    longest: await ask(table, mode),
  })),
);
// What the machine itself keeps them waiting for.
await delay(2_000);
const database = openPostgresql({
  url: created.url,
  poolSize: 1,
  tokenPoolSize: 1,
  onError: (error) => console.error(error.message),
});
await database.migrate();
isOver = true;
const waits = await Promise.all(asked);
const { rows: migrations } = await filling.query<{ name: string; from: Date; to: Date }>(`
  SELECT "migration_name" AS "name", "started_at" AS "from", "finished_at" AS "to" FROM "_prisma_migrations"
   WHERE "started_at" > now() - interval '1 hour' ORDER BY "started_at"`);
console.table(
  migrations.map(({ name, from, to }) => {
    const during = waits
      .filter(({ longest: { ms, at } }) => at >= from && at.getTime() - ms <= to.getTime())
      .toSorted((a, b) => b.longest.ms - a.longest.ms)
      .slice(0, 3);
    return {
      migration: name,
      seconds: seconds(to.getTime() - from.getTime()),
      'longest waits, ms': during
        .map(({ table, who, longest }) => `${who} of ${table} ${longest.ms.toFixed(0)}`)
        .join(', '),
    };
  }),
);
const longest = Math.max(...waits.map(({ longest }) => longest.ms));
console.log(`The longest wait of any statement for a lock: ${longest.toFixed(0)} ms.`);
await database.close();
await filling.end();
await created.drop();
