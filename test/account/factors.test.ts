import { TOTP, URI } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { settingsId } from '../../src/sign-in-experience/settings.ts';
import {
  type AccountClient,
  createAccountFixture,
  endOfLog,
  recordedSince,
} from '../support/people/account.ts';
import { messagesTo } from '../support/people/messages.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { newPerson, signInTo, database } = await createAccountFixture(service);
const { prisma } = database;
await prisma.signInExperience.create({
  data: {
    id: settingsId,
    settings: { factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'] },
    updatedAt: service.clock.now(),
  },
});

// Somebody who declined a factor at the sign-in, and now wants one.
const person = () => newPerson({ enrollmentSkippedAt: service.clock.now() });

const prove = (me: AccountClient) => me.run('verifyViewerPassword', { password });
const required = { __typename: 'VerificationRequiredError' };

function codeOf(uri: string): string {
  const app = URI.parse(uri);
  if (!(app instanceof TOTP)) throw new Error(uri);
  return app.generate({ timestamp: service.clock.now().getTime() });
}

async function addApp(me: AccountClient): Promise<string> {
  const { uri } = await me.run('enrollTotp');
  expect(await me.run('confirmTotp', { code: codeOf(uri), name: 'My phone' })).toMatchObject({
    __typename: 'ConfirmTotpPayload',
  });
  return uri;
}

test('need a proof', async () => {
  const { user, me } = await person();
  const input: Record<string, object> = {
    enrollTotp: {},
    confirmTotp: { code: '123456' },
    createBackupCodes: {},
    startPasskeyEnrollment: {},
    confirmPasskey: { response: {} },
    deleteViewerFactor: { id: 'factor_01h455vb4pex5vsknk084sn02q' },
  };
  for (const [name, values] of Object.entries(input))
    expect(await me.run(name, values)).toMatchObject(required);
  expect(await prisma.userFactor.count({ where: { userId: user.id } })).toBe(0);
});

describe('an authenticator app', () => {
  test('is added, proves who it is, and goes again', async () => {
    const { user, me } = await person();
    await prove(me);
    const start = await endOfLog(service);
    const uri = await addApp(me);
    expect(await recordedSince(service, start)).toMatchObject([
      {
        type: 'User.Data.Updated',
        actor: { type: 'USER', id: user.id },
        data: { changes: { factors: { from: [], to: ['TOTP'] } } },
      },
      { type: 'User.Credential.Updated', data: { credential: 'TOTP', change: 'ADDED' } },
    ]);
    expect(await messagesTo(service, user.primaryEmail ?? '')).toMatchObject([
      { template: 'FACTOR_ADDED' },
    ]);
    service.clock.advance(11 * 60_000);
    expect(await me.run('createBackupCodes')).toMatchObject({
      ...required,
      methods: ['PASSWORD', 'EMAIL_CODE', 'TOTP'],
    });
    expect(await me.run('verifyTotp', { code: '000000' })).toMatchObject({
      __typename: 'VerificationFailedError',
    });
    const code = codeOf(uri);
    expect(await me.run('verifyTotp', { code })).toMatchObject({
      __typename: 'VerifyTotpPayload',
      verifiedUntil: expect.any(String),
    });
    expect(await me.run('verifyTotp', { code })).toMatchObject({
      __typename: 'VerificationFailedError',
    });
    const [factor] = await prisma.userFactor.findMany({ where: { userId: user.id } });
    expect(await me.run('deleteViewerFactor', { id: factor?.id })).toMatchObject({
      __typename: 'DeleteViewerFactorPayload',
    });
    expect(await prisma.userFactor.count({ where: { userId: user.id } })).toBe(0);
  });

  test.each([
    ['Acme: Login & more', 'Acme Login & more'],
    ['A:B', 'A B'],
    [':', ' '],
    ['100 % «Größe»/?#', '100 % «Größe»/?#'],
  ])('has a label with one colon for the product %s', async (productName, shown) => {
    const token = await service.managementToken();
    await changeSettings(service, token, { branding: { productName } });
    const { user, me } = await person();
    await prove(me);
    const { uri } = await me.run('enrollTotp');
    await changeSettings(service, token, { branding: null });
    const [, label = '', query] = /^otpauth:\/\/totp\/([^?/#]*)\?(.*)$/.exec(uri) ?? [];
    // Some apps decode it first, then split it.
    expect(decodeURIComponent(label).split(':')).toEqual([shown, user.primaryEmail]);
    expect(label).toMatch(/^(?:[\w.~!'()*:-]|%[\dA-F]{2})+$/);
    // Apps do not read "+" as a space.
    expect(query?.split('&')).toContain(`issuer=${encodeURIComponent(productName)}`);
  });

  test('is not confirmed by another person or session', async () => {
    const { user, me } = await person();
    const { me: stranger } = await person();
    const other = await signInTo(user.username ?? '');
    await prove(me);
    const { uri } = await me.run('enrollTotp');
    for (const one of [stranger, other]) {
      await prove(one);
      expect(await one.run('confirmTotp', { code: codeOf(uri) })).toMatchObject({
        __typename: 'VerificationFailedError',
      });
    }
  });
});

describe('backup codes', () => {
  test('are made, and each proves once', async () => {
    const { me } = await person();
    await prove(me);
    const { codes } = await me.run('createBackupCodes');
    expect(codes).toHaveLength(10);
    const { body } = await me.query(
      '{ viewer { factors { edges { node { id type name remaining } } } } }',
    );
    expect(body.data?.['viewer']?.['factors'].edges).toMatchObject([
      { node: { type: 'BACKUP_CODES', remaining: 10 } },
    ]);
    service.clock.advance(11 * 60_000);
    expect(await me.run('verifyBackupCode', { code: codes[0] })).toMatchObject({
      __typename: 'VerifyBackupCodePayload',
    });
    expect(await me.run('verifyBackupCode', { code: codes[0] })).toMatchObject({
      __typename: 'VerificationFailedError',
    });
  });
});

test('of another person are not found', async () => {
  const { user, me } = await person();
  const { me: stranger } = await person();
  await prove(me);
  await addApp(me);
  const [factor] = await prisma.userFactor.findMany({ where: { userId: user.id } });
  await prove(stranger);
  expect(await stranger.run('deleteViewerFactor', { id: factor?.id })).toMatchObject({
    __typename: 'NotFoundError',
  });
  expect(await prisma.userFactor.count({ where: { userId: user.id } })).toBe(1);
});

test('lock after too many guesses', async () => {
  const { me } = await person();
  await prove(me);
  await addApp(me);
  for (let guess = 1; guess < 10; guess += 1) await me.run('verifyTotp', { code: '000000' });
  expect(await me.run('verifyTotp', { code: '000000' })).toMatchObject({
    __typename: 'LockedError',
  });
});

test('a passkey begins with options for the own account', async () => {
  const { user, me } = await person();
  await prove(me);
  const { options } = await me.run('startPasskeyEnrollment');
  expect(options).toMatchObject({ user: { name: user.username }, challenge: expect.any(String) });
  expect(await me.run('confirmPasskey', { response: {} })).toMatchObject({
    __typename: 'InvalidInputError',
  });
});
