import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { managementIndicator } from '../src/auth/scopes.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { announce, userCount } from './server.ts';

// The whole service as it starts in production, with logs at their default level, users with roles, and a token that
// may do everything. A body names a user.

const app = await startApp({
  config: readConfig({ ...process.env, PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true' }),
  log: pino({ level: 'info' }, pino.destination('/dev/null')),
});
process.once('SIGTERM', () => {
  app.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});

const { database, keys, issuer } = app.services;
const directory = seedDirectory(database, systemClock);
const orders = await directory.createResource(['read', 'write']);
const users: string[] = [];
for (let i = 0; i < userCount; i += 1) {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read']);
  users.push(user.id);
}
const { id } = await directory.createClient();
await database.prisma.$executeRaw`ANALYZE`;

const now = systemClock.now();
const token = await signAccessToken(keys, {
  iss: issuer,
  sub: id,
  aud: managementIndicator,
  client_id: id,
  scope: 'all',
  iat: toNumericDate(now),
  exp: toNumericDate(now) + 8 * 3600,
  jti: newJti(now),
});
announce({
  url: app.url,
  path: '/graphql',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  bodies: users,
});
