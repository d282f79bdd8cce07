import { decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { expect } from 'vitest';
import { redirectUri } from '../../../support/people/sign-in-fixture.ts';
import { claimsOfScopes, entropyOf, expectPublicKeys, hashOf } from '../conditions.ts';
import { claimsOf, type Module, type Run } from '../run.ts';

// The claims that any ID token may have; others have to be asked for.
const unasked = [
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'azp'],
  ...['at_hash', 'c_hash', 'nbf', 'jti', 'sid', 's_hash'],
];

/** The code, the tokens and their claims are as they should be. */
async function expectHappyFlow(run: Run): Promise<void> {
  const asked = await run.ask();
  const visit = await run.signIn(await run.open(asked));
  const code = visit.url.searchParams.get('code') ?? '';
  expect(code.length * 8).toBeGreaterThanOrEqual(128);
  expect(entropyOf(code)).toBeGreaterThan(96);
  const tokens = await run.redeem(asked, visit);
  run.recommend(Number(tokens.expires_in) > 0);
  const idToken = claimsOf(tokens);
  for (const [claim, value] of [
    ['at_hash', tokens.access_token],
    ['c_hash', code],
  ] as const) {
    if (claim in idToken) expect(idToken[claim]).toBe(hashOf(value));
  }
  run.recommend(!('name' in idToken));
  run.recommend(Object.keys(idToken).every((claim) => unasked.includes(claim)));
  await expectPublicKeys(String(run.metadata.jwks_uri));
  await run.userInfo(tokens);
}

/** Signs in with a scope, and user info has all claims that it stands for. */
const scope =
  (value: string): Module =>
  async (run) => {
    const scopes = value.split(' ');
    if (!scopes.every((name) => run.metadata.scopes_supported?.includes(name))) return run.skip();
    const tokens = await run.complete(await run.ask({ scope: value }));
    const claims = await run.userInfo(tokens);
    const missing = scopes
      .flatMap((name) => claimsOfScopes[name] ?? [])
      .filter((name) => !(name in claims));
    run.recommend(missing.length === 0);
  };

/** The plain flow, the ID token and the scopes. */
export const responses = {
  'oidcc-server': expectHappyFlow,

  async 'oidcc-response-type-missing'(run) {
    const asked = await run.ask({ response_type: undefined });
    const visit = await run.open(asked);
    run.expectError(asked, visit, 'unsupported_response_type', 'invalid_request');
  },

  async 'oidcc-idtoken-signature'(run) {
    const application = await run.register({ idTokenSigningAlg: 'RS256' });
    run.config = await run.configure(application);
    const tokens = await run.complete(await run.ask());
    expect(decodeProtectedHeader(tokens.id_token ?? '')).toMatchObject({
      alg: 'RS256',
      kid: expect.stringMatching(/./),
    });
  },

  async 'oidcc-idtoken-unsigned'(run) {
    expect(run.metadata.id_token_signing_alg_values_supported).not.toContain('none');
    run.skip();
  },

  async 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow'(run) {
    const asked = await run.ask({ nonce: undefined });
    const tokens = await run.redeem(asked, await run.signIn(await run.open(asked)));
    expect(claimsOf(tokens)).not.toHaveProperty('nonce');
  },

  'oidcc-scope-profile': scope('openid profile'),
  'oidcc-scope-email': scope('openid email'),
  'oidcc-scope-address': scope('openid address'),
  'oidcc-scope-phone': scope('openid phone'),
  'oidcc-scope-all': scope('openid email phone address profile'),

  async 'oidcc-alternate-happy-flow'(run) {
    const asked = await run.ask({ scope: 'email openid' });
    const reversed = [...asked.url.searchParams].sort().reverse();
    asked.url.search = new URLSearchParams(reversed).toString();
    const claims = await run.userInfo(await run.complete(asked));
    run.recommend('email' in claims && 'email_verified' in claims);
  },

  async 'oidcc-server-client-secret-post'(run) {
    expect(run.metadata.token_endpoint_auth_methods_supported).toContain('client_secret_post');
    run.config = await run.configure(run.client, oidc.ClientSecretPost(run.client.secret));
    await run.complete(await run.ask());
  },

  async 'oidcc-ensure-registered-redirect-uri'(run) {
    const asked = await run.ask({
      redirect_uri: `${redirectUri}/${oidc.randomState().slice(0, 10)}`,
    });
    const visit = await run.open(asked);
    expect(visit.url.href).toBe(asked.url.href);
    run.review(visit, { status: 400, text: /invalid_redirect_uri/ });
  },

  async 'oidcc-ensure-post-request-succeeds'(run) {
    const asked = await run.ask();
    const { origin, pathname, searchParams: body } = asked.url;
    const page = await run.browser.open(`${origin}${pathname}`, { method: 'POST', body });
    await run.complete(asked, page);
  },
} satisfies Record<string, Module>;
