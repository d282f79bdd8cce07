import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

// The whole service as it starts in production, with logs at their default level. On request it writes events into its
// log in one transaction. DATABASE_URL names its database; without it, the database is embedded.

const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const app = await startApp({
  config: readConfig({
    DATA_DIR: dataDir,
    ...process.env,
    PORT: '0',
    ALLOW_PRIVATE_WEBHOOKS: 'true',
  }),
  log: pino({ level: 'info' }, pino.destination('/dev/null')),
});
const { database } = app.services;

process.on('message', ({ first, events }: { first: number; events: number }) => {
  database.prisma.$executeRaw`
      INSERT INTO "Event" ("id", "type", "subjectId", "actor", "actorId", "data", "traceId", "occurredAt")
      SELECT 'evt_' || lpad(i::text, 26, '0'), 'User.Created', 'user_' || lpad(i::text, 26, '0'),
             '{"type": "APPLICATION", "id": "app_01h455vb4pex5vsknk084sn02q"}', 'app_01h455vb4pex5vsknk084sn02q',
             jsonb_build_object('id', 'user_' || lpad(i::text, 26, '0'), 'username', 'user_' || i,
               'primaryEmail', 'user_' || i || '@example.com', 'primaryPhone', null, 'name', 'User ' || i,
               'avatar', null, 'profile', '{}'::jsonb, 'customData', '{}'::jsonb, 'isSuspended', false,
               'hasPassword', true, 'lastSignInAt', null, 'createdAt', now(), 'updatedAt', now()),
             md5(i::text), now()
        FROM generate_series(${first}::int, ${first + events - 1}::int) AS i`.then(() => {
    database.hints.send('log');
    process.send?.({ written: events });
  });
});
process.once('SIGTERM', () => {
  app
    .stop()
    .then(() => rm(dataDir, { recursive: true, force: true }))
    .then(
      () => process.exit(0),
      () => process.exit(1),
    );
});
process.send?.({ url: app.url, credentials: app.adminCredentials });
