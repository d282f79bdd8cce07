import { answerCpu } from './server.ts';
import { startWholeService } from './whole-service.ts';

// The whole service. On request it writes events into its log in one transaction.

const app = await startWholeService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { database } = app.services;

process.on('message', (message: 'cpu' | { first: number; events: number }) => {
  if (message === 'cpu') return;
  const { first, events } = message;
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
answerCpu();
process.send?.({ url: app.url, credentials: app.adminCredentials });
