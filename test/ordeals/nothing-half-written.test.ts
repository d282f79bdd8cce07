import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { openPostgresql, useEmbedded } from '../src/db/database.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import { newId } from '../src/ids.ts';
import { currentPasswordAlgorithm, hashPassword } from '../src/users/password.ts';
import { closeAtEnd } from './support/cleanup.ts';
import { fetchManagementToken } from './support/client-credentials.ts';
import { createProcessDatabase, failOnError } from './support/database.ts';
import { createMaker } from './support/operations/maker.ts';
import { overGraphQL } from './support/operations/operations.ts';
import { Cluster } from './support/ordeal/cluster.ts';
import { Deeds, unfair } from './support/ordeal/deeds.ts';
import { startFront } from './support/ordeal/front.ts';
import { faultsIn } from './support/ordeal/leftovers.ts';
import { type Life, live, registerTwice, type World } from './support/ordeal/person.ts';
import { startOpenIdProvider } from './support/peers/openid-provider.ts';
import { password, redirectUri } from './support/people/sign-in-fixture.ts';
import { changeSettings } from './support/people/sign-in-settings.ts';

// More come as long as the disasters are not over.
const people = 10;
const mostPeople = 100;
// At once.
const lanes = 8;
const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };

const environment = await createProcessDatabase();
const { DATABASE_URL } = environment;

/** The nodes, with one address for all, and a provider of identities. */
async function createWorld(
  deeds: Deeds,
): Promise<World & { usernames: readonly string[]; ids: readonly string[] }> {
  const front = await startFront((number) => cluster.url(number));
  closeAtEnd(() => front.close());
  const cluster = new Cluster(
    {
      ...environment,
      BASE_URL: front.url,
      TRUST_PROXY: '1',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      SIGNET_SECRET: 'a secret for tests only, and a long one',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    },
    DATABASE_URL ? 2 : 1,
  );
  closeAtEnd(() => cluster.stopAll());
  await cluster.startAll();
  const provider = await startOpenIdProvider();
  const endpoint = { url: front.url, token: await fetchManagementToken(front, admin) };
  const { done } = createMaker(overGraphQL(endpoint, endpoint.token));
  await changeSettings(endpoint, endpoint.token, {
    signUpIdentifiers: ['EMAIL'],
    factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'],
  });
  const { issuer, clientId, clientSecret } = provider;
  const { identityProvider } = await done('createIdentityProvider', {
    ...{ name: 'Club', kind: 'SOCIAL', issuer, clientId, clientSecret },
  });
  const kind = { type: 'TRADITIONAL', redirectUris: [redirectUri] };
  const { application, secret } = await done('createApplication', {
    ...{ ...kind, name: 'Pocket', allowHeadlessSignIn: true },
  });
  const shop = await done('createApplication', { ...kind, name: 'Shop', isThirdParty: true });
  const usernames = Array.from({ length: mostPeople }, (_, number) => `person${number}`);
  const passwordDigest = await hashPassword(password);
  const { users } = await done('importUsers', {
    users: usernames.map((username) => ({
      username,
      primaryEmail: `${username}@example.com`,
      isEmailVerified: true,
      passwordDigest,
      passwordAlgorithm: currentPasswordAlgorithm,
    })),
  });
  return {
    cluster,
    deeds,
    url: front.url,
    provider,
    providerId: identityProvider.id,
    application: { id: application.id, secret },
    shop: shop.application,
    usernames,
    ids: users.map(({ id }: { id: string }) => id),
  };
}

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
  const deeds = new Deeds();
  const world = await createWorld(deeds);
  const { cluster, usernames, ids } = world;
  const disasters = DATABASE_URL
    ? [() => cluster.kill(), breakConnections, () => cluster.kill(2)]
    : [() => cluster.kill(), () => cluster.kill(), () => cluster.kill()];
  let isOver = false;
  const strike = async () => {
    for (const disaster of disasters) {
      // In the middle of what some people do at once.
      await deeds.reached(deeds.done + people * 3);
      await disaster();
      await cluster.settled();
    }
    isOver = true;
  };
  const lives: Life[] = [];
  let strangers = 0;
  const waiting = usernames.entries();
  const lane = async () => {
    for (const [number, username] of waiting) {
      if (isOver && number >= people) return;
      const userId = ids[number] ?? '';
      const email = `${username}@example.com`;
      lives.push(await live(world, number, { userId, username, email }));
      if (number % 2 === 0) continue;
      strangers += 1;
      await registerTwice(world, `stranger${number}`);
    }
  };
  const lanesEnded = Promise.all(Array.from({ length: lanes }, lane));
  await Promise.race([strike(), lanesEnded]);
  expect(isOver).toBe(true);
  await lanesEnded;
  await cluster.stopAll();

  expect(unfair(deeds.races)).toEqual([]);
  expect(deeds.broken).toBeGreaterThan(0);
  const database = await openDatabase();
  closeAtEnd(() => database.close());
  const { prisma } = database;
  expect(await faultsIn(prisma, lives, { countsMessages: !DATABASE_URL })).toEqual([]);
  const come = await prisma.userIdentity.groupBy({
    by: ['subject'],
    where: { subject: { startsWith: 'stranger' } },
    _count: true,
  });
  expect(come).toHaveLength(strangers);
}, 240_000);
