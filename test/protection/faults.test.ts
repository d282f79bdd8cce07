import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { digestOf } from '../../src/keys/digest.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { authenticatorApp, enrollApp } from '../support/people/authenticator-app.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { createAuthenticator } from '../support/people/passkeys/authenticator.ts';
import { password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { clock } = service;
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'],
});

// The limits of an address count by the minute.
beforeEach(() => clock.advance(61_000));

let count = 0;
async function createPerson() {
  count += 1;
  const primaryEmail = `faulty${count}@example.com`;
  // Without an offer of a second factor, which would stop a sign-in.
  const enrollmentSkippedAt = clock.now();
  const { id, username } = await fixture.createUser({ primaryEmail, enrollmentSkippedAt });
  return { id, primaryEmail, username: username ?? '' };
}

/** A guess that can be made again and again, right or wrong; answers the name of its result. */
type Guessing = (isRight: boolean) => Promise<string>;

const begin = async () => (await startHeadless(service, { clientId: client.id, redirectUri })).send;

async function signedIn() {
  const person = await createPerson();
  const send = await begin();
  await step(send, 'signInWithPassword', { identifier: person.username, password });
  return { person, send };
}

/** A sign-in of somebody who has every factor, up to the second. */
async function atFactor() {
  const { person, send: first } = await signedIn();
  const app = await enrollApp(first, clock);
  const { codes } = await step(first, 'createBackupCodes');
  const authenticator = createAuthenticator(new URL(service.app.services.baseUrl).origin);
  const { options } = await step(first, 'startPasskeyEnrollment');
  await step(first, 'confirmPasskey', { response: authenticator.create(options) });
  clock.advance(30_000);
  const send = await begin();
  await step(send, 'signInWithPassword', { identifier: person.username, password });
  return { app, authenticator, codes: codes as string[], send };
}

async function withAccount() {
  const person = await createPerson();
  return { person, me: await fixture.signInTo(person.username) };
}

/** Somebody with every factor, at their account. */
async function atAccount() {
  const { person, me } = await withAccount();
  await me.run('verifyViewerPassword', { password });
  const { secret } = await me.run('enrollTotp');
  const app = authenticatorApp(clock, secret);
  await me.run('confirmTotp', { code: app.code() });
  const { codes } = await me.run('createBackupCodes');
  const authenticator = createAuthenticator(new URL(service.app.services.baseUrl).origin);
  const { options } = await me.run('startPasskeyEnrollment');
  await me.run('confirmPasskey', { response: authenticator.create(options) });
  clock.advance(30_000);
  return { person, me, app, authenticator, codes: codes as string[] };
}

const named = async (answer: Promise<{ readonly __typename: string }>) => (await answer).__typename;

/** Every check of a guess, and what it writes on its way. */
const checks: [name: string, fails: string, prepare: () => Promise<Guessing>][] = [
  [
    'a password',
    'UPDATE ON "Interaction"',
    async () => {
      const { username: identifier } = await createPerson();
      const send = await begin();
      return (isRight) =>
        named(
          step(send, 'signInWithPassword', { identifier, password: isRight ? password : 'wrong' }),
        );
    },
  ],
  [
    'a code',
    'UPDATE ON "Verification"',
    async () => {
      const { primaryEmail: email } = await createPerson();
      const send = await begin();
      const { verification } = await step(send, 'sendCode', { purpose: 'SIGN_IN', email });
      const code = await codeTo(service, email);
      const { id: verificationId } = verification;
      return (isRight) =>
        named(step(send, 'verifyCode', { verificationId, code: isRight ? code : 'wrong' }));
    },
  ],
  [
    'a one-time token',
    'DELETE ON "OneTimeToken"',
    async () => {
      const { primaryEmail: email } = await createPerson();
      const token = `ott_${email}`;
      const createdAt = clock.now();
      const expiresAt = new Date(createdAt.getTime() + 600_000);
      const id = newId('OneTimeToken');
      await prisma.oneTimeToken.create({
        data: { id, email, digest: digestOf(token), createdAt, expiresAt },
      });
      const send = await begin();
      return (isRight) =>
        named(step(send, 'redeemOneTimeToken', { email, token: isRight ? token : 'wrong' }));
    },
  ],
  [
    'an app as second factor',
    'UPDATE ON "UserFactor"',
    async () => {
      const { send, app } = await atFactor();
      return (isRight) =>
        named(step(send, 'verifyTotp', { code: isRight ? app.code() : app.wrongCode() }));
    },
  ],
  [
    'a backup code as second factor',
    'DELETE ON "BackupCode"',
    async () => {
      const { send, codes } = await atFactor();
      return (isRight) =>
        named(step(send, 'verifyBackupCode', { code: isRight ? codes[0] : 'wrong' }));
    },
  ],
  [
    'a passkey as second factor',
    'DELETE ON "PasskeyChallenge"',
    async () => {
      const { send, authenticator } = await atFactor();
      return async (isRight) => {
        const { options } = await step(send, 'startPasskey');
        const response = authenticator.get(options, { forges: !isRight });
        return named(step(send, 'verifyPasskey', { response }));
      };
    },
  ],
  [
    'a passkey as the only step',
    'DELETE ON "PasskeyChallenge"',
    async () => {
      const { authenticator } = await atFactor();
      const send = await begin();
      return async (isRight) => {
        const { options } = await step(send, 'startPasskey');
        const response = authenticator.get(options, { forges: !isRight });
        return named(step(send, 'verifyPasskey', { response }));
      };
    },
  ],
  [
    'the first code of a new app',
    'DELETE ON "TotpEnrollment"',
    async () => {
      const { send } = await signedIn();
      const { secret } = await step(send, 'enrollTotp');
      const app = authenticatorApp(clock, secret);
      return (isRight) =>
        named(step(send, 'confirmTotp', { code: isRight ? app.code() : app.wrongCode() }));
    },
  ],
  [
    'the password at the account',
    'INSERT ON "ViewerProof"',
    async () => {
      const { me } = await withAccount();
      return (isRight) =>
        named(me.run('verifyViewerPassword', { password: isRight ? password : 'wrong' }));
    },
  ],
  [
    'a code at the account',
    'UPDATE ON "Verification"',
    async () => {
      const { person, me } = await withAccount();
      const { verification } = await me.run('sendViewerCode', { email: person.primaryEmail });
      const code = await codeTo(service, person.primaryEmail);
      const verificationId = String(verification.id);
      return (isRight) =>
        named(me.run('verifyViewerCode', { verificationId, code: isRight ? code : 'wrong' }));
    },
  ],
  [
    'an app at the account',
    'UPDATE ON "UserFactor"',
    async () => {
      const { me, app } = await atAccount();
      return (isRight) =>
        named(me.run('verifyTotp', { code: isRight ? app.code() : app.wrongCode() }));
    },
  ],
  [
    'a backup code at the account',
    'DELETE ON "BackupCode"',
    async () => {
      const { me, codes } = await atAccount();
      return (isRight) => named(me.run('verifyBackupCode', { code: isRight ? codes[0] : 'wrong' }));
    },
  ],
  [
    'a passkey at the account',
    'DELETE ON "PasskeyChallenge"',
    async () => {
      const { me, authenticator } = await atAccount();
      return async (isRight) => {
        const { options } = await me.run('startPasskey');
        const response = authenticator.get(options, { forges: !isRight });
        return named(me.run('verifyPasskey', { response }));
      };
    },
  ],
  [
    'the first code of a new app at the account',
    'DELETE ON "TotpEnrollment"',
    async () => {
      const { me } = await withAccount();
      await me.run('verifyViewerPassword', { password });
      const { secret } = await me.run('enrollTotp');
      const app = authenticatorApp(clock, secret);
      return (isRight) =>
        named(me.run('confirmTotp', { code: isRight ? app.code() : app.wrongCode() }));
    },
  ],
];

await prisma.$executeRaw`
  CREATE FUNCTION "fail"() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a fault' USING ERRCODE = 'XX000'; END $$`;

async function whileFailing<T>(event: string, work: () => Promise<T>): Promise<T> {
  const table = event.slice(event.indexOf('"'));
  await prisma.$executeRawUnsafe(
    `CREATE TRIGGER "fail" BEFORE ${event} FOR EACH STATEMENT EXECUTE FUNCTION "fail"()`,
  );
  try {
    return await work();
  } finally {
    await prisma.$executeRawUnsafe(`DROP TRIGGER "fail" ON ${table}`);
  }
}

const counts = async () =>
  (await prisma.attemptCount.findMany({ select: { count: true, lockedUntil: true } })).filter(
    (row) => row.count > 0,
  );
const lockouts = () => prisma.event.count({ where: { type: 'Identifier.Lockout' } });

test.each(checks)(
  'a fault while %s is checked gives the attempt back',
  async (_n, fails, prepare) => {
    const guess = await prepare();
    await prisma.attemptCount.deleteMany();
    const before = await lockouts();
    await whileFailing(fails, async () => {
      await expect(guess(true)).rejects.toThrow('INTERNAL');
    });
    expect(await counts()).toEqual([]);

    // An answer counts, up to the last attempt.
    for (let i = 0; i < 9; i += 1) expect(await guess(false)).toBe('VerificationFailedError');
    expect(await counts()).toMatchObject([{ count: 9, lockedUntil: null }]);
    // A fault of the last one locks nobody.
    await whileFailing(fails, async () => {
      await expect(guess(true)).rejects.toThrow('INTERNAL');
    });
    expect(await counts()).toMatchObject([{ count: 9, lockedUntil: null }]);
    expect(await lockouts()).toBe(before);

    // The fault used nothing up, and a success forgets the failures.
    clock.advance(30_000);
    expect(await guess(true)).toMatch(/Payload$/);
    expect(await prisma.attemptCount.count()).toBe(0);
  },
);

test.each(checks)('%s: the tenth wrong guess locks, once', async (_name, _fails, prepare) => {
  const guess = await prepare();
  await prisma.attemptCount.deleteMany();
  const before = await lockouts();
  for (let i = 0; i < 9; i += 1) await guess(false);
  expect(await guess(false)).toBe('LockedError');
  expect(await guess(true)).toBe('LockedError');
  expect(await lockouts()).toBe(before + 1);
});
