// What the expiry of deliveries costs: a day of BENCH_DELIVERIES, each with its attempt, among as many that stay. A
// database is created, filled and dropped.
import pg from 'pg';
import { pino } from 'pino';
import { openPostgresql } from '../src/db/database.ts';
import { quietTransaction } from '../src/db/transaction.ts';
import { purgeDeliveries } from '../src/webhooks/delivery/purge.ts';
import { createBenchDatabase } from './database.ts';

const count = Number(process.env['BENCH_DELIVERIES'] ?? 1_000_000);
const created = await createBenchDatabase();
if (!created) process.exit(1);
const database = openPostgresql({
  url: created.url,
  poolSize: 4,
  tokenPoolSize: 1,
  onError: (error) => console.error(error.message),
});
await database.migrate();
const filling = new pg.Client({ connectionString: created.url });
await filling.connect();
// The first half expired within the last day, and one in a thousand waits for an enabled webhook.
await filling.query(`
  SET synchronous_commit = off;
  INSERT INTO "Webhook" ("id", "name", "url", "createdAt", "updatedAt")
  SELECT 'hook_' || i, 'w', 'https://a.test', now(), now() FROM generate_series(0, 9) i;
  INSERT INTO "Delivery" ("id", "webhookId", "eventId", "eventType", "status", "attemptCount", "nextAttemptAt", "createdAt", "updatedAt")
  SELECT 'dlv_' || lpad(i::text, 12, '0') || substr(md5(i::text), 1, 14), 'hook_' || i % 10, 'evt_' || i, 'User.Created',
         CASE WHEN i % 1000 = 0 THEN 'PENDING' ELSE 'SUCCEEDED' END::"DeliveryStatus", 1,
         CASE WHEN i % 1000 = 0 THEN now() + interval '1 hour' END, at, at
    FROM generate_series(1, ${2 * count}) i,
         LATERAL (SELECT now() - interval '91 days' + interval '1 second' + interval '2 days' * (i::float8 / ${2 * count}) AS at) t;
  INSERT INTO "DeliveryAttempt" ("deliveryId", "at", "durationMs", "statusCode", "responseBody")
  SELECT "id", "createdAt", 12, 204, repeat('x', 100) FROM "Delivery" ORDER BY "createdAt";
`);
await filling.query('VACUUM ANALYZE "Delivery"');
await filling.query('VACUUM ANALYZE "DeliveryAttempt"');
const bytes = async () => {
  const { rows } = await filling.query<{ size: string; wal: string; dead: string }>(`
    SELECT pg_total_relation_size('"Delivery"') + pg_total_relation_size('"DeliveryAttempt"') AS "size",
           pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS "wal"`);
  return { size: Number(rows[0]?.size), wal: Number(rows[0]?.wal) };
};

const services = {
  clock: { now: () => new Date() },
  log: pino({ level: 'silent' }),
  config: { eventRetentionDays: 90 } as never,
};
const purge = purgeDeliveries(services);
const times: number[] = [];
// A report, a dump or a replica keeps dead rows in sight for a while.
if (process.env['BENCH_SNAPSHOT']) {
  const holder = new pg.Client({ connectionString: created.url });
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1 FROM "Webhook"');
}
const before = await bytes();
const from = performance.now();
for (let isMore = true; isMore; ) {
  const at = performance.now();
  isMore = await quietTransaction(database, purge);
  times.push(performance.now() - at);
}
const seconds = (performance.now() - from) / 1000;
const after = await bytes();
const { rows } = await filling.query<{ left: string }>('SELECT count(*) AS "left" FROM "Delivery"');
const deleted = 2 * count - Number(rows[0]?.left);
const tenth = Math.max(1, Math.floor(times.length / 10));
const mean = (some: number[]) => (some.reduce((a, b) => a + b, 0) / some.length).toFixed(0);
const median = (some: number[]) => some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;
console.table({
  deleted,
  seconds: seconds.toFixed(1),
  'deliveries a second': Math.round(deleted / seconds),
  batches: times.length,
  'batch, median ms': median(times).toFixed(0),
  'batch, longest ms': Math.max(...times).toFixed(0),
  'batch of the first tenth, mean ms': mean(times.slice(0, tenth)),
  'batch of the last tenth, mean ms': mean(times.slice(-tenth)),
  'GB of tables before': (before.size / 1e9).toFixed(2),
  'WAL bytes a delivery': Math.round((after.wal - before.wal) / Math.max(1, deleted)),
});
await filling.end();
await database.close();
await created.drop();
