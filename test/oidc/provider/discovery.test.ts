import { createRemoteJWKSet, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { toNumericDate } from '../../../src/clock.ts';
import { signingAlgorithms } from '../../../src/config.ts';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { createSigningKey } from '../../../src/keys/signing-keys.ts';
import { basic } from '../../support/client-credentials.ts';
import { discover, openBrowser } from '../../support/people/sign-in.ts';
import { authorize, createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { issuer, baseUrl, keys, cipher, clock } = service.app.services;
const fixture = await createSignInFixture(service);
const { database, client, resource, user } = fixture;

const getJson = async (url: string) => {
  const response = await fetch(url);
  return { headers: response.headers, body: (await response.json()) as Record<string, unknown> };
};

test('describes itself alike at all its addresses', async () => {
  const openid = await getJson(`${issuer}/.well-known/openid-configuration`);
  const oauth2 = await getJson(`${baseUrl}/.well-known/oauth-authorization-server/oidc`);
  expect(oauth2.body).toEqual(openid.body);
  const inserted = await getJson(`${baseUrl}/.well-known/openid-configuration/oidc`);
  expect(inserted.body).toEqual(openid.body);
  for (const { headers } of [openid, oauth2, inserted]) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  }
  expect(openid.body).toMatchObject({
    issuer,
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:token-exchange',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ],
    identity_chaining_requested_token_types_supported: ['urn:ietf:params:oauth:token-type:id-jag'],
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'none',
      'private_key_jwt',
    ],
    response_types_supported: ['code'],
    scopes_supported: ['openid', 'profile', 'email', 'phone', 'offline_access'],
    id_token_signing_alg_values_supported: ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'],
  });
});

test('takes no requests as JWTs, and says so', async () => {
  const { body } = await getJson(`${issuer}/.well-known/openid-configuration`);
  expect(body).toMatchObject({
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  });
  expect(Object.keys(body).filter((name) => name.startsWith('request_object'))).toEqual([]);
  const { url } = await authorize(service, client, { scope: 'openid' });
  const { privateKey } = await generateKeyPair('ES256');
  const now = toNumericDate(clock.now());
  const request = await new SignJWT({ ...Object.fromEntries(url.searchParams), nbf: now })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(client.id)
    .setAudience(issuer)
    .setExpirationTime(now + 60)
    .sign(privateKey);
  url.searchParams.set('request', request);
  const { url: answer } = await openBrowser(baseUrl).open(url);
  expect(answer.searchParams.get('error')).toBe('request_not_supported');
  const pushed = await fetch(`${issuer}/request`, {
    method: 'POST',
    headers: { authorization: basic(client.id, client.secret) },
    body: new URLSearchParams({ request }),
  });
  expect(pushed.status).toBe(400);
  expect(await pushed.json()).toMatchObject({ error: 'request_not_supported' });
});

test.each(['oidc', 'oauth2'] as const)(
  'oauth4webapi finds it by the rules of %s',
  async (algorithm) => {
    const options = { algorithm, [oauth.allowInsecureRequests]: true };
    const response = await oauth.discoveryRequest(new URL(issuer), options);
    const server = await oauth.processDiscoveryResponse(new URL(issuer), response);
    expect(server.issuer).toBe(issuer);
  },
);

test('has an endpoint behind every address that it names', async () => {
  const { body } = await getJson(`${issuer}/.well-known/openid-configuration`);
  const endpoints = Object.entries(body).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
  expect(endpoints).toHaveLength(9);
  for (const [name, url] of endpoints) {
    const method = /token|introspection|revocation|pushed|device/.test(name) ? 'POST' : 'GET';
    const { status } = await fetch(String(url), { method });
    expect([200, 400, 401], name).toContain(status);
  }
});

test('publishes its keys without their private halves', async () => {
  const { body, headers } = await getJson(`${issuer}/jwks`);
  expect(body).toEqual(keys.jwks());
  expect(JSON.stringify(body)).not.toContain('"d"');
  expect(headers.get('content-type')).toContain('application/jwk-set+json');
  expect(headers.get('access-control-allow-origin')).toBe('*');
});

test.each(signingAlgorithms)(
  'a new %s key signs; the old one still verifies',
  async (algorithm) => {
    const jwks = createRemoteJWKSet(new URL(`${issuer}/jwks`), { cooldownDuration: 0 });
    const request = { resource: resource.indicator, scope: 'openid read' };
    const before = await fixture.signIn(request);
    await jwtVerify(before.access_token, jwks);

    // As another node does it: this one has not been told.
    const key = await quietTransaction(database, async (tx) => {
      await tx.signingKey.updateMany({
        where: { retiredAt: null },
        data: { retiredAt: clock.now() },
      });
      return createSigningKey(tx, { cipher, clock }, algorithm);
    });
    service.clock.advance(1_000);
    const { body } = await getJson(`${issuer}/jwks`);
    expect(body['keys']).toContainEqual(expect.objectContaining({ kid: key.id, alg: algorithm }));

    const after = await fixture.signIn(request);
    for (const token of [after.access_token, after.id_token ?? '']) {
      const { protectedHeader } = await jwtVerify(token, jwks);
      expect(protectedHeader).toMatchObject({ kid: key.id, alg: algorithm });
    }
    await jwtVerify(before.access_token, jwks);
    const introspected = await oidc.tokenIntrospection(
      await discover(service, client),
      before.access_token,
    );
    expect(introspected).toMatchObject({ active: true, sub: user.id });
  },
);

test('lets in scripts of the application’s origins only', async () => {
  const spa = await fixture.createApplication({
    type: 'SPA',
    corsAllowedOrigins: ['https://admin.example.com'],
  });
  const { access_token: token } = await fixture.signIn({ client: { id: spa.id } });
  const allowed = async (origin: string) => {
    const response = await fetch(`${issuer}/me`, {
      headers: { authorization: `Bearer ${token}`, origin },
    });
    return [response.status, response.headers.get('access-control-allow-origin')];
  };
  expect(await allowed('https://admin.example.com')).toEqual([200, 'https://admin.example.com']);
  expect(await allowed('https://app.example.com')).toEqual([200, 'https://app.example.com']);
  expect(await allowed('https://evil.example.com')).toEqual([400, null]);
});

test('answers the preflight requests of scripts', async () => {
  for (const path of ['/token', '/me', '/token/revocation']) {
    const response = await fetch(`${issuer}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(response.status, path).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
  }
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
