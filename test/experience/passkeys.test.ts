import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import type { User } from '../../src/generated/prisma/client.ts';
import { events } from '../support/events.ts';
import { createAuthenticator, type Lies } from '../support/people/authenticator.ts';
import { type Headless, startHeadless, step } from '../support/people/experience.ts';
import { discover } from '../support/people/sign-in.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

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
    const seen = await events({ url: service.url, token });
    expect(seen.at(-1)).toMatchObject({
      name: 'User.Data.Updated',
      data: { id: user.id, changes: { factors: { from: [], to: ['PASSKEY'] } } },
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
