import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { beforeEach, describe, expect, test } from 'vitest';
import { managementIndicator } from '../../../src/auth/scopes.ts';
import { basic } from '../../support/client-credentials.ts';
import { startDocumentServer } from '../../support/mcp/document-server.ts';
import { allowManagement, signInByMcp } from '../../support/mcp/sign-in.ts';
import { send } from '../../support/operations/graphql.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true', MCP: 'true' });
const { baseUrl, issuer } = service.app.services;
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const documents = await startDocumentServer();
const minute = 60_000;
const day = 24 * 60 * minute;

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string, variables: object = {}): Promise<any> => {
  const endpoint = { url: service.url, token: await service.managementToken() };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return send<any, object>(endpoint, document, variables);
};
async function allow(clientRegistration: object) {
  const { data } = await run(
    `mutation ($input: UpdateServiceSettingsInput!) { updateServiceSettings(input: $input) {
       __typename ... on InvalidInputError { issues { path message } } } }`,
    { input: { clientRegistration } },
  );
  return data.updateServiceSettings;
}
const eventsOf = (type: string) => prisma.event.findMany({ where: { type } });
const applicationOf = (metadataUrl: string) =>
  prisma.application.findUnique({ where: { metadataUrl } });

/** The answer to an authorization request: the status, and the page or where it leads. */
async function ask(clientId: string, parameters: Record<string, string> = {}) {
  const { url } = await authorize(service, { id: clientId }, parameters);
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, body: await response.text() };
}
/** Signs Ada in and allows what is asked. */
async function signIn(clientId: string, parameters: Record<string, string> = {}) {
  const { url, verifier } = await authorize(service, { id: clientId }, parameters);
  const browser = openBrowser(baseUrl);
  let visit = await browser.open(url);
  visit = await browser.submit(visit, { identifier: 'Ada', password });
  const consent = visit;
  if (visit.url.pathname.endsWith('/consent')) visit = await browser.submit(visit, {});
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    code: visit.url.searchParams.get('code') ?? '',
    redirect_uri: parameters['redirect_uri'] ?? redirectUri,
    code_verifier: verifier,
  });
  return { consent, visit, ...(await tokens(body)) };
}
async function tokens(body: URLSearchParams) {
  const response = await fetch(`${issuer}/token`, { method: 'POST', body });
  return { status: response.status, tokens: (await response.json()) as Record<string, string> };
}

beforeEach(async () => {
  await allow({ metadataDocuments: 'ANY', metadataHosts: null });
  // The limit of documents for an address is tried below.
  await prisma.addressCount.deleteMany();
  service.clock.advance(minute);
});

test('the setting is off until somebody changes it, and discovery says what it is', async () => {
  const supported = async () => {
    const response = await fetch(`${issuer}/.well-known/openid-configuration`);
    const { client_id_metadata_document_supported: found } = (await response.json()) as Record<
      string,
      unknown
    >;
    return found;
  };
  await allow({ metadataDocuments: null });
  const { data } = await run(
    '{ serviceSettings { clientRegistration { metadataDocuments metadataHosts } } }',
  );
  expect(data.serviceSettings.clientRegistration).toEqual({
    metadataDocuments: 'OFF',
    metadataHosts: [],
  });
  expect(await supported()).toBeUndefined();
  const id = documents.client();
  expect((await ask(id)).status).toBe(400);
  expect(documents.asked(id)).toBe(0);
  await allow({ metadataDocuments: 'LISTED' });
  expect(await supported()).toBe(true);
  expect((await ask(id)).status).toBe(400);
  expect(documents.asked(id)).toBe(0);
  await allow({ metadataHosts: ['LOCALHOST'] });
  expect((await ask(id)).status).toBe(303);
  for (const host of ['localhost:3000', 'https://localhost', 'local host', ''])
    expect(await allow({ metadataHosts: [host] })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['clientRegistration', 'metadataHosts', '0'] }],
    });
});

test('a client of MCP signs in by its document', async () => {
  const id = documents.client({ client_name: 'Garden Agent' });
  await allowManagement(service, fixture.user, 'users:read');
  const { tokens, information, consent } = await signInByMcp(service, {
    serverUrl: `${baseUrl}/mcp`,
    clientMetadataUrl: id,
    scope: 'users:read',
    username: 'Ada',
  });
  expect(information.client_id).toBe(id);
  const application = await applicationOf(id);
  expect(application).toMatchObject({
    name: 'Garden Agent',
    origin: 'METADATA_DOCUMENT',
    isThirdParty: true,
    setterScopes: [],
    type: 'SPA',
    redirectUris: [redirectUri],
  });
  expect(decodeJwt(tokens.access_token)).toMatchObject({
    client_id: application?.id,
    aud: managementIndicator,
    scope: 'users:read',
  });
  expect(consent?.body).toContain(documents.host);
  const read = await fetch(`${baseUrl}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: '{ users { totalCount } }' }),
  });
  expect(await read.json()).toEqual({ data: { users: { totalCount: 1 } } });
  expect(await eventsOf('Application.Created')).toContainEqual(
    expect.objectContaining({
      subjectId: application?.id,
      actor: expect.objectContaining({ type: 'SYSTEM' }),
      data: expect.objectContaining({ origin: 'METADATA_DOCUMENT', metadataUrl: id }),
    }),
  );
});

test('oauth4webapi gets an id token for its own id; the page of consent shows the host', async () => {
  const id = documents.client({ client_name: 'Trusted Bank' });
  const { consent, tokens: got } = await signIn(id, { scope: 'openid profile' });
  expect(consent.body).toContain(documents.host);
  expect(consent.body).toContain('Trusted Bank');
  const { aud } = decodeJwt(got['id_token'] ?? '');
  expect(aud).toBe(id);
  const server = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { [oauth.allowInsecureRequests]: true }),
  );
  const client = { client_id: id };
  const info = await oauth.userInfoRequest(server, client, got['access_token'] ?? '', {
    [oauth.allowInsecureRequests]: true,
  });
  expect(await oauth.processUserInfoResponse(server, client, fixture.user.id, info)).toMatchObject({
    name: 'Ada Lovelace',
  });
  const out = await fetch(`${issuer}/session/end?id_token_hint=${got['id_token']}`);
  expect(out.status).toBe(200);
});

test('a request without a scope gets a token with none, once the person has allowed it', async () => {
  const id = documents.client();
  const asked = { scope: undefined as never, resource: fixture.resource.indicator };
  const { consent, tokens: got, visit } = await signIn(id, asked);
  expect(consent.url.pathname).toMatch(/\/consent$/);
  expect(visit.url.searchParams.get('error')).toBeNull();
  expect(decodeJwt(got['access_token'] ?? '')).toMatchObject({
    scope: '',
    aud: fixture.resource.indicator,
    sub: fixture.user.id,
  });
  expect(await eventsOf('User.Grant.Created')).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ scopes: [] }) }),
  );
  // One of the operator asks nobody.
  const own = await fixture.signIn({ scope: 'openid' });
  expect(own.access_token).toBeDefined();
  const first = await signIn((await fixture.createApplication({ type: 'SPA' })).id, asked);
  expect(decodeJwt(first.tokens['access_token'] ?? '')).toMatchObject({ scope: '' });
});

test('the document is read again when it is not fresh: by the headers, from 5 minutes to 24 hours', async () => {
  const often = documents.client({}, { 'cache-control': 'max-age=1' });
  const seldom = documents.client({}, { 'cache-control': 'public, max-age=31536000' });
  await ask(often);
  await ask(seldom);
  service.clock.advance(4 * minute);
  await ask(often);
  expect(documents.asked(often)).toBe(1);
  service.clock.advance(2 * minute);
  await ask(often);
  expect(documents.asked(often)).toBe(2);
  service.clock.advance(23 * 60 * minute);
  await ask(seldom);
  expect(documents.asked(seldom)).toBe(1);
  service.clock.advance(60 * minute);
  await ask(seldom);
  expect(documents.asked(seldom)).toBe(2);
});

test('a changed document changes the application; a lost redirect URI ends consent and tokens', async () => {
  const other = 'https://other.example.com/callback';
  const id = documents.client({ redirect_uris: [redirectUri, other] });
  const { tokens: got } = await signIn(id, { scope: 'openid offline_access' });
  const application = await applicationOf(id);
  const applicationId = application?.id ?? '';
  expect(await prisma.userGrant.count({ where: { applicationId } })).toBe(1);

  service.clock.advance(6 * minute);
  documents.describe(id, { client_name: 'Renamed', redirect_uris: [redirectUri, other] });
  expect((await ask(id)).status).toBe(303);
  expect(await applicationOf(id)).toMatchObject({ id: applicationId, name: 'Renamed' });
  expect(await prisma.userGrant.count({ where: { applicationId } })).toBe(1);

  service.clock.advance(6 * minute);
  documents.describe(id, { client_name: 'Renamed', redirect_uris: [redirectUri] });
  // Its id here is no way around what the document says now.
  expect((await ask(applicationId, { redirect_uri: other })).status).toBe(400);
  expect(await prisma.userGrant.count({ where: { applicationId } })).toBe(0);
  expect(await eventsOf('User.Grant.Revoked')).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ applicationId }) }),
  );
  const refreshed = await tokens(
    new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: id,
      refresh_token: got['refresh_token'] ?? '',
    }),
  );
  expect(refreshed).toMatchObject({ status: 400, tokens: { error: 'invalid_grant' } });
  const me = await fetch(`${issuer}/me`, {
    headers: { authorization: `Bearer ${got['access_token']}` },
  });
  expect(me.status).toBe(401);
});

test.each([
  ['alone', () => ({})],
  ['and the URL in the body', (id: string) => ({ client_id: id })],
])('HTTP Basic may have the URL as id, with an empty secret, %s', async (_what, more) => {
  const id = documents.client();
  const { tokens: first } = await signIn(id, { scope: 'openid offline_access', prompt: 'consent' });
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: basic(id, '') },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: first['refresh_token'] ?? '',
      ...more(id),
    }),
  });
  expect(response.status).toBe(200);
});

test('HTTP Basic with an empty secret is no way around what is allowed now', async () => {
  const id = documents.client();
  const { tokens: first } = await signIn(id, { scope: 'openid offline_access', prompt: 'consent' });
  const clientId = (await applicationOf(id))?.id ?? '';
  const refresh = async () => {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: basic(clientId, '') },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: first['refresh_token'] ?? '',
      }),
    });
    return { status: response.status, body: await response.json() };
  };
  await allow({ metadataDocuments: null });
  expect(await refresh()).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  await allow({ metadataDocuments: 'ANY' });
  expect(await refresh()).toMatchObject({ status: 200 });
});

test('a document that is not answered any more is good for a day, and errors are kept for 10 s', async () => {
  const id = documents.client();
  await ask(id);
  documents.answer(id, (response) => response.writeHead(500).end());
  service.clock.advance(6 * minute);
  expect((await ask(id)).status).toBe(303);
  expect((await ask(id)).status).toBe(303);
  expect(documents.asked(id)).toBe(2);
  service.clock.advance(10_001);
  expect((await ask(id)).status).toBe(303);
  expect(documents.asked(id)).toBe(3);
  service.clock.advance(day);
  const { id: applicationId } = (await applicationOf(id)) ?? { id: '' };
  expect((await ask(id)).status).toBe(400);
  expect((await ask(applicationId)).status).toBe(400);
  service.clock.advance(10_001);
  documents.describe(id, {});
  expect((await ask(id)).status).toBe(303);
});

describe('a document is refused', () => {
  const refusedBy = async (id: string) => {
    const { status, body } = await ask(id);
    expect(status).toBe(400);
    expect(await applicationOf(id)).toBeNull();
    return body;
  };
  test.each<[string, Record<string, unknown>]>([
    ['of another client', { client_id: 'https://other.example.com/client.json' }],
    ['without redirect URIs', { redirect_uris: [] }],
    ['with a redirect URI without TLS', { redirect_uris: ['http://app.example.com/'] }],
    ['with a redirect URI with a fragment', { redirect_uris: ['https://app.example.com/#a'] }],
    ['with a script as redirect URI', { redirect_uris: ['javascript:alert(1)'] }],
    ['with a secret', { client_secret: 'shared' }],
    ['with another method', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['for another grant', { grant_types: ['client_credentials'] }],
    ['with a name that hides what follows', { client_name: 'Bank\u202e' }],
    ['with a name that is no text', { client_name: ['Bank'] }],
    ['that is longer than 16 KiB', { padding: 'x'.repeat(17_000) }],
  ])('%s', async (_, members) => {
    await refusedBy(documents.client(members));
  });

  test('that is no JSON, a list, or sent elsewhere', async () => {
    const target = documents.client();
    for (const [status, headers, body] of [
      [200, {}, '<html>'],
      [200, {}, '[]'],
      [204, {}, ''],
      [203, {}, '{}'],
      [302, { location: target }, ''],
    ] as const) {
      const id = documents.client();
      documents.answer(id, (response) => response.writeHead(status, headers).end(body));
      await refusedBy(id);
    }
    expect(documents.asked(target)).toBe(0);
  });
});

test('only one spelling of a URL is a client id', async () => {
  const id = documents.client();
  const path = new URL(id).pathname;
  for (const other of [
    `${id}#fragment`,
    `https://user:secret@${documents.host}${path}`,
    `https://${documents.host}/a/..${path}`,
    `https://${documents.host}/a/%2e%2e${path}`,
    `https://${documents.host}/.${path}`,
    `HTTPS://${documents.host}${path}`,
    `https://LOCALHOST:${new URL(id).port}${path}`,
    `https://localhost.:${new URL(id).port}${path}`,
    `https://${documents.host}`,
    `https:/${documents.host}${path}`,
    ` ${id}`,
  ])
    expect((await ask(other)).status, other).toBe(400);
  expect(documents.asked(id)).toBe(0);
});

test('nobody has more than 10 documents a minute read', async () => {
  const ids = Array.from({ length: 12 }, () => documents.client());
  for (const id of ids) await ask(id);
  expect(ids.filter((id) => documents.asked(id) > 0)).toHaveLength(10);
  expect((await ask(ids.at(-1) ?? '')).body).toContain('too many documents');
  expect((await ask(ids[0] ?? '')).status).toBe(303);
  service.clock.advance(minute + 1);
  expect((await ask(ids.at(-1) ?? '')).status).toBe(303);
});

test('many who ask at once have the document read once', async () => {
  const id = documents.client();
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(id)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
  expect(documents.asked(id)).toBe(1);
  expect(await prisma.application.count({ where: { metadataUrl: id } })).toBe(1);
});

test('deleting the application ends its tokens; it stays a third party’s, and as its document says', async () => {
  const id = documents.client();
  const { tokens: got } = await signIn(id, { scope: 'openid offline_access' });
  const applicationId = (await applicationOf(id))?.id ?? '';
  for (const change of [{ isThirdParty: false }, { name: 'Ours' }, { redirectUris: [] }]) {
    const { data } = await run(
      `mutation ($input: UpdateApplicationInput!) { updateApplication(input: $input) { __typename } }`,
      { input: { id: applicationId, ...change } },
    );
    expect(data.updateApplication.__typename).toBe('NotAllowedError');
  }
  await run(`mutation ($id: ID!) { deleteApplication(input: { id: $id }) { __typename } }`, {
    id: applicationId,
  });
  const me = await fetch(`${issuer}/me`, {
    headers: { authorization: `Bearer ${got['access_token']}` },
  });
  expect(me.status).toBe(401);
  const refreshed = await tokens(
    new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: id,
      refresh_token: got['refresh_token'] ?? '',
    }),
  );
  expect(refreshed.status).toBeGreaterThanOrEqual(400);
});

test('an export of the configuration leaves it out', async () => {
  const id = documents.client({ client_name: 'Not Ours' });
  await ask(id);
  const { data } = await run('{ configuration { document } }');
  expect(JSON.stringify(data)).not.toContain('Not Ours');
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
