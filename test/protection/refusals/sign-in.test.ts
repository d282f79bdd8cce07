import { beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { digestOf } from '../../../src/keys/digest.ts';
import { createAccountFixture } from '../../support/people/account.ts';
import { enrollApp } from '../../support/people/authenticator-app.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import { codeTo } from '../../support/people/messages.ts';
import { createAuthenticator } from '../../support/people/passkeys/authenticator.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import { openSignInPage, password, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

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

const failures = async () =>
  (
    await prisma.event.findMany({
      where: { type: 'SignIn.Failed' },
      orderBy: { position: 'asc' },
      select: { data: true, actor: true },
    })
  ).map(({ data, actor }) => {
    expect(actor).toEqual({ type: 'SYSTEM', id: null });
    return data as Record<string, unknown>;
  });

/** What the events say of what was done. */
async function failing(work: () => Promise<unknown>, count = 1) {
  const before = (await failures()).length;
  await work();
  const found = await eventually(async () => {
    const since = (await failures()).slice(before);
    expect(since.length).toBeGreaterThanOrEqual(count);
    return since;
  });
  expect(found).toHaveLength(count);
  return found;
}

let people = 0;
async function createPerson() {
  people += 1;
  const primaryEmail = `failing${people}@example.com`;
  const enrollmentSkippedAt = clock.now();
  const { id, username } = await fixture.createUser({ primaryEmail, enrollmentSkippedAt });
  return { id, primaryEmail, username: username ?? '' };
}
const suspend = (id: string) => prisma.user.update({ where: { id }, data: { isSuspended: true } });
const begin = async () => (await startHeadless(service, { clientId: client.id, redirectUri })).send;

const here = { ip: '127.0.0.1', userAgent: expect.any(String), suppressed: null };
const expected = (fields: object) => ({ applicationId: client.id, ...here, ...fields });

test('a wrong password, of somebody and of nobody', async () => {
  const { id, username } = await createPerson();
  const send = await begin();
  const tried = { method: 'PASSWORD', reason: 'CREDENTIAL', identifierType: 'username' };
  const wrong = (identifier: string) => () =>
    step(send, 'signInWithPassword', { identifier, password: 'a wrong secret' });
  expect(await failing(wrong(username))).toEqual([expected({ ...tried, userId: id })]);
  expect(await failing(wrong('nobody_here'))).toEqual([expected({ ...tried, userId: null })]);
  expect(await failing(wrong('nobody@example.com'))).toEqual([
    expected({ ...tried, identifierType: 'email', userId: null }),
  ]);
  const all = JSON.stringify(await failures());
  expect(all).not.toContain('a wrong secret');
  expect(all).not.toContain('nobody');
});

test('a right password raises none', async () => {
  const { username } = await createPerson();
  const send = await begin();
  await failing(async () => {
    await step(send, 'signInWithPassword', { identifier: username, password });
    await step(await begin(), 'signInWithPassword', { identifier: username, password: 'wrong' });
  });
});

test('a suspended person, told only where the password was right', async () => {
  const { id, username: identifier } = await createPerson();
  await suspend(id);
  const send = await begin();
  const reasonOf = async (tried: string) => {
    const [found] = await failing(() =>
      step(send, 'signInWithPassword', { identifier, password: tried }),
    );
    return found?.['reason'];
  };
  expect(await reasonOf('wrong')).toBe('CREDENTIAL');
  expect(await reasonOf(password)).toBe('SUSPENDED');
});

test('a locked identifier, after the last attempt', async () => {
  const { id, username: identifier } = await createPerson();
  const send = await begin();
  const found = await failing(async () => {
    for (let i = 0; i < 11; i += 1)
      await step(send, 'signInWithPassword', { identifier, password: 'wrong' });
  }, 11);
  expect(found.map(({ reason }) => reason)).toEqual([...Array(10).fill('CREDENTIAL'), 'LOCKED']);
  expect(found.every(({ userId }) => userId === id)).toBe(true);
});

test('a code, wrong or of somebody suspended', async () => {
  const { id, primaryEmail: email } = await createPerson();
  const send = await begin();
  const { verification } = await step(send, 'sendCode', { purpose: 'SIGN_IN', email });
  const code = await codeTo(service, email);
  const verify = (tried: string) => () =>
    step(send, 'verifyCode', { verificationId: verification.id, code: tried });
  const tried = { method: 'CODE', identifierType: 'email', userId: id };
  expect(await failing(verify('wrong'))).toEqual([expected({ ...tried, reason: 'CREDENTIAL' })]);
  await suspend(id);
  expect(await failing(verify(code))).toEqual([expected({ ...tried, reason: 'SUSPENDED' })]);
  expect(JSON.stringify(await failures())).not.toContain(email);
});

test('a one-time token, wrong or of somebody suspended', async () => {
  const { id, primaryEmail: email } = await createPerson();
  const token = `ott_${email}`;
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + 600_000);
  await prisma.oneTimeToken.create({
    data: { id: newId('OneTimeToken'), email, digest: digestOf(token), createdAt, expiresAt },
  });
  await suspend(id);
  const send = await begin();
  const redeem = (given: string) => () => step(send, 'redeemOneTimeToken', { email, token: given });
  const tried = { method: 'ONE_TIME_TOKEN', identifierType: 'email', userId: id };
  expect(await failing(redeem('wrong'))).toEqual([expected({ ...tried, reason: 'CREDENTIAL' })]);
  expect(JSON.stringify(await failures())).not.toContain(token);
});

describe('a second factor', async () => {
  const { id, username: identifier } = await createPerson();
  const first = await begin();
  await step(first, 'signInWithPassword', { identifier, password });
  const app = await enrollApp(first, clock);
  await step(first, 'createBackupCodes');
  const authenticator = createAuthenticator(new URL(service.app.services.baseUrl).origin);
  const { options } = await step(first, 'startPasskeyEnrollment');
  await step(first, 'confirmPasskey', { response: authenticator.create(options) });

  const atFactor = async () => {
    const send = await begin();
    await step(send, 'signInWithPassword', { identifier, password });
    return send;
  };
  const tried = { reason: 'FACTOR', identifierType: 'username', userId: id };
  const forged = async (send: Awaited<ReturnType<typeof begin>>) => {
    const { options: asked } = await step(send, 'startPasskey');
    return step(send, 'verifyPasskey', { response: authenticator.get(asked, { forges: true }) });
  };

  test('of an app', async () => {
    const send = await atFactor();
    const found = await failing(() => step(send, 'verifyTotp', { code: app.wrongCode() }));
    expect(found).toEqual([expected({ ...tried, method: 'TOTP' })]);
  });

  test('of backup codes', async () => {
    const send = await atFactor();
    const found = await failing(() => step(send, 'verifyBackupCode', { code: 'wrong' }));
    expect(found).toEqual([expected({ ...tried, method: 'BACKUP_CODE' })]);
  });

  test('of a passkey', async () => {
    const send = await atFactor();
    const found = await failing(() => forged(send));
    expect(found).toEqual([expected({ ...tried, method: 'PASSKEY' })]);
  });

  test('or a passkey as the only step, wrong, unknown or of somebody suspended', async () => {
    const send = await begin();
    const wrong = { ...tried, method: 'PASSKEY', reason: 'CREDENTIAL' };
    expect(await failing(() => forged(send))).toEqual([expected(wrong)]);
    const stranger = createAuthenticator(new URL(service.app.services.baseUrl).origin);
    stranger.create(options);
    const unknown = await failing(async () => {
      const { options: asked } = await step(send, 'startPasskey');
      await step(send, 'verifyPasskey', { response: stranger.get(asked) });
    });
    expect(unknown).toEqual([expected({ ...wrong, identifierType: null, userId: null })]);
    await suspend(id);
    const suspended = await failing(async () => {
      const { options: asked } = await step(send, 'startPasskey');
      await step(send, 'verifyPasskey', { response: authenticator.get(asked) });
    });
    expect(suspended).toEqual([expected({ ...wrong, reason: 'SUSPENDED' })]);
  });
});

test('a proof at the account', async () => {
  const { id, username } = await createPerson();
  const me = await fixture.signInTo(username);
  const [found] = await failing(() => me.run('verifyViewerPassword', { password: 'wrong' }));
  expect(found).toEqual({
    ...here,
    applicationId: expect.stringMatching(/^app_/),
    method: 'PASSWORD',
    reason: 'CREDENTIAL',
    identifierType: 'username',
    userId: id,
  });
});

test('the form of the page', async () => {
  const { id, username: identifier } = await createPerson();
  const browser = openBrowser(service.app.services.baseUrl);
  const { visit } = await openSignInPage(service, fixture.client, { browser });
  const [found] = await failing(() => browser.submit(visit, { identifier, password: 'wrong' }));
  expect(found).toMatchObject({ applicationId: fixture.client.id, method: 'PASSWORD', userId: id });
});
