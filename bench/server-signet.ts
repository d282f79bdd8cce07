import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { announceExchanges, createLoadKeys, tokenCount, userCount } from './server.ts';
import { startWholeService } from './whole-service.ts';

const app = await startWholeService();

const { database, keys, issuer, baseUrl } = app.services;
const { prisma } = database;
const { jwks, kid, privateJwk } = createLoadKeys();
const directory = seedDirectory(database, systemClock);

// Large enough that an index pays off.
await prisma.$executeRaw`
  INSERT INTO "User" ("id", "createdAt", "updatedAt")
  SELECT 'user_' || lpad(i::text, 26, '0'), now(), now() FROM generate_series(1, 20000) AS i`;
const [orders, frontend, backend] = [
  await directory.createResource(['read', 'write', 'refund']),
  await directory.createClient({ type: 'SPA' }),
  await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true, jwks }),
];
const organization = await directory.createOrganization();
const users: Awaited<ReturnType<typeof directory.createUser>>[] = [];
for (let i = 0; i < userCount; i += 1) {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read', 'write']);
  await directory.addMember(organization, user, { resource: orders, resourceScopes: ['write'] });
  users.push(user);
}
await prisma.$executeRaw`ANALYZE`;

const now = systemClock.now();
announceExchanges(
  app.url,
  backend,
  await Promise.all(
    Array.from({ length: tokenCount }, async (_, i) => ({
      subject_token: await signAccessToken(keys, {
        iss: issuer,
        sub: users[i % userCount]?.id ?? '',
        aud: 'https://gateway.example.com',
        client_id: frontend.id,
        scope: '',
        iat: toNumericDate(now),
        exp: toNumericDate(now) + 86_400,
        jti: newJti(now),
      }),
      resource: orders.indicator,
    })),
  ),
  { kid, privateJwk, audience: issuer, baseUrl },
);
