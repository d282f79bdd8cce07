import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { announce, userCount } from './server.ts';

// The whole service as it starts in production, with logs at their default level. DATABASE_URL names its database;
// without it, the database is embedded.

const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const app = await startApp({
  config: readConfig({ DATA_DIR: dataDir, ...process.env, PORT: '0' }),
  log,
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

const { database, keys, issuer } = app.services;
const { prisma } = database;
const directory = seedDirectory(database, systemClock);

// Large enough that an index pays off.
await prisma.$executeRaw`
  INSERT INTO "User" ("id", "createdAt", "updatedAt")
  SELECT 'user_' || lpad(i::text, 26, '0'), now(), now() FROM generate_series(1, 20000) AS i`;
const [orders, frontend, backend] = [
  await directory.createResource(['read', 'write', 'refund']),
  await directory.createClient({ type: 'SPA' }),
  await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true }),
];
const organization = await directory.createOrganization();
const users = [];
for (let i = 0; i < userCount; i += 1) {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read', 'write']);
  await directory.addMember(organization, user, { resource: orders, resourceScopes: ['write'] });
  users.push(user);
}
await prisma.$executeRaw`ANALYZE`;

const now = systemClock.now();
announce({
  url: app.url,
  path: '/oidc/token',
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(`${backend.id}:${backend.secret}`).toString('base64')}`,
  },
  bodies: await Promise.all(
    users.map(async (user) =>
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: await signAccessToken(keys, {
          iss: issuer,
          sub: user.id,
          aud: 'https://gateway.example.com',
          client_id: frontend.id,
          scope: '',
          iat: toNumericDate(now),
          exp: toNumericDate(now) + 86_400,
          jti: newJti(now),
        }),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: orders.indicator,
        scope: 'read write',
      }).toString(),
    ),
  ),
});
