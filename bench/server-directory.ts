import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { managementIndicator } from '../src/auth/scopes.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { announce } from './server.ts';

// The whole service on a filled directory, with a token that may do everything.

const log = pino({ level: 'info' }, pino.destination('/dev/null'));
const app = await startApp({ config: readConfig({ ...process.env, PORT: '0' }), log });
process.once('SIGTERM', () => {
  app.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});

const { database, keys, issuer } = app.services;
const { id } = await seedDirectory(database, systemClock).createClient();
const now = systemClock.now();
const token = await signAccessToken(keys, {
  iss: issuer,
  sub: id,
  aud: managementIndicator,
  client_id: id,
  scope: 'all',
  iat: toNumericDate(now),
  exp: toNumericDate(now) + 4 * 3600,
  jti: newJti(now),
});
announce({
  url: app.url,
  path: '/graphql',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  bodies: [],
});
