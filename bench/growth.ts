// What the event log costs as it grows: a page by cursor, the tail, the fan-out and the expiry of a day, at several
// sizes, each in 90 parts of a day. BENCH_EVENTS names the sizes; a database is created, filled and dropped for each.
import pg from 'pg';
import { pino } from 'pino';
import { openPostgresql } from '../src/db/database.ts';
import { quietTransaction, transaction } from '../src/db/transaction.ts';
import { registerConsumer } from '../src/events/consumers.ts';
import { countNext, findEvents, readEnd, readEvents, readNext } from '../src/events/log.ts';
import { beginParts } from '../src/events/parts/begin.ts';
import { partOf } from '../src/events/parts/ranges.ts';
import { retireParts } from '../src/events/parts/retire.ts';
import { type EventPosition, logStart } from '../src/events/position.ts';
import { bySignet, recordEvents } from '../src/events/record.ts';
import { fanOut, webhookConsumer } from '../src/webhooks/delivery/fan-out.ts';
import { createBenchDatabase } from './database.ts';

const sizes = (process.env['BENCH_EVENTS'] ?? '10000,1000000').split(',').map(Number);
const days = 90;
const clock = { now: () => new Date() };
const log = pino({ level: 'silent' });

interface Measured {
  readonly events: number;
  readonly [what: string]: number | string;
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

/** The median of several runs, in milliseconds. */
async function median(run: () => Promise<unknown>, runs = 31): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < runs; i += 1) times.push(await time(run));
  return Number((times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0).toFixed(2));
}

async function measure(events: number): Promise<Measured> {
  const created = await createBenchDatabase();
  if (!created) process.exit(1);
  const database = openPostgresql({
    url: created.url,
    poolSize: 4,
    tokenPoolSize: 1,
    onError: (error) => console.error(error.message),
  });
  const { prisma } = database;
  await database.migrate();
  const services = {
    database,
    clock,
    log,
    config: { eventRetentionDays: 90, auditRetentionDays: 90 },
  };
  // No statement of the service takes as long as these.
  const filling = new pg.Client({ connectionString: created.url });
  await filling.connect();
  await filling.query('SET synchronous_commit = off');

  // The part of day `n` ago, and its events. Of twenty, one is of the audit.
  const aDay = Math.round(events / days);
  const starts: EventPosition[] = [];
  for (let day = days; day >= 1; day -= 1) {
    await filling.query(`
      INSERT INTO "Event" ("id", "type", "subjectId", "actorId", "data", "occurredAt")
      SELECT 'evt_' || (
               SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (45 - 5 * d)) % 32)::int + 1, 1), '' ORDER BY d)
                 FROM generate_series(0, 9) d,
                      (SELECT (extract(epoch FROM now() - interval '1 day' * (${day}::int + 1 - i::float8 / ${aDay})) * 1000)::bigint AS ms) m)
             || '0' || substr(md5(${day}::text || i), 1, 15),
             (ARRAY['PostSignIn', 'User.Data.Updated', 'User.Created', 'Organization.Data.Updated'])[1 + i % 4],
             'user_' || i % 5000, 'user_' || i % 5000,
             jsonb_build_object('id', 'user_' || i % 5000, 'name', md5(i::text), 'text', repeat(md5(i::text), 6)),
             now() - interval '1 day' * (${day}::int + 1 - i::float8 / ${aDay})
        FROM generate_series(1, ${aDay}::int) i`);
    const end = await readEnd(prisma);
    const number = partOf(end);
    starts.push(end);
    await prisma.$executeRaw`UPDATE "EventPart" SET "begunAt" = now() - interval '400 days' WHERE "number" = ${number}`;
    while (await quietTransaction(database, beginParts(services)));
    await prisma.$executeRaw`
      UPDATE "EventPart" SET "begunAt" = now() - ${day + 1} * interval '1 day' WHERE "number" = ${number}`;
    await prisma.$executeRaw`
      UPDATE "EventPart" SET "begunAt" = now() - ${day} * interval '1 day' WHERE "number" = ${number + 1}`;
  }
  await filling.query('VACUUM ANALYZE "Event"');
  await filling.end();
  const [size] = await prisma.$queryRaw<{ size: bigint }[]>`
    SELECT sum(pg_total_relation_size("inhrelid")) AS "size" FROM pg_inherits WHERE "inhparent" = '"Event"'::regclass`;
  // Somewhere within a part: the page after its last event takes a second look.
  const [, middle = starts[10]] = await readEvents(prisma, {
    after: starts[10] ?? logStart,
    take: Math.max(1, Math.round(aDay / 2)),
  }).then((found) => [0, found.at(-1)?.position] as const);
  const old = middle ?? logStart;
  const end = await readEnd(prisma);
  const [sample] = await readEvents(prisma, { take: 1, after: old });

  const result: Record<string, number | string> = { events };
  result['GB'] = (Number(size?.size ?? 0) / 1e9).toFixed(2);
  result['page, old cursor'] = await median(() => readEvents(prisma, { after: old, take: 100 }));
  result['page, newest'] = await median(() => readEvents(prisma, { fromEnd: true, take: 100 }));
  result['page, of a type'] = await median(() =>
    readEvents(prisma, { filter: { types: ['User.Created'] }, after: old, take: 100 }),
  );
  result['about a record, newest 50'] = await median(() =>
    readEvents(prisma, { filter: { subjectId: 'user_7' }, fromEnd: true, take: 50 }),
  );
  result['by id'] = await median(() => findEvents(prisma, [sample?.id ?? '']));
  result['tail, idle'] = await median(() => countNext(database, end, 500));
  let position = end;
  result['tail, commit to read'] = await median(async () => {
    await transaction(database, (tx) =>
      recordEvents(tx, { ...bySignet, clock }, [
        { type: 'SigningKey.Rotated', data: { kid: 'a' } } as never,
      ]),
    );
    for (let found = 0; found === 0; ) {
      const next = await readNext(prisma, position, 500);
      found = next.events.length;
      position = next.events.at(-1)?.position ?? position;
    }
  });

  // A webhook for a type that nobody raises, from before the log's first event.
  await registerConsumer(prisma, webhookConsumer);
  await prisma.$executeRaw`UPDATE "EventConsumer" SET "xid" = '3', "position" = 0 WHERE "name" = ${webhookConsumer}`;
  await prisma.$executeRaw`
    INSERT INTO "Webhook" ("id", "name", "url", "createdAt", "updatedAt") VALUES ('hook_1', 'w', 'https://a.test', now(), now())`;
  await prisma.$executeRaw`
    INSERT INTO "WebhookPeriod" ("webhookId", "events", "since") VALUES ('hook_1', '{Role.Created}', '3:3:')`;
  result['fan-out of all, ms'] = Math.round(
    await time(async () => {
      while ((await fanOut(services)).hasMore);
    }),
  );
  const parts = await prisma.eventPart.count();
  const config = { eventRetentionDays: 89, auditRetentionDays: 89 } as never;
  const run = retireParts({ clock, log, config });
  result['expiry of a day, ms'] = Math.round(
    await time(async () => {
      while (await quietTransaction(database, run));
    }),
  );
  const left = await prisma.eventPart.count();
  result['parts before and after'] = `${parts}, ${left}`;
  await database.close();
  await created.drop();
  return result as unknown as Measured;
}

const measured: Measured[] = [];
for (const size of sizes) measured.push(await measure(size));
const names = Object.keys(measured[0] ?? {});
console.log('Medians in milliseconds, unless a row says otherwise.\n');
for (const name of names) {
  console.log([name.padEnd(28), ...measured.map((row) => String(row[name]).padStart(12))].join(''));
}
