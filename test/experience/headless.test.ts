import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { addressShares } from '../../src/protection/sending.ts';
import { readInteraction, startHeadless, step } from '../support/people/experience.ts';
import { discover } from '../support/people/sign-in.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { resource, user } = fixture;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });

test('signs in with a password, and openid-client redeems the code', async () => {
  const headless = await startHeadless(service, {
    clientId: client.id,
    redirectUri,
    scope: 'openid profile offline_access read',
    resource: resource.indicator,
    nonce: 'once',
  });
  expect(headless.started).toMatchObject({
    __typename: 'StartInteractionPayload',
    interaction: { event: 'SIGN_IN', nextSteps: ['IDENTIFY', 'VERIFY_PASSWORD', 'REGISTER'] },
  });
  const signedIn = await step(headless.send, 'signInWithPassword', {
    identifier: 'ada@example.com',
    password,
  });
  expect(signedIn).toMatchObject({
    __typename: 'SignInWithPasswordPayload',
    interaction: { nextSteps: ['SUBMIT'], identifier: 'ada@example.com' },
  });
  const { redirectTo } = await step(headless.send, 'submitInteraction');
  const url = new URL(redirectTo);
  expect(url.searchParams.get('iss')).toBe(service.app.services.issuer);
  const config = await discover(service, client);
  const tokens = await oidc.authorizationCodeGrant(
    config,
    url,
    { pkceCodeVerifier: headless.verifier, expectedState: headless.state, expectedNonce: 'once' },
    { resource: resource.indicator },
  );
  expect(tokens.claims()).toMatchObject({
    sub: user.id,
    acr: 'urn:signet:aal1',
    amr: ['pwd'],
    auth_time: expect.any(Number),
  });
  expect(decodeJwt(tokens.access_token)).toMatchObject({
    sub: user.id,
    aud: resource.indicator,
    scope: 'read',
    acr: 'urn:signet:aal1',
    amr: ['pwd'],
    auth_time: expect.any(Number),
  });
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
  expect(decodeJwt(refreshed.access_token)).toMatchObject({ amr: ['pwd'], acr: 'urn:signet:aal1' });
  expect(await readInteraction(headless.send)).toBeNull();
});

test('strangers get a share of codes from one address, and no more', async () => {
  const { prisma } = fixture.database;
  const answers = [];
  for (let i = 0; i <= addressShares.SMS; i += 1) {
    const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
    const phone = `+49151123456${String(i).padStart(2, '0')}`;
    answers.push(await step(send, 'sendCode', { purpose: 'SIGN_IN', phone }));
  }
  const last = answers.pop();
  for (const { __typename } of answers) expect(__typename).toBe('SendCodePayload');
  expect(last).toMatchObject({
    __typename: 'RateLimitedError',
    retryAfterSeconds: expect.any(Number),
  });
  expect(await prisma.message.count({ where: { channel: 'SMS' } })).toBe(addressShares.SMS);
});
