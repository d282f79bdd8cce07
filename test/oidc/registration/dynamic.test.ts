import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { beforeEach, expect, test } from 'vitest';
import { allowManagement, signInByMcp } from '../../support/mcp/sign-in.ts';
import { send } from '../../support/operations/graphql.ts';
import { createSignInFixture, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { baseUrl, issuer } = service.app.services;
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const day = 24 * 60 * 60_000;

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string, variables: object = {}): Promise<any> => {
  const endpoint = { url: service.url, token: await service.managementToken() };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return send<any, object>(endpoint, document, variables);
};
const allow = (dynamic: string | null) =>
  run(
    `mutation ($input: UpdateServiceSettingsInput!) {
       updateServiceSettings(input: $input) { __typename } }`,
    { input: { clientRegistration: { dynamic } } },
  );
const metadata = {
  client_name: 'Agent',
  application_type: 'web',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
};
async function register(body: unknown, token?: string) {
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
}
const discover = async () =>
  oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { [oauth.allowInsecureRequests]: true }),
  );
const registered = () => prisma.application.count({ where: { origin: 'DYNAMIC_REGISTRATION' } });

beforeEach(async () => {
  await allow('OPEN');
  await prisma.addressCount.deleteMany();
  service.clock.advance(2 * 3_600_000);
});

test('is off until somebody switches it on', async () => {
  await allow(null);
  expect((await discover()).registration_endpoint).toBeUndefined();
  expect(await register(metadata)).toMatchObject({ status: 403, body: { error: 'access_denied' } });
  expect(await registered()).toBe(0);
  await allow('OPEN');
  expect((await discover()).registration_endpoint).toBe(`${issuer}/register`);
});

test('oauth4webapi registers a public application, a third party’s', async () => {
  const response = await oauth.dynamicClientRegistrationRequest(await discover(), metadata, {
    [oauth.allowInsecureRequests]: true,
  });
  const client = await oauth.processDynamicClientRegistrationResponse(response);
  expect(client).toMatchObject({
    ...metadata,
    grant_types: ['authorization_code', 'refresh_token'],
  });
  expect(client).not.toHaveProperty('client_secret');
  const id = client.client_id;
  expect(await prisma.application.findUnique({ where: { id } })).toMatchObject({
    origin: 'DYNAMIC_REGISTRATION',
    isThirdParty: true,
    type: 'SPA',
    setterScopes: [],
  });
  const events = await prisma.event.findMany({ where: { type: 'Application.Created' } });
  expect(events).toContainEqual(
    expect.objectContaining({
      subjectId: id,
      data: expect.objectContaining({ origin: 'DYNAMIC_REGISTRATION' }),
    }),
  );
  const { data } = await run(
    `mutation ($input: UpdateApplicationInput!) { updateApplication(input: $input) { __typename } }`,
    { input: { id, isThirdParty: false } },
  );
  expect(data.updateApplication.__typename).toBe('NotAllowedError');
});

test('a client of MCP registers itself, and a person signs in to it', async () => {
  await allowManagement(service, fixture.user, 'roles:read');
  const { tokens, information, consent } = await signInByMcp(service, {
    serverUrl: `${baseUrl}/graphql`,
    metadata: { application_type: 'web' },
    username: 'Ada',
  });
  expect(consent?.body).toContain('registered itself');
  const { id } = await prisma.application.findFirstOrThrow({
    where: { origin: 'DYNAMIC_REGISTRATION', name: 'Agent' },
    orderBy: { createdAt: 'desc' },
  });
  expect(information.client_id).toBe(id);
  expect(decodeJwt(tokens.access_token)).toMatchObject({ client_id: id, scope: 'roles:read' });
});

test.each<[string, unknown, string]>([
  ['no JSON', '{', 'invalid_client_metadata'],
  ['a list', [], 'invalid_client_metadata'],
  ['no application_type', { ...metadata, application_type: undefined }, 'invalid_client_metadata'],
  ['no name', { ...metadata, client_name: undefined }, 'invalid_client_metadata'],
  ['no redirect URIs', { ...metadata, redirect_uris: undefined }, 'invalid_redirect_uri'],
  ['a script', { ...metadata, redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
  ['no TLS', { ...metadata, redirect_uris: ['http://a.example/'] }, 'invalid_redirect_uri'],
  [
    'a secret',
    { ...metadata, token_endpoint_auth_method: 'client_secret_basic' },
    'invalid_client_metadata',
  ],
  [
    'a scheme of no domain',
    { ...metadata, application_type: 'native', redirect_uris: ['agent:/callback'] },
    'invalid_redirect_uri',
  ],
])('refuses a registration with %s', async (_, body, error) => {
  const before = await registered();
  expect(await register(body)).toMatchObject({ status: 400, body: { error } });
  expect(await registered()).toBe(before);
});

test('a body that is too large, or of another type, is refused', async () => {
  expect((await register({ ...metadata, padding: 'x'.repeat(17_000) })).status).toBe(413);
  const form = await fetch(`${issuer}/register`, {
    method: 'POST',
    body: new URLSearchParams({ client_name: 'Agent' }),
  });
  expect(form.status).toBe(415);
});

test('a token registers as many as it may, until it expires; a refused request uses none up', async () => {
  await allow('INITIAL_ACCESS_TOKEN');
  const expiresAt = new Date(service.clock.now().getTime() + day).toISOString();
  const create = async (maxUses: number) =>
    (
      await run(
        `mutation ($input: CreateRegistrationTokenInput!) { createRegistrationToken(input: $input) {
           ... on CreateRegistrationTokenPayload { token registrationToken { id maxUses } } } }`,
        { input: { expiresAt, maxUses } },
      )
    ).data.createRegistrationToken;
  const { token, registrationToken } = await create(2);
  expect(registrationToken).toMatchObject({ maxUses: 2 });
  for (const wrong of [undefined, '', 'nonsense', await service.managementToken()]) {
    const { status, headers, body } = await register(metadata, wrong);
    expect({ status, body }).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    expect(headers.get('www-authenticate')).toContain('Bearer');
  }
  expect((await register({ ...metadata, redirect_uris: [] }, token)).status).toBe(400);
  const answers = await Promise.all([1, 2, 3, 4].map(() => register(metadata, token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 401, 401]);
  const other = await create(2);
  service.clock.advance(day);
  expect((await register(metadata, other.token)).status).toBe(401);
});

test('a token is listed with its uses, and registers nothing more once it is deleted', async () => {
  await allow('INITIAL_ACCESS_TOKEN');
  const expiresAt = new Date(service.clock.now().getTime() + day).toISOString();
  const { token, registrationToken } = (
    await run(
      `mutation ($input: CreateRegistrationTokenInput!) { createRegistrationToken(input: $input) {
         ... on CreateRegistrationTokenPayload { token registrationToken { id } } } }`,
      { input: { expiresAt, maxUses: 2 } },
    )
  ).data.createRegistrationToken;
  expect((await register(metadata, token)).status).toBe(201);
  const { registrationTokens } = (
    await run('{ registrationTokens(first: 1) { edges { node { id uses maxUses expiresAt } } } }')
  ).data;
  expect(registrationTokens.edges).toEqual([
    { node: { id: registrationToken.id, uses: 1, maxUses: 2, expiresAt } },
  ]);
  await run(
    `mutation ($input: DeleteRegistrationTokenInput!) { deleteRegistrationToken(input: $input) {
       ... on DeleteRegistrationTokenPayload { registrationToken { id } } } }`,
    { input: { id: registrationToken.id } },
  );
  expect((await register(metadata, token)).status).toBe(401);
});

test('an address registers 20 in an hour', async () => {
  const before = await registered();
  const statuses: number[] = [];
  for (let n = 0; n < 22; n += 1) statuses.push((await register(metadata)).status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  expect(await registered()).toBe(before + 20);
  service.clock.advance(3_600_001);
  expect((await register(metadata)).status).toBe(201);
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
