import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { doctor } from '../../src/cli/doctor/doctor.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { readConfig } from '../../src/config.ts';
import { restoreAdministrator } from '../../src/console/administrator.ts';
import { StartError } from '../../src/errors.ts';
import { fetchClientToken } from '../support/client-credentials.ts';
import { turkish } from '../support/database.ts';
import { callRest } from '../support/operations/rest.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { release } from '../support/release/data.ts';
import { openRelease } from '../support/release/open.ts';
import { startService } from '../support/service.ts';

const username = 'ILKIN';
const primaryEmail = 'ILKIN@IZMIR.EXAMPLE.COM';
const inSmall = (text: string) => text.toLowerCase();

/** What `signet doctor` says about one thing. */
async function doctorsWord(url: string | undefined, about: string): Promise<Finding | undefined> {
  const stdout = new PassThrough();
  await doctor.run(['--stopped', '--json'], {
    environment: { DATABASE_URL: url ?? '', SIGNET_SECRET: release.secret },
    stdin: process.stdin,
    // A stream that takes the text is all that it needs.
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: process.stderr,
  });
  const { findings } = JSON.parse(String(stdout.read())) as { findings: Finding[] };
  return findings.find(({ check }) => check === about);
}

// The embedded database has one locale.
describe('in a database of a Turkish locale, case is none of its business', async () => {
  const service = await startService({}, { databaseOrigin: turkish });
  const fixture = await createSignInFixture(service);
  const client = await fixture.createApplication({ allowHeadlessSignIn: true });
  const endpoint = { url: service.url, token: await service.managementToken() };
  const post = (path: string, input: object) => callRest(endpoint, 'POST', path, input);
  const { body } = await post('/users', { username, primaryEmail, password });
  const id: string = (body.user ?? body).id;

  test.each(Object.entries({ username, primaryEmail }))(
    'a second %s of the same letters is a conflict of that field',
    async (field, value) => {
      expect(await post('/users', { [field]: inSmall(value) })).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT', path: [field] },
      });
      const imported = await post('/users/import', { users: [{ [field]: inSmall(value) }] });
      expect(imported.body).toMatchObject({
        failures: [{ code: 'CONFLICT', message: expect.stringContaining(field) }],
      });
      const other = await post('/users', {});
      expect(
        await callRest(endpoint, 'PATCH', `/users/${(other.body.user ?? other.body).id}`, {
          [field]: inSmall(value),
        }),
      ).toMatchObject({ status: 409, body: { path: [field] } });
    },
  );

  test.each([username, primaryEmail, inSmall(username), inSmall(primaryEmail)])(
    '%s signs in',
    async (identifier) => {
      const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
      expect(await step(send, 'signInWithPassword', { identifier, password })).toMatchObject({
        __typename: 'SignInWithPasswordPayload',
      });
    },
  );

  // Each is a spelling of the same name to one locale or another.
  test.each(['\u0131lk\u0131n', '\u0130LK\u0130N', 'IL\u212aIN'])('%s is nobody', async (other) => {
    const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
    expect(await step(send, 'signInWithPassword', { identifier: other, password })).toMatchObject({
      code: 'VERIFICATION_FAILED',
    });
    const query = new URLSearchParams({ username: other });
    expect(await callRest(endpoint, 'GET', `/users?${query}`)).toMatchObject({
      body: { users: [] },
    });
  });

  test('the person is found by either, and brought back as an administrator', async () => {
    for (const [field, value] of Object.entries({ username, primaryEmail })) {
      const { body } = await callRest(endpoint, 'GET', `/users?${field}=${inSmall(value)}`);
      expect(body.users).toMatchObject([{ id }]);
    }
    const restored = await restoreAdministrator(service.app.services, {
      username: inSmall(username),
      password,
    });
    expect(restored).toMatchObject({ user: { id }, isNew: false });
  });

  const find = async (search: string) => {
    const { body } = await callRest(endpoint, 'GET', `/users?${new URLSearchParams({ search })}`);
    return body.users;
  };

  test.each(['ilk', 'ILK', 'lkIN', 'lkin', 'izmir.example', inSmall(primaryEmail), primaryEmail])(
    'a search for %s finds the person',
    async (search) => {
      expect(await find(search)).toMatchObject([{ id }]);
    },
  );

  test('a search for a text with many places of an i goes by how people type', async () => {
    const { body } = await post('/users', { username: 'INDIVISIBILITY' });
    const found = [{ id: (body.user ?? body).id }];
    for (const search of ['INDIVISIBILITY', 'indivisibility', 'divisibility'])
      expect(await find(search), search).toMatchObject(found);
  });

  test('an address is invited once, and the person is its owner', async () => {
    const { body } = await post('/organizations', { name: 'İzmir' });
    const organizationId = (body.organization ?? body).id;
    const invite = (invitee: string) =>
      post('/organization-invitations', { organizationId, invitee });
    const invited = await invite(inSmall(primaryEmail));
    expect(invited).toMatchObject({ status: 201 });
    expect(await invite(primaryEmail)).toMatchObject({ status: 409, body: { path: ['invitee'] } });
    const invitationId = (invited.body.organizationInvitation ?? invited.body).id;
    const accepted = await callRest(
      endpoint,
      'PUT',
      `/organization-invitations/${invitationId}/status`,
      { status: 'ACCEPTED', acceptedUserId: id },
    );
    expect(accepted).toMatchObject({ status: 200 });
  });

  test('a new password voids what was sent to the address, however it was written', async () => {
    const { prisma } = fixture.database;
    await post('/one-time-tokens', { email: inSmall(primaryEmail) });
    expect(await prisma.oneTimeToken.count()).toBe(1);
    await callRest(endpoint, 'PATCH', `/users/${id}/password`, {
      password: `${password}, again`,
    });
    expect(await prisma.oneTimeToken.count()).toBe(0);
  });
});

describe.runIf(inject('postgresql'))('a database of the last release in a Turkish locale', () => {
  test('is not migrated while names differ in case alone, and the start names them', async () => {
    const { database, url, close } = await openRelease(turkish);
    onTestFinished(close);
    const { prisma } = database;
    const dataDir = await mkdtemp(join(tmpdir(), 'signet-locale-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const start = () =>
      startApp({
        config: readConfig({ PORT: '0', DATA_DIR: dataDir }),
        log: pino({ level: 'silent' }),
        opened: { database, secret: release.secret },
        consoleFolder: join(dataDir, 'no-console'),
      });
    const migrations = () => prisma.$queryRaw`SELECT * FROM "_prisma_migrations" ORDER BY "id"`;
    const before = await migrations();
    // As the release wrote them: its own index let them through.
    await prisma.$executeRaw`
      INSERT INTO "User" ("id", "username", "primaryEmail", "createdAt", "updatedAt")
      VALUES ('a', 'ILKIN', 'ILKIN@example.com', now(), now()), ('b', 'ilkin', NULL, now(), now()),
             ('c', 'ADA.I', 'ilkin@EXAMPLE.com', now(), now())`;
    await prisma.$executeRaw`
      INSERT INTO "Organization" ("id", "name", "createdAt", "updatedAt")
      VALUES ('o', 'İzmir', now(), now()), ('p', 'Iğdır', now(), now())`;
    await prisma.$executeRaw`
      INSERT INTO "OrganizationInvitation"
             ("id", "organizationId", "invitee", "status", "expiresAt", "createdAt", "updatedAt")
      VALUES ('i', 'o', 'I@example.com', 'PENDING', now(), now(), now()),
             ('j', 'o', 'i@example.com', 'PENDING', now(), now(), now()),
             ('k', 'o', 'i@EXAMPLE.com', 'REVOKED', now(), now(), now()),
             ('l', 'p', 'i@example.com', 'PENDING', now(), now(), now())`;
    const named =
      'user names ILKIN, ilkin; pending invitations to o of I@example.com, i@example.com; e-mail addresses ILKIN@example.com, ilkin@EXAMPLE.com.';
    const refusal = await start().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartError);
    expect((refusal as StartError).message).toMatch(
      new RegExp(`^[^\\n]*: ${RegExp.escape(named)} Rename or delete[^\\n]*$`),
    );
    expect(await doctorsWord(url, 'migrations')).toMatchObject({
      state: 'fault',
      message: expect.stringContaining(named),
    });
    expect(await migrations()).toEqual(before);

    await prisma.$executeRaw`DELETE FROM "OrganizationInvitation" WHERE "id" = 'i'`;
    await prisma.$executeRaw`UPDATE "User" SET "username" = 'ilkin.b' WHERE "id" = 'b'`;
    await prisma.$executeRaw`UPDATE "User" SET "primaryEmail" = NULL WHERE "id" = 'c'`;
    const app = await start();
    onTestFinished(() => app.stop());
    const token = await fetchClientToken(app, release.admin, {
      resource: 'urn:signet:management',
      scope: 'all',
    });
    const endpoint = { url: app.url, token };
    expect(await callRest(endpoint, 'POST', '/users', { username: 'ilkin' })).toMatchObject({
      status: 409,
      body: { path: ['username'] },
    });
    const { body } = await callRest(endpoint, 'GET', '/users?primaryEmail=ilkin@example.com');
    expect(body.users).toMatchObject([{ id: 'a' }]);
  });
});
