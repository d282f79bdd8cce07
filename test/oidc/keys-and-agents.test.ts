import { generateKeyPair, type KeyPair } from 'dpop';
import { calculateJwkThumbprint, decodeJwt, exportJWK, type JWK, SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { createApplication } from '../../src/applications/operations.ts';
import { deviceGrantType } from '../../src/oidc/provider/device/grant.ts';
import { systemActor } from '../../src/services.ts';
import { basic } from '../support/client-credentials.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../support/keys/client-keys.ts';
import { testCall } from '../support/log.ts';
import { startDocumentServer } from '../support/mcp/document-server.ts';
import { allowManagement } from '../support/mcp/sign-in.ts';
import { send } from '../support/operations/graphql.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { accessTokenType, exchangeGrantType, postToken } from '../support/tokens.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true', TRUST_PROXY: '1' });
const otherNode = await startSecondNode(service);
const { baseUrl, issuer } = service.app.services;
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const { directory } = fixture;
const documents = await startDocumentServer();
const minute = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string, variables: object = {}): Promise<any> => {
  const endpoint = { url: service.url, token: await service.managementToken() };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return send<any, object>(endpoint, document, variables);
};
const allow = (clientRegistration: object) =>
  run(
    `mutation ($input: UpdateServiceSettingsInput!) {
       updateServiceSettings(input: $input) { __typename } }`,
    { input: { clientRegistration } },
  );
const change = async (id: string, values: object) =>
  (
    await run(
      `mutation ($input: UpdateApplicationInput!) { changed: updateApplication(input: $input) { __typename } }`,
      { input: { id, ...values } },
    )
  ).data.changed.__typename;
const applicationOf = (metadataUrl: string) =>
  prisma.application.findUniqueOrThrow({ where: { metadataUrl } });

let addresses = 0;
async function post(
  path: string,
  body: string | URLSearchParams,
  headers: Record<string, string> = {},
  at: { url: string } = service,
) {
  addresses += 1;
  const response = await fetch(`${at.url}${path}`, {
    method: 'POST',
    body: body instanceof URLSearchParams ? body.toString() : body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': `198.18.${addresses >> 8}.${addresses & 255}`,
      ...headers,
    },
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: each endpoint answers something else.
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as any };
}
const form = (values: Record<string, string>) => new URLSearchParams(values);

/** Confirms a code as Ada, and allows what is asked. */
async function connect(userCode: string) {
  const browser = openBrowser(baseUrl);
  let visit = await browser.submit(await browser.open('/device'), { user_code: userCode });
  visit = await browser.submit(visit, { confirm: 'yes' });
  visit = await browser.submit(visit, { identifier: 'Ada', password });
  if (visit.url.pathname.endsWith('/consent')) visit = await browser.submit(visit, {});
  expect(visit.body).toContain('Your device is connected');
}

beforeEach(async () => {
  await allow({ metadataDocuments: 'ANY', metadataHosts: null, dynamic: 'OPEN' });
  await prisma.addressCount.deleteMany();
});

describe('a device', async () => {
  const app = await fixture.createApplication({
    type: 'NATIVE',
    redirectUris: [],
    allowDeviceGrant: true,
  });
  const [keys, otherKeys] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const jkt = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
  // The library has no clock of its own, so this signs by hand.
  const proof = async ({ privateKey, publicKey }: KeyPair) => {
    const { kty, crv, x, y } = await exportJWK(publicKey);
    const iat = Math.floor(service.clock.now().getTime() / 1000);
    const claims = { htm: 'POST', htu: `${issuer}/token`, iat, jti: crypto.randomUUID() };
    const header = { alg: 'ES256', typ: 'dpop+jwt', jwk: { kty, crv, x, y } as JWK };
    return { dpop: await new SignJWT(claims).setProtectedHeader(header).sign(privateKey) };
  };

  test('asks for the management API by its URL', async () => {
    await allowManagement(service, fixture.user, 'users:read');
    const asked = form({ client_id: app.id, scope: 'users:read', resource: `${baseUrl}/graphql` });
    const codes = await post('/oidc/device/auth', asked);
    expect(codes).toMatchObject({ status: 200 });
    await connect(codes.body.user_code);
    const got = await post(
      '/oidc/token',
      form({ grant_type: deviceGrantType, device_code: codes.body.device_code, client_id: app.id }),
    );
    expect(decodeJwt(got.body.access_token)).toMatchObject({ aud: 'urn:signet:management' });
  });

  test('of an application that somebody with fewer rights set up asks for consent, until all of that is set anew', async () => {
    const isBound = async (id: string) =>
      !(await prisma.application.findUniqueOrThrow({ where: { id } })).setterScopes.includes('all');
    const narrow = { url: service.url, token: await service.managementToken('applications:write') };
    for (const switched of ['allowDeviceGrant', 'allowHeadlessSignIn']) {
      // biome-ignore lint/suspicious/noExplicitAny: the document is text, so its result has no type.
      const { data } = await send<any, object>(
        narrow,
        `mutation ($input: CreateApplicationInput!) { createApplication(input: $input) {
           ... on CreateApplicationPayload { application { id } } } }`,
        { input: { name: 'Harbour TV', type: 'NATIVE', [switched]: true } },
      );
      const { id } = data.createApplication.application;
      expect(await isBound(id)).toBe(true);
      // Who changes the name has not looked at how people sign in.
      await change(id, { name: 'Harbour television' });
      expect(await isBound(id)).toBe(true);
      await change(id, { [switched]: true });
      expect(await isBound(id)).toBe(false);
    }
  });

  test('has tokens that stay bound to its key, by every way', async () => {
    const asked = form({
      client_id: app.id,
      scope: 'openid offline_access read',
      resource: fixture.resource.indicator,
    });
    const { body: codes } = await post('/oidc/device/auth', asked);
    const poll = async (by: KeyPair) =>
      post(
        '/oidc/token',
        form({ grant_type: deviceGrantType, device_code: codes.device_code, client_id: app.id }),
        await proof(by),
      );
    expect(await poll(otherKeys)).toMatchObject({ body: { error: 'authorization_pending' } });
    await connect(codes.user_code);
    const { body: got } = await poll(keys);
    expect(got.token_type).toBe('DPoP');
    expect(decodeJwt(got.access_token)).toMatchObject({ cnf: { jkt } });
    const refresh = async (headers: Record<string, string>) =>
      post(
        '/oidc/token',
        form({
          grant_type: 'refresh_token',
          refresh_token: got.refresh_token,
          client_id: app.id,
          resource: fixture.resource.indicator,
        }),
        headers,
      );
    expect(await refresh({})).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refresh(await proof(otherKeys))).status).toBe(400);
    const backend = await directory.createClient({
      allowTokenExchange: true,
      exchangeSubjectAudiences: [fixture.resource.indicator],
    });
    const exchanged = async (headers: Record<string, string>) =>
      postToken(
        service,
        form({
          grant_type: exchangeGrantType,
          subject_token: got.access_token,
          subject_token_type: accessTokenType,
          resource: fixture.resource.indicator,
        }),
        { authorization: basic(backend.id, backend.secret), ...headers },
      );
    expect(await exchanged({})).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await exchanged(await proof(otherKeys))).toMatchObject({ status: 400 });
    const told = await post('/oidc/token/introspection', form({ token: got.access_token }), {
      authorization: basic(backend.id, backend.secret),
    });
    expect(told.body).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt } });
    expect(await refresh(await proof(keys))).toMatchObject({ status: 200 });
  });

  test('sends no NUL character, encoded or not, and neither does who pushes a request', async () => {
    const invalid = { status: 400, body: { error: 'invalid_request' } };
    for (const nul of ['\0', '%00']) {
      const asked = `client_id=${app.id}&scope=openid&ui_locales=${nul}`;
      expect(await post('/oidc/device/auth', asked)).toMatchObject(invalid);
      const { url } = await authorize(service, fixture.client);
      const { id, secret } = fixture.client;
      const headers = { authorization: basic(id, secret) };
      const pushed = `${url.searchParams}&ui_locales=${nul}`;
      expect(await post('/oidc/request', pushed, headers)).toMatchObject(invalid);
    }
  });

  test('of an application with keys shows an assertion, which counts once', async () => {
    const key = await createClientKey();
    const context = { ...service.app.services, ...testCall, actor: systemActor };
    const { application } = await createApplication(context, {
      name: 'Hub',
      type: 'TRADITIONAL',
      jwks: { keys: [key.publicJwk] },
      allowSecrets: false,
      allowDeviceGrant: true,
    } as never);
    const assertion = assertionParameters(await signAssertion(service, application.id, key));
    const asked = form({ ...assertion, scope: 'openid' });
    expect((await post('/oidc/device/auth', asked)).status).toBe(200);
    expect((await post('/oidc/device/auth', asked)).status).toBe(401);
    expect(
      (
        await post(
          '/oidc/token',
          form({ ...assertion, grant_type: deviceGrantType, device_code: 'x' }),
          {},
          otherNode,
        )
      ).status,
    ).toBe(401);
  });
});

test('an assertion counts once, also in the second in which it expires', async () => {
  const key = await createClientKey();
  const jwks = { keys: [key.publicJwk] } as never;
  const { id } = await directory.createClient({ type: 'TRADITIONAL', jwks, keySetterScopes: [] });
  service.clock.freeze();
  service.clock.advance(1900 - (service.clock.now().getTime() % 1000));
  const now = Math.floor(service.clock.now().getTime() / 1000);
  const assertion = await signAssertion(service, id, key, { exp: now + 0.5 });
  const asked = form({ ...assertionParameters(assertion), token: 'none' });
  const answers = [];
  for (const at of [service, otherNode])
    answers.push((await post('/oidc/token/revocation', asked, {}, at)).status);
  expect(answers).toEqual([200, 401]);
});

describe('a client that is a document', () => {
  test('is read and judged however its parameter is spelled', async () => {
    const other = 'https://other.example.com/callback';
    const id = documents.client({ redirect_uris: [redirectUri, other] });
    const { url } = await authorize(service, { id });
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(303);
    const { id: applicationId } = await applicationOf(id);
    await allow({ metadataDocuments: 'OFF' });
    for (const known of [id, applicationId])
      for (const name of ['client_id', 'client%5Fid', '%63lient_id']) {
        const asked = await authorize(service, { id: known });
        asked.url.searchParams.delete('client_id');
        const address = `${asked.url}&${name}=${encodeURIComponent(known)}`;
        const { status } = await fetch(address, { redirect: 'manual' });
        expect([name, known === id, status]).toEqual([name, known === id, 400]);
      }
    const asked = await authorize(service, { id });
    const address = asked.url.href.replace('/oidc/auth', '/oidc/%61uth');
    expect((await fetch(address, { redirect: 'manual' })).status).toBeGreaterThanOrEqual(400);
  });

  test('refreshes nothing once it is off, however its parameter is spelled', async () => {
    const id = documents.client();
    const { url, verifier } = await authorize(service, { id }, { scope: 'openid offline_access' });
    const browser = openBrowser(baseUrl);
    let visit = await browser.submit(await browser.open(url), { identifier: 'Ada', password });
    visit = await browser.submit(visit, {});
    const { body } = await post(
      '/oidc/token',
      form({
        grant_type: 'authorization_code',
        client_id: id,
        code: visit.url.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    );
    expect(body.refresh_token).toBeDefined();
    const { id: applicationId } = await applicationOf(id);
    await allow({ metadataDocuments: 'OFF' });
    const asked = `grant_type=refresh_token&refresh_token=${body.refresh_token}`;
    for (const name of ['client_id', 'client%5Fid'])
      expect(await post('/oidc/token', `${asked}&${name}=${applicationId}`)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
  });

  test('pushes its request, and has an address of bounded length', async () => {
    const id = documents.client();
    const { url } = await authorize(service, { id });
    const pushed = await post('/oidc/request', url.searchParams);
    expect(pushed).toMatchObject({ status: 201 });
    const begun = `${issuer}/auth?${form({ client_id: id, request_uri: pushed.body.request_uri })}`;
    expect((await fetch(begun, { redirect: 'manual' })).status).toBe(303);
    const random = Array.from({ length: 300 }, () => crypto.randomUUID()).join('');
    const long = `https://${documents.host}/${random.slice(0, 6000)}`;
    documents.describe(long, {});
    url.searchParams.set('client_id', long);
    expect(await post('/oidc/request', url.searchParams)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect(documents.asked(long)).toBe(0);
  });

  test('uses the device grant by its address, once somebody allows it', async () => {
    const id = documents.client({ client_name: 'Harbour Kiosk' });
    const { url } = await authorize(service, { id });
    await fetch(url, { redirect: 'manual' });
    expect(await post('/oidc/device/auth', form({ client_id: id, scope: 'openid' }))).toMatchObject(
      { status: 400, body: { error: 'unauthorized_client' } },
    );
    const { id: applicationId } = await applicationOf(id);
    expect(await change(applicationId, { allowDeviceGrant: true })).toBe(
      'UpdateApplicationPayload',
    );
    const codes = await post('/oidc/device/auth', form({ client_id: id, scope: 'openid' }));
    expect(codes.status).toBe(200);
    await connect(codes.body.user_code);
    const got = await post(
      '/oidc/token',
      form({ grant_type: deviceGrantType, device_code: codes.body.device_code, client_id: id }),
    );
    expect(got.status).toBe(200);
    expect(decodeJwt(got.body.id_token).aud).toBe(id);
    await allow({ metadataDocuments: 'OFF' });
    for (const known of [id, applicationId])
      expect(
        await post('/oidc/device/auth', form({ client_id: known, scope: 'openid' })),
      ).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  test('gets no code at an address that its document lost while the person signs in', async () => {
    const other = 'https://other.example.com/callback';
    const id = documents.client({ redirect_uris: [redirectUri, other] });
    const { url } = await authorize(service, { id }, { redirect_uri: other });
    const browser = openBrowser(baseUrl);
    const visit = await browser.open(url);
    service.clock.advance(6 * minute);
    documents.describe(id, { redirect_uris: [redirectUri] });
    await fetch((await authorize(service, { id })).url, { redirect: 'manual' });
    expect((await applicationOf(id)).redirectUris).toEqual([redirectUri]);
    const consent = await browser.submit(visit, { identifier: 'Ada', password });
    const done = await browser.submit(consent, {});
    expect([done.status, done.body]).toEqual([
      400,
      expect.stringContaining('invalid_redirect_uri'),
    ]);
    expect(done.url.origin).toBe(new URL(baseUrl).origin);
  });
});
