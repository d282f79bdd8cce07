import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
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
