import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { send } from '../../support/operations/graphql.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { services } = service.app;
const fixture = await createSignInFixture(service);
const { client, user, resource, database } = fixture;
// A second node on the same database.
const node = await startApp({
  config: readConfig({ PORT: '0', BASE_URL: services.baseUrl }),
  log: pino({ level: 'silent' }),
  clock: service.clock,
  opened: { database, secret: 'a secret for tests only' },
});
afterAll(() => node.stop());

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string): Promise<any> => {
  const token = await service.managementToken();
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return (await send<any, Record<string, never>>({ url: service.url, token }, document)).data;
};
const setAlgorithm = (algorithm: string | null) =>
  run(`mutation { updateApplication(input: { id: "${client.id}", idTokenSigningAlg: ${algorithm} }) {
    ... on UpdateApplicationPayload { application { idTokenSigningAlg } } } }`);
const jwks = async () =>
  (await (await fetch(`${service.url}/oidc/jwks`)).json()) as { keys: { alg: string }[] };

/** Signs in as express-openid-connect does by default: it checks for one algorithm, RS256 unless it is told. */
async function signInAsStrict(algorithm = 'RS256', tokenUrl = service.url) {
  const scope = 'openid profile email';
  const { browser, visit, verifier } = await openSignInPage(service, client, {
    browser: openBrowser(services.baseUrl),
    scope,
  });
  const done = await browser.submit(visit, { identifier: 'Ada', password });
  const response = await fetch(`${services.issuer}/.well-known/openid-configuration`);
  const server = {
    ...((await response.json()) as oidc.ServerMetadata),
    token_endpoint: `${tokenUrl}/oidc/token`,
  };
  const configuration = new oidc.Configuration(server, client.id, {
    client_secret: client.secret,
    id_token_signed_response_alg: algorithm,
  });
  oidc.allowInsecureRequests(configuration);
  // Checks the signature too, with the published keys.
  oidc.enableNonRepudiationChecks(configuration);
  return oidc.authorizationCodeGrant(configuration, done.url, { pkceCodeVerifier: verifier });
}

const person = { sub: user.id, name: 'Ada Lovelace', email: 'Ada@example.com' };

test.each([
  ['user info', undefined],
  ['a resource', resource.indicator],
])('the id token has profile and email, for %s', async (_what, of) => {
  const tokens = await fixture.signIn({
    scope: 'openid profile email',
    ...(of ? { resource: of } : {}),
  });
  expect(tokens.claims()).toMatchObject({ ...person, preferred_username: 'Ada' });
  const bare = await fixture.signIn({ ...(of ? { resource: of } : {}) });
  expect(bare.claims()).not.toHaveProperty('name');
  expect(bare.claims()).not.toHaveProperty('email');
});

test('every node signs in RS256 on request, except access tokens', async () => {
  await expect(signInAsStrict()).rejects.toThrow();
  expect(await setAlgorithm('RS256')).toMatchObject({
    updateApplication: { application: { idTokenSigningAlg: 'RS256' } },
  });
  for (const url of [node.url, service.url]) {
    const tokens = await signInAsStrict('RS256', url);
    expect(tokens.claims()).toMatchObject(person);
    expect(decodeProtectedHeader(tokens.id_token ?? '')).toMatchObject({ alg: 'RS256' });
  }
  const { access_token: token } = await fixture
    .signIn({ client: await fixture.createApplication(), resource: resource.indicator })
    .then(({ access_token }) => ({ access_token }));
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256' });
  expect(decodeProtectedHeader(await service.managementToken())).toMatchObject({ alg: 'ES256' });
  expect((await jwks()).keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256']);
  const { signingKeys } = await run(
    '{ signingKeys { edges { node { algorithm isCurrent retiredAt } } } }',
  );
  expect(signingKeys.edges.map(({ node: key }: { node: object }) => key)).toEqual(
    expect.arrayContaining([
      { algorithm: 'ES256', isCurrent: true, retiredAt: null },
      { algorithm: 'RS256', isCurrent: false, retiredAt: null },
    ]),
  );
});

test('its key is created once, and rotates with the other', async () => {
  await setAlgorithm('RS256');
  expect((await jwks()).keys).toHaveLength(2);
  const before = decodeProtectedHeader((await signInAsStrict()).id_token ?? '').kid;
  const { rotateSigningKey: rotated } = await run(
    `mutation { rotateSigningKey(input: {}) { ... on RotateSigningKeyPayload {
      signingKey { id algorithm } retiredSigningKey { algorithm } } } }`,
  );
  expect(rotated).toMatchObject({
    signingKey: { algorithm: 'ES256' },
    retiredSigningKey: { algorithm: 'ES256' },
  });
  // Both wait for as long as verifiers may not know them.
  expect(decodeProtectedHeader((await signInAsStrict()).id_token ?? '').kid).toBe(before);
  service.clock.advance(60_000);
  const after = decodeProtectedHeader((await signInAsStrict()).id_token ?? '');
  expect(after.alg).toBe('RS256');
  expect(after.kid).not.toBe(before);
  expect(services.keys.current().kid).toBe(rotated.signingKey.id);
});

test('null restores the service’s algorithm', async () => {
  await setAlgorithm(null);
  const tokens = await signInAsStrict('ES256');
  expect(decodeJwt(tokens.id_token ?? '')).toMatchObject(person);
});

test('the key set may be cached for seconds', async () => {
  const { headers } = await fetch(`${service.url}/oidc/jwks`);
  const [, seconds] = /^public, max-age=(\d+)$/.exec(headers.get('cache-control') ?? '') ?? [];
  // While more than 30 seconds of it are left, go-oidc 2 does not look for a key that it does not know.
  expect(Number(seconds)).toBeLessThan(30);
});

test('createApplication accepts it too, and no other algorithm', async () => {
  const create = (algorithm: string) =>
    run(`mutation { createApplication(input: { name: "x", type: SPA, redirectUris: ["${redirectUri}"],
      idTokenSigningAlg: ${algorithm} }) { ... on CreateApplicationPayload {
      application { idTokenSigningAlg } } } }`);
  expect(await create('PS256')).toMatchObject({
    createApplication: { application: { idTokenSigningAlg: 'PS256' } },
  });
  expect(await create('HS256')).toBeUndefined();
});
