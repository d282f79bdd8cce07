import { beforeEach, expect, inject, test } from 'vitest';
import { updateApplication } from '../../../src/applications/operations.ts';
import { createTrustedIssuer } from '../../../src/applications/trusted-issuers/operations.ts';
import { quietTransaction, transaction } from '../../../src/db/transaction.ts';
import { newId } from '../../../src/ids.ts';
import { recordConsent } from '../../../src/oidc/consent/operations.ts';
import { purgeUnused } from '../../../src/oidc/registration/purge.ts';
import { systemActor } from '../../../src/services.ts';
import { testCall } from '../../support/log.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
const { prisma } = database;
const { directory, user } = await createSignInFixture(service);
const context = { ...services, actor: systemActor, ...testCall };
const day = 24 * 60 * 60_000;

const purge = () => quietTransaction(database, (tx) => purgeUnused(tx, services));
const registered = () =>
  directory.createClient({ type: 'SPA', origin: 'DYNAMIC_REGISTRATION', isThirdParty: true });
async function described() {
  const client = await directory.createClient({
    type: 'SPA',
    origin: 'METADATA_DOCUMENT',
    metadataUrl: `https://agent.example.com/${newId('Application')}`,
    isThirdParty: true,
  });
  await read(client.id);
  return client;
}
/** Notes that the metadata document of an application was read just now. */
async function read(applicationId: string): Promise<void> {
  const now = service.clock.now();
  const times = { readAt: now, freshUntil: new Date(now.getTime() + day) };
  await prisma.metadataDocument.upsert({
    where: { applicationId },
    create: { applicationId, ...times },
    update: times,
  });
}
const left = async () => {
  const rows = await prisma.application.findMany({ where: { origin: { not: 'ADMINISTRATION' } } });
  return rows.map(({ id }) => id).sort();
};
const idsOf = (...clients: { id: string }[]) => clients.map(({ id }) => id).sort();

beforeEach(() => prisma.application.deleteMany({ where: { origin: { not: 'ADMINISTRATION' } } }));

test('what nobody has allowed anything for 30 days is deleted', async () => {
  const own = await directory.createClient({ type: 'SPA', isThirdParty: true });
  const [used, unused] = [await registered(), await registered()];
  const [usedAgent, unusedAgent] = [await described(), await described()];
  await directory.createGrant(user.id, used.id);
  await directory.createGrant(user.id, usedAgent.id);
  service.clock.advance(30 * day - 60_000);
  await purge();
  expect(await left()).toEqual(idsOf(used, unused, usedAgent, unusedAgent));
  service.clock.advance(60_001);
  expect(await purge()).toBe(false);
  expect(await left()).toEqual(idsOf(used, usedAgent));
  expect(await prisma.application.count({ where: { id: own.id } })).toBe(1);
  const deleted = await prisma.event.findMany({ where: { type: 'Application.Deleted' } });
  expect(deleted.map(({ subjectId }) => subjectId).sort()).toEqual(idsOf(unused, unusedAgent));
});

test('an application whose document was asked for lately stays', async () => {
  const client = await described();
  service.clock.advance(29 * day);
  await read(client.id);
  service.clock.advance(29 * day);
  await purge();
  expect(await left()).toEqual([client.id]);
  service.clock.advance(day + 1);
  await purge();
  expect(await left()).toEqual([]);
});

test('what an administrator has given something to stays', async () => {
  const web = () =>
    directory.createClient({
      type: 'TRADITIONAL',
      origin: 'DYNAMIC_REGISTRATION',
      isThirdParty: true,
    });
  const [member, trusting, bare] = [await web(), await web(), await web()];
  const organization = await directory.createOrganization();
  const now = service.clock.now();
  await prisma.organizationApplication.create({
    data: { organizationId: organization.id, applicationId: member.id, createdAt: now },
  });
  await createTrustedIssuer(context, {
    name: 'Company',
    issuer: 'https://company.example.com',
    jwksUri: 'https://93.184.215.14/jwks',
    kind: 'IDENTITY',
    applicationId: trusting.id,
  });
  service.clock.advance(30 * day + 1);
  await purge();
  expect(await left()).toEqual(idsOf(member, trusting));
  expect(await prisma.application.count({ where: { id: bare.id } })).toBe(0);
});

test('more than one batch is gone in a few runs', async () => {
  const now = service.clock.now();
  await prisma.application.createMany({
    data: Array.from({ length: 103 }, (_, i) => ({
      id: newId('Application'),
      name: `Agent ${i}`,
      type: 'SPA' as const,
      origin: 'DYNAMIC_REGISTRATION' as const,
      isThirdParty: true,
      createdAt: now,
      updatedAt: now,
    })),
  });
  service.clock.advance(30 * day + 1);
  expect(await purge()).toBe(true);
  expect(await left()).toHaveLength(3);
  expect(await purge()).toBe(false);
  expect(await left()).toEqual([]);
});

// The embedded database has one connection, so nothing there happens at the same time.
test.runIf(inject('postgresql'))(
  'a consent that is being given keeps its application',
  async () => {
    const [wanted, unused] = [await registered(), await registered()];
    service.clock.advance(30 * day + 1);
    const [isGiven, isPurged] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const consent = transaction(database, async (tx) => {
      const application = await tx.application.findUniqueOrThrow({ where: { id: wanted.id } });
      const told = await recordConsent(
        tx,
        context,
        { userId: user.id, application },
        { scopes: ['openid'], resources: [] },
      );
      isGiven.resolve();
      await isPurged.promise;
      return told;
    });
    await isGiven.promise;
    await purge();
    isPurged.resolve();
    await consent;
    expect(await left()).toEqual([wanted.id]);
    expect(await prisma.application.count({ where: { id: unused.id } })).toBe(0);
    await purge();
    expect(await left()).toEqual([wanted.id]);
  },
);

test.runIf(inject('postgresql'))(
  'a consent given after the choice keeps its application',
  async () => {
    const clients = [await registered(), await registered()];
    const [first, second] = idsOf(...clients);
    service.clock.advance(30 * day + 1);
    // A token of the first one is in use, and its deletion waits for that.
    const key = { model: 'Grant', id: newId('Application') };
    await prisma.oidcRecord.create({ data: { ...key, clientId: first ?? '', payload: {} } });
    const [isHeld, isAllowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const use = quietTransaction(database, async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM "OidcRecord" WHERE "id" = ${key.id} FOR UPDATE`;
      isHeld.resolve();
      await isAllowed.promise;
    });
    await isHeld.promise;
    const purged = purge();
    await eventually(async () => {
      const waiting = await prisma.$queryRaw<unknown[]>`
      SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%"OidcRecord"%'`;
      expect(waiting).toHaveLength(1);
    });
    await directory.createGrant(user.id, second ?? '');
    isAllowed.resolve();
    await Promise.all([use, purged]);
    expect(await left()).toEqual([second]);
  },
);

test.runIf(inject('postgresql'))('who changes an application is not waited for', async () => {
  const client = await registered();
  service.clock.advance(30 * day + 1);
  const [isChanged, isPurged] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = quietTransaction(database, async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${client.id}, 0))`;
    isChanged.resolve();
    await isPurged.promise;
  });
  await isChanged.promise;
  await purge();
  isPurged.resolve();
  await change;
  expect(await left()).toEqual([client.id]);
  await updateApplication(context, { id: client.id, description: 'Still here' });
  await purge();
  expect(await left()).toEqual([]);
});
