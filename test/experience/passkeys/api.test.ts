import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import type { User } from '../../../src/generated/prisma/client.ts';
import { settledEvents } from '../../support/events.ts';
import { asProgram, type Headless, startHeadless, step } from '../../support/people/experience.ts';
import { createAuthenticator, type Lies } from '../../support/people/passkeys/authenticator.ts';
import { discover } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { database } = fixture;
const token = await service.managementToken();
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
await changeSettings(service, token, { factors: ['PASSKEY'] });

const { origin } = new URL(service.app.services.baseUrl);
const begin = () => startHeadless(service, { clientId: client.id, redirectUri });

async function signedIn(user: User): Promise<Headless> {
  const headless = await begin();
  const result = await step(headless.send, 'signInWithPassword', {
    identifier: user.username,
    password,
  });
  expect(result).toMatchObject({ __typename: 'SignInWithPasswordPayload' });
  return headless;
}

/** A new person with a passkey on a new authenticator. */
async function withPasskey(settings: Parameters<typeof createAuthenticator>[1] = {}) {
  const user = await fixture.createUser();
  const authenticator = createAuthenticator(origin, settings);
  const headless = await signedIn(user);
  const { options } = await step(headless.send, 'startPasskeyEnrollment');
  const response = authenticator.create(options);
  const confirmed = await step(headless.send, 'confirmPasskey', { response, name: ' My key ' });
  expect(confirmed).toMatchObject({ __typename: 'ConfirmPasskeyPayload' });
  return { user, authenticator, headless, options, response };
}

/** Uses a passkey as the only step. */
async function use(authenticator: ReturnType<typeof createAuthenticator>, lies: Lies = {}) {
  const headless = await begin();
  const { options } = await step(headless.send, 'startPasskey');
  const response = authenticator.get(options, lies);
  return { headless, options, response, result: await verify(headless, response) };
}

const verify = ({ send }: Headless, response: unknown) => step(send, 'verifyPasskey', { response });
const passed = { __typename: 'VerifyPasskeyPayload', interaction: { nextSteps: ['SUBMIT'] } };
const failed = { __typename: 'VerificationFailedError' };

async function redeem({ send, verifier, state }: Headless) {
  const { redirectTo } = await step(send, 'submitInteraction');
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await oidc.authorizationCodeGrant(
    await discover(service, client),
    new URL(redirectTo),
    checks,
  );
  return tokens.claims();
}

describe('a passkey', () => {
  test('is enrolled by a person who signs in, and told as an event', async () => {
    const { user, options, authenticator } = await withPasskey();
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Signet' },
      user: { id: Buffer.from(user.id).toString('base64url'), name: user.username },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      excludeCredentials: [],
      timeout: 300_000,
    });
    const [factor] = await database.prisma.userFactor.findMany({ where: { userId: user.id } });
    expect(factor).toMatchObject({ type: 'PASSKEY', name: 'My key', isBackupEligible: true });
    const seen = await settledEvents(service, token);
    expect(seen.at(-2)).toMatchObject({
      name: 'User.Data.Updated',
      data: { id: user.id, changes: { factors: { from: [], to: ['PASSKEY'] } } },
      actor: { type: 'USER', id: user.id, clientId: client.id },
    });
    expect(seen.at(-1)).toMatchObject({
      name: 'User.Credential.Updated',
      data: {
        userId: user.id,
        credential: 'PASSKEY',
        credentialId: factor?.id,
        change: 'ADDED',
        name: 'My key',
      },
      actor: { type: 'USER', id: user.id, clientId: client.id },
    });
    expect(JSON.stringify(seen)).not.toContain(authenticator.ids[0]);
  });

  test('is the only step of a sign-in', async () => {
    const { user, authenticator } = await withPasskey();
    const { headless, options, result } = await use(authenticator);
    expect(options).toMatchObject({
      rpId: 'localhost',
      allowCredentials: [],
      userVerification: 'required',
    });
    expect(result).toMatchObject(passed);
    expect(await redeem(headless)).toMatchObject({
      sub: user.id,
      amr: ['swk', 'user', 'mfa'],
      acr: 'urn:signet:aal2',
    });
  });

  test.each(['ES256', 'EdDSA', 'RS256'] as const)('can sign by %s', async (algorithm) => {
    const user = await fixture.createUser();
    const authenticator = createAuthenticator(origin);
    const { send } = await signedIn(user);
    const { options } = await step(send, 'startPasskeyEnrollment');
    const response = authenticator.create(options, { algorithm });
    expect(await step(send, 'confirmPasskey', { response })).toMatchObject({
      __typename: 'ConfirmPasskeyPayload',
    });
    expect((await use(authenticator)).result).toMatchObject(passed);
  });
});

describe('verifyPasskey refuses', () => {
  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example.com' }],
    ['a page in a frame of another site', { crossOrigin: true }],
    ['another relying party', { rpId: 'evil.example.com' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['no challenge', { challenge: '' }],
    ['another ceremony', { type: 'webauthn.create' }],
    ['an absent person', { isPresent: false }],
    ['an unverified person', { isVerified: false }],
    ['another key', { forges: true }],
    ['no user handle', { userHandle: null }],
    ['the user handle of another', { userHandle: Buffer.from('user_1').toString('base64url') }],
    ['a passkey that may suddenly be copied', { isBackupEligible: false }],
  ])('%s', async (_case, lies) => {
    const { authenticator } = await withPasskey();
    const { headless, result } = await use(authenticator, lies);
    expect(result).toMatchObject(failed);
    expect(await step(headless.send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
  });
});

describe('a passkey as the second factor', () => {
  const secondStep = async (user: User) => {
    const headless = await signedIn(user);
    const { options } = await step(headless.send, 'startPasskey');
    return { headless, options };
  };

  test('needs no verification of the person, and adds to the methods', async () => {
    const { user, authenticator } = await withPasskey({ isBackupEligible: false });
    const { headless, options } = await secondStep(user);
    expect(options).toMatchObject({
      allowCredentials: [{ id: authenticator.ids[0], type: 'public-key' }],
      userVerification: 'discouraged',
    });
    const lies = { isVerified: false, userHandle: null };
    expect(await verify(headless, authenticator.get(options, lies))).toMatchObject(passed);
    expect(await redeem(headless)).toMatchObject({
      amr: ['pwd', 'hwk', 'user', 'mfa'],
      acr: 'urn:signet:aal2',
    });
  });

  test('cannot be that of another person', async () => {
    const { user } = await withPasskey();
    const other = await withPasskey();
    const { headless, options } = await secondStep(user);
    const response = other.authenticator.get({ ...options, allowCredentials: [] });
    expect(await verify(headless, response)).toMatchObject(failed);
    expect(await step(headless.send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
  });

  test('cannot be added before the one that the person has is shown', async () => {
    const { user } = await withPasskey();
    const headless = await signedIn(user);
    const notAllowed = { code: 'NOT_ALLOWED' };
    expect(await step(headless.send, 'startPasskeyEnrollment')).toMatchObject(notAllowed);
    expect(await step(headless.send, 'submitInteraction')).toMatchObject(notAllowed);
  });

  test('is asked of a person who has one alone', async () => {
    const headless = await signedIn(await fixture.createUser());
    expect(await step(headless.send, 'startPasskey')).toMatchObject({ code: 'NOT_ALLOWED' });
  });

  test('does not take a challenge from before the person was known', async () => {
    const { user, authenticator } = await withPasskey();
    const headless = await begin();
    const { options } = await step(headless.send, 'startPasskey');
    await step(headless.send, 'signInWithPassword', { identifier: user.username, password });
    expect(await verify(headless, authenticator.get(options))).toMatchObject(failed);
  });
});

describe('a challenge', () => {
  test('counts once, in its own interaction', async () => {
    const { authenticator } = await withPasskey();
    const { headless, response, result } = await use(authenticator);
    expect(result).toMatchObject(passed);
    expect(await verify(await begin(), response)).toMatchObject(failed);
    // The same step of the same interaction has the first answer, until there is another step.
    expect(await verify(headless, response)).toEqual(result);
    await step(headless.send, 'startPasskey');
    expect(await verify(headless, response)).toMatchObject(failed);
  });

  test('is used up by a wrong response', async () => {
    const { authenticator } = await withPasskey();
    const { headless, options } = await use(authenticator, { forges: true });
    expect(await verify(headless, authenticator.get(options))).toMatchObject(failed);
  });

  test('ends after five minutes', async () => {
    const { authenticator } = await withPasskey();
    const headless = await begin();
    const { options } = await step(headless.send, 'startPasskey');
    const response = authenticator.get(options);
    service.clock.advance(5 * 60 * 1000 + 1);
    expect(await verify(headless, response)).toMatchObject(failed);
    const renewed = await step(headless.send, 'startPasskey');
    expect(await verify(headless, authenticator.get(renewed['options']))).toMatchObject(passed);
  });

  test('of an enrolment is not one of a sign-in', async () => {
    const { user, authenticator, headless } = await withPasskey();
    const { options } = await step(headless.send, 'startPasskeyEnrollment');
    const { rpId } = { rpId: options.rp.id };
    const response = authenticator.get({ ...options, rpId, allowCredentials: [] });
    expect(await verify(headless, response)).toMatchObject(failed);
    expect(user.id).toBe(Buffer.from(options.user.id, 'base64url').toString());
  });

  test('is answered on any node, once for many responses at once', async () => {
    const node = await startSecondNode(service);
    const { authenticator } = await withPasskey();
    const headless = await begin();
    const { options } = await step(headless.send, 'startPasskey');
    const response = authenticator.get(options);
    const nodes = [asProgram(service, headless.token), asProgram(node, headless.token)];
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        step(nodes[i % 2] as Headless['send'], 'verifyPasskey', { response }),
      ),
    );
    expect(results).toEqual(results.map(() => results[0]));
    expect(results[0]).toMatchObject(passed);
    await step(headless.send, 'startPasskey');
    expect(await verify(headless, response)).toMatchObject(failed);
  });
});

describe('an enrolment', () => {
  test.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example.com' }],
    ['a page in a frame of another site', { crossOrigin: true }],
    ['another relying party', { rpId: 'evil.example.com' }],
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another ceremony', { type: 'webauthn.get' }],
    ['an absent person', { isPresent: false }],
    ['an algorithm that was not offered', { algorithm: 'ES384' }],
  ])('refuses %s', async (_case, lies) => {
    const user = await fixture.createUser();
    const { send } = await signedIn(user);
    const { options } = await step(send, 'startPasskeyEnrollment');
    const response = createAuthenticator(origin).create(options, lies);
    expect(await step(send, 'confirmPasskey', { response })).toMatchObject(failed);
    expect(await database.prisma.userFactor.count({ where: { userId: user.id } })).toBe(0);
  });

  test('cannot be confirmed twice, or by somebody else', async () => {
    const { headless, response } = await withPasskey();
    expect(await step(headless.send, 'confirmPasskey', { response })).toMatchObject(failed);
    const other = await signedIn(await fixture.createUser());
    await step(other.send, 'startPasskeyEnrollment');
    expect(await step(other.send, 'confirmPasskey', { response })).toMatchObject(failed);
  });

  test('does not take the passkey of another person', async () => {
    const { authenticator } = await withPasskey();
    const other = await fixture.createUser();
    const { send } = await signedIn(other);
    const { options } = await step(send, 'startPasskeyEnrollment');
    const id = authenticator.ids[0] ?? '';
    const response = createAuthenticator(origin, { credentialId: id }).create(options);
    expect(await step(send, 'confirmPasskey', { response })).toMatchObject(failed);
    expect(await database.prisma.userFactor.count({ where: { userId: other.id } })).toBe(0);
  });

  test('excludes the passkeys that the person has', async () => {
    const { headless, authenticator } = await withPasskey();
    const { options } = await step(headless.send, 'startPasskeyEnrollment');
    expect(options.excludeCredentials).toMatchObject([{ id: authenticator.ids[0] }]);
  });

  test('names the field of a bad name', async () => {
    const { headless } = await withPasskey();
    const { options } = await step(headless.send, 'startPasskeyEnrollment');
    const response = createAuthenticator(origin).create(options);
    const name = 'x'.repeat(129);
    expect(await step(headless.send, 'confirmPasskey', { response, name })).toMatchObject({
      issues: [{ path: ['name'] }],
    });
  });
});

describe('the counter of signatures', () => {
  test('must go forward where an authenticator counts', async () => {
    const { user, authenticator } = await withPasskey({ countsUses: true });
    expect((await use(authenticator)).result).toMatchObject(passed);
    expect((await use(authenticator, { signCount: 2 })).result).toMatchObject(failed);
    expect((await use(authenticator, { signCount: 0 })).result).toMatchObject(failed);
    expect(service.logged).toContainEqual(
      expect.objectContaining({
        msg: expect.stringContaining('counter went back'),
        userId: user.id,
      }),
    );
    expect((await use(authenticator, { signCount: 4_294_967_295 })).result).toMatchObject(passed);
  });
});

test('a suspended person is refused like an unknown one', async () => {
  const { user, authenticator } = await withPasskey();
  await database.prisma.user.update({ where: { id: user.id }, data: { isSuspended: true } });
  const suspended = await use(authenticator);
  await database.prisma.user.delete({ where: { id: user.id } });
  const unknown = await use(authenticator);
  expect(suspended.result).toMatchObject(failed);
  expect(suspended.result).toEqual(unknown.result);
});

test('failures lock the second factor of the person', async () => {
  const { user, authenticator } = await withPasskey();
  for (let i = 0; i < 9; i += 1)
    expect((await use(authenticator, { forges: true })).result).toMatchObject(failed);
  expect((await use(authenticator, { forges: true })).result).toMatchObject({ code: 'LOCKED' });
  expect((await use(authenticator)).result).toMatchObject({ code: 'LOCKED' });
  const seen = await settledEvents(service, token);
  expect(seen.filter(({ name }) => name === 'Identifier.Lockout')).toMatchObject([
    { data: { type: 'username', value: user.username } },
  ]);
  await database.prisma.addressCount.deleteMany();
});

test('passkeys that are off are neither made nor used', async () => {
  const { authenticator } = await withPasskey();
  const headless = await begin();
  const { options } = await step(headless.send, 'startPasskey');
  await changeSettings(service, token, { factors: [] });
  const notAllowed = { code: 'NOT_ALLOWED' };
  expect(await step(headless.send, 'startPasskey')).toMatchObject(notAllowed);
  expect(await verify(headless, authenticator.get(options))).toMatchObject(notAllowed);
  const other = await signedIn(await fixture.createUser());
  expect(await step(other.send, 'startPasskeyEnrollment')).toMatchObject(notAllowed);
  await changeSettings(service, token, { factors: ['PASSKEY'] });
});
