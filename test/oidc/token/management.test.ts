import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { systemActor } from '../../../src/services.ts';
import { updateUserSuspensionStatus } from '../../../src/users/operations.ts';
import { basic } from '../../support/client-credentials.ts';
import { testCall } from '../../support/log.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange, userToken } from '../../support/tokens.ts';

const service = await startService();
const { issuer } = service.app.services;
const fixture = await createSignInFixture(service);
const { database, directory, user, client, resource } = fixture;
const { prisma } = database;
const context = { ...service.app.services, actor: systemActor, ...testCall };
/** A resource server: it only introspects. */
const machine = await directory.createClient();

const forResource = { resource: resource.indicator, scope: 'openid offline_access read' };

const introspect = async (token: string, by = machine) =>
  oidc.tokenIntrospection(await discover(service, by), token);

const revoke = async (token: string, by: { id: string; secret?: string } = client) =>
  oidc.tokenRevocation(await discover(service, by), token);

/** Posts by hand, for what a client library would not send. */
async function post(
  path: string,
  body: string | URLSearchParams,
  headers: Record<string, string> = { authorization: basic(machine.id, machine.secret) },
) {
  const response = await fetch(`${issuer}/token/${path}`, { method: 'POST', body, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

test('introspects an access token for a resource', async () => {
  const { access_token: token } = await fixture.signIn(forResource);
  const { iat, exp, jti } = decodeJwt(token);
  expect(await introspect(token)).toEqual({
    active: true,
    token_type: 'Bearer',
    iss: issuer,
    sub: user.id,
    aud: resource.indicator,
    client_id: client.id,
    scope: 'read',
    iat,
    exp,
    jti,
  });
});

test('introspects the scope that a token was issued with, after the role was taken away too', async () => {
  const person = await fixture.createUser();
  await directory.allowUser(person, resource, ['read']);
  const { access_token: token } = await fixture.signIn({
    ...forResource,
    username: person.username ?? '',
  });
  const { done } = createMaker(overGraphQL(service, await service.managementToken()));
  await done('replaceUserRoles', { userId: person.id, roleIds: [] });
  expect(await introspect(token)).toMatchObject({ active: true, scope: 'read' });
  const backend = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [resource.indicator],
  });
  expect(
    await exchange(service, backend, {
      subject_token: token,
      resource: resource.indicator,
      scope: 'read',
    }),
  ).toMatchObject({ status: 200, body: { scope: '' } });
});

test('introspects an exchanged token with actors and organization', async () => {
  const organization = await directory.createOrganization();
  await directory.addMember(organization, user);
  const actor = await directory.createClient({ allowTokenExchange: true });
  const { body } = await exchange(service, actor, {
    subject_token: await userToken(service, user.id, client),
    resource: resource.indicator,
    organization_id: organization.id,
  });
  expect(await introspect(String(body['access_token']))).toMatchObject({
    active: true,
    sub: user.id,
    client_id: actor.id,
    act: { sub: actor.id },
    organization_id: organization.id,
  });
});

describe("a third party's client", () => {
  const inactive = { active: false };
  const thirdParty = (values: Parameters<typeof fixture.createApplication>[0] = {}) =>
    fixture.createApplication({ isThirdParty: true, ...values });

  test('sees its own tokens', async () => {
    const party = await thirdParty();
    const token = await userToken(service, user.id, party);
    expect(await introspect(token, party)).toMatchObject({ active: true, client_id: party.id });
    expect(await introspect(token, machine)).toMatchObject({ active: true });
    await revoke(token, party);
    expect(await introspect(token, party)).toEqual(inactive);
  });

  test('sees no others, and revokes none', async () => {
    const party = await thirdParty();
    const { access_token: token, refresh_token: refreshToken = '' } =
      await fixture.signIn(forResource);
    const { access_token: opaque } = await fixture.signIn();
    for (const other of [token, refreshToken, opaque, await service.managementToken()]) {
      expect(await introspect(other, machine)).toMatchObject({ active: true });
      expect(await introspect(other, party)).toEqual(inactive);
      await revoke(other, party);
      expect(await introspect(other, machine)).toMatchObject({ active: true });
    }
  });

  test('sees the tokens for an audience that is listed for it', async () => {
    const party = await thirdParty({ exchangeSubjectAudiences: [resource.indicator] });
    const { access_token: token } = await fixture.signIn(forResource);
    expect(await introspect(token, party)).toMatchObject({ active: true, sub: user.id });
    const other = await userToken(service, user.id, client);
    expect(await introspect(other, party)).toEqual(inactive);
  });

  test("sees none for Signet's own APIs, even if they are listed for it", async () => {
    const party = await thirdParty({ exchangeSubjectAudiences: ['urn:signet:management'] });
    expect(await introspect(await service.managementToken(), party)).toEqual(inactive);
  });

  test('sees the tokens for an organization that it is a member of', async () => {
    const party = await thirdParty();
    const [own, foreign] = [
      await directory.createOrganization(),
      await directory.createOrganization(),
    ];
    await directory.addClient(own, party);
    const tokenFor = ({ id }: { id: string }) =>
      userToken(service, user.id, client, { aud: `urn:signet:organization:${id}` });
    expect(await introspect(await tokenFor(own), party)).toMatchObject({ active: true });
    expect(await introspect(await tokenFor(foreign), party)).toEqual(inactive);
    // An API that serves many organizations is not one of them.
    const within = await userToken(service, user.id, client, { organization_id: own.id });
    expect(await introspect(within, party)).toEqual(inactive);
  });
});

test('introspects an opaque access token and a refresh token', async () => {
  const tokens = await fixture.signIn({ scope: 'openid offline_access' });
  expect(await introspect(tokens.access_token)).toMatchObject({
    active: true,
    client_id: client.id,
    sub: user.id,
    scope: 'openid offline_access',
    token_type: 'Bearer',
  });
  expect(await introspect(tokens.refresh_token ?? '')).toMatchObject({
    active: true,
    sub: user.id,
  });
});

test.each([
  ['garbage', 'garbage'],
  ['a header alone', 'eyJhbGciOiJFUzI1NiJ9'],
  ['an unsigned token', 'eyJhbGciOiJub25lIn0.e30.'],
  ['a NUL character', '\0'],
])('says that %s is not active', async (_case, token) => {
  const { status, text } = await post('introspection', new URLSearchParams({ token }));
  expect({ status, body: JSON.parse(text) as unknown }).toEqual({
    status: 200,
    body: { active: false },
  });
});

test('says that an ID token is not active', async () => {
  const { id_token: token = '' } = await fixture.signIn();
  expect(await introspect(token)).toEqual({ active: false });
});

test('says that an expired token is not active', async () => {
  const token = await userToken(service, user.id, client, { exp: 1 });
  expect(await introspect(token)).toEqual({ active: false });
});

test('reports a suspended user’s tokens as inactive', async () => {
  const person = await fixture.createUser();
  const username = person.username ?? '';
  const tokens = await fixture.signIn({ username, ...forResource });
  const { access_token: opaque } = await fixture.signIn({ username });
  await updateUserSuspensionStatus(context, { id: person.id, isSuspended: true });
  for (const token of [tokens.access_token, tokens.refresh_token ?? '', opaque]) {
    expect(await introspect(token)).toEqual({ active: false });
  }
});

test('reports a deleted application’s tokens as inactive', async () => {
  const application = await fixture.createApplication();
  const tokens = await fixture.signIn({ client: application, ...forResource });
  const { access_token: opaque } = await fixture.signIn({ client: application });
  await prisma.application.delete({ where: { id: application.id } });
  for (const token of [tokens.access_token, tokens.refresh_token ?? '', opaque]) {
    expect(await introspect(token)).toEqual({ active: false });
  }
});

test('revokes an access token for a resource', async () => {
  const { access_token: token, refresh_token: refreshToken = '' } =
    await fixture.signIn(forResource);
  await revoke(token);
  expect(await introspect(token)).toEqual({ active: false });
  const { jti = '', exp = 0 } = decodeJwt(token);
  expect(await prisma.revokedToken.findUnique({ where: { jti } })).toEqual({
    jti,
    expiresAt: new Date(exp * 1000),
  });
  await revoke(token);
  expect(await introspect(refreshToken)).toMatchObject({ active: true });
});

test('revokes an access token that the management API then refuses', async () => {
  const token = await service.managementToken();
  await revoke(token, service.admin);
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ users { edges { node { id } } } }' }),
  });
  expect(response.status).toBe(401);
});

test('revoking a refresh token revokes its sign-in’s tokens', async () => {
  const tokens = await fixture.signIn(forResource);
  const refreshToken = tokens.refresh_token ?? '';
  await revoke(refreshToken);
  expect(await introspect(tokens.access_token)).toEqual({ active: false });
  await expect(refresh(service, client, refreshToken)).rejects.toMatchObject({
    error: 'invalid_grant',
  });
});

test('revokes an opaque access token', async () => {
  const { access_token: token } = await fixture.signIn();
  await revoke(token);
  const response = await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(401);
});

test('revokes no token of another application', async () => {
  const other = await fixture.createApplication();
  const tokens = await fixture.signIn(forResource);
  for (const token of [tokens.access_token, tokens.refresh_token ?? '']) {
    await revoke(token, other);
    expect(await introspect(token)).toMatchObject({ active: true });
  }
});

test('lets a public client revoke its tokens from its origin', async () => {
  const spa = await fixture.createApplication({ type: 'SPA' });
  const { access_token: token } = await fixture.signIn({ client: { id: spa.id }, ...forResource });
  const origin = 'https://app.example.com';
  const body = new URLSearchParams({ token, client_id: spa.id });
  const { status, headers } = await post('revocation', body, { origin });
  expect(status).toBe(200);
  expect(headers.get('access-control-allow-origin')).toBe(origin);
  expect(await introspect(token)).toEqual({ active: false });
});

type Tokens = Awaited<ReturnType<typeof fixture.signIn>>;

test.each([
  ['an access token', (tokens: Tokens) => tokens.access_token],
  ['a refresh token', (tokens: Tokens) => tokens.refresh_token ?? ''],
  ['what is no token', () => 'garbage'],
])('answers the revocation of %s in JSON', async (_kind, token) => {
  const tokens = await fixture.signIn({ ...forResource, scope: 'openid offline_access read' });
  const answer = await post('revocation', new URLSearchParams({ token: token(tokens) }));
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(JSON.parse(answer.text)).toEqual({});
});

test.each(['garbage', 'eyJhbGciOiJub25lIn0.e30.', '\0'])(
  'treats %j as already revoked',
  async (token) => {
    const before = await prisma.revokedToken.count();
    expect((await post('revocation', new URLSearchParams({ token }))).status).toBe(200);
    expect(await prisma.revokedToken.count()).toBe(before);
  },
);

const kinds = [
  ['a JWT', async () => (await fixture.signIn(forResource)).access_token],
  ['an opaque token', async () => (await fixture.signIn()).access_token],
] as const;

test.each(kinds)(
  'introspects and revokes %s only for an authenticated client',
  async (_kind, obtain) => {
    const token = await obtain();
    const { id } = machine;
    for (const path of ['introspection', 'revocation']) {
      for (const headers of [
        { authorization: basic(id, 'not the secret') },
        { authorization: basic(newId('Application'), machine.secret) },
      ]) {
        const answer = await post(path, new URLSearchParams({ token }), headers);
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
        expect(JSON.parse(answer.text)).toMatchObject({ error: 'invalid_client' });
      }
      const claimed = await post(path, new URLSearchParams({ token, client_id: id }), {});
      expect(claimed.status).toBe(401);
    }
    expect(await introspect(token)).toMatchObject({ active: true });
  },
);

test.each(kinds)(
  'reads any number of spaces before the credentials for %s',
  async (_kind, obtain) => {
    const token = await obtain();
    const [scheme, credentials] = basic(machine.id, machine.secret).split(' ');
    for (const authorization of [`${scheme}  ${credentials}`, `bASIC   ${credentials}`]) {
      const { status, text } = await post('introspection', new URLSearchParams({ token }), {
        authorization,
      });
      expect({ status, body: JSON.parse(text) as unknown }).toMatchObject({
        status: 200,
        body: { active: true },
      });
    }
    for (const authorization of [`${scheme}\t${credentials}`, `${scheme}${credentials}`]) {
      const { status } = await post('introspection', new URLSearchParams({ token }), {
        authorization,
      });
      expect(status).toBe(401);
    }
  },
);

test('introspects nothing for a client that cannot keep a secret', async () => {
  const spa = await fixture.createApplication({ type: 'SPA' });
  const { access_token: token } = await fixture.signIn(forResource);
  const answer = await post('introspection', new URLSearchParams({ token, client_id: spa.id }), {});
  expect(answer.status).toBe(401);
});

test.each([
  ['no token', 'a=b', 400],
  ['a repeated parameter', 'token=a&token=b', 400],
  ['an empty body', '', 400],
  ['a body of another type', '{}', 400],
  ['a body that is too large', `token=${'a'.repeat(70_000)}`, 413],
])('refuses %s', async (_case, body, expected) => {
  const headers = {
    authorization: basic(machine.id, machine.secret),
    'content-type': body === '{}' ? 'application/json' : 'application/x-www-form-urlencoded',
  };
  for (const path of ['introspection', 'revocation']) {
    const { status, text, headers: answered } = await post(path, body, headers);
    expect(status).toBe(expected);
    expect(answered.get('cache-control')).toBe('no-store');
    expect(JSON.parse(text)).toMatchObject({ error: 'invalid_request' });
  }
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
