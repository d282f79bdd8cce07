import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import { accessTokenType, exchange, exchangeGrantType, userToken } from '../../support/tokens.ts';

const service = await startService();
const { issuer, keys, database } = service.app.services;
const directory = seedDirectory(database, service.clock);

const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
const orders = await directory.createResource(['read', 'write', 'refund'], {
  accessTokenTtlSeconds: 600,
});
const user = await directory.createUser();
await directory.allowUser(user, orders, ['read', 'write']);

const verify = (token: string) =>
  jwtVerify(token, createLocalJWKSet(keys.jwks()), {
    issuer,
    typ: 'at+jwt',
    currentDate: service.clock.now(),
  });

/** Exchanges and returns the answer with the claims of its token. */
async function exchangeFor(parameters: Record<string, string | undefined>, client = backend) {
  const answer = await exchange(service, client, { resource: orders.indicator, ...parameters });
  expect(answer).toMatchObject({ status: 200 });
  const { payload } = await verify(answer.body['access_token'] as string);
  return { ...answer, claims: payload };
}

test('answers by RFC 8693 §2.2.1, without caching', async () => {
  const subjectToken = await userToken(service, user.id, frontend);
  const { status, headers, body } = await exchangeFor({
    subject_token: subjectToken,
    scope: 'read write',
    requested_token_type: accessTokenType,
  });
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('pragma')).toBe('no-cache');
  expect(body).toEqual({
    access_token: expect.any(String),
    issued_token_type: accessTokenType,
    token_type: 'Bearer',
    expires_in: 600,
    scope: 'read write',
  });
});

test('issues an RFC 9068 token with the client as actor', async () => {
  const subjectToken = await userToken(service, user.id, frontend);
  const { body, claims } = await exchangeFor({ subject_token: subjectToken, scope: 'read' });
  const now = Math.floor(service.clock.now().getTime() / 1000);
  expect(decodeProtectedHeader(body['access_token'] as string)).toEqual({
    typ: 'at+jwt',
    alg: 'ES256',
    kid: keys.current().kid,
  });
  expect(claims).toEqual({
    iss: issuer,
    sub: user.id,
    aud: orders.indicator,
    client_id: backend.id,
    scope: 'read',
    iat: expect.any(Number),
    exp: (claims.iat as number) + 1 + 600,
    jti: expect.any(String),
    act: { sub: backend.id },
    'urn:signet:lineage': [decodeJwt(subjectToken).jti, frontend.id],
    // For nodes of the version before.
    lineage: [decodeJwt(subjectToken).jti, frontend.id],
  });
  expect(claims.iat).toBeLessThan(now);
  expect(claims.jti).not.toBe(decodeJwt(subjectToken).jti);
});

test('accepts the client’s credentials in the body too', async () => {
  const subjectToken = await userToken(service, user.id, frontend);
  const response = await fetch(`${service.url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: exchangeGrantType,
      client_id: backend.id,
      client_secret: backend.secret,
      subject_token: subjectToken,
      subject_token_type: accessTokenType,
      resource: orders.indicator,
    }),
  });
  expect(response.status).toBe(200);
});

test('exchanges an exchanged token, with its chain of actors', async () => {
  const second = await directory.createClient({ allowTokenExchange: true });
  const third = await directory.createClient({ allowTokenExchange: true });
  const first = await exchangeFor({ subject_token: await userToken(service, user.id, frontend) });
  const next = await exchangeFor({ subject_token: first.body['access_token'] as string }, second);
  const { claims } = await exchangeFor(
    { subject_token: next.body['access_token'] as string, scope: 'read' },
    third,
  );
  expect(claims).toMatchObject({ sub: user.id, client_id: third.id, scope: 'read' });
  expect(claims['act']).toEqual({
    sub: third.id,
    act: { sub: second.id, act: { sub: backend.id } },
  });
});

describe('lifetime', () => {
  test("is the resource's", async () => {
    const lasting = await directory.createResource([]);
    const { body, claims } = await exchangeFor({
      subject_token: await userToken(service, user.id, frontend, { exp: 4_000_000_000 }),
      resource: lasting.indicator,
    });
    expect(body['expires_in']).toBe(3600);
    expect((claims.exp as number) - (claims.iat as number)).toBe(3601);
  });

  test('never exceeds that of the subject token', async () => {
    const exp = Math.floor(service.clock.now().getTime() / 1000) + 90;
    const { body, claims } = await exchangeFor({
      subject_token: await userToken(service, user.id, frontend, { exp }),
    });
    expect(claims.exp).toBe(exp);
    expect(body['expires_in']).toBe(exp - (claims.iat as number) - 1);
  });
});

describe('scopes', () => {
  const granted = async (scope: string | undefined, organizationId?: string) =>
    (
      await exchangeFor({
        subject_token: await userToken(service, user.id, frontend),
        scope,
        organization_id: organizationId,
      })
    ).body['scope'];

  test('are none if none are requested', async () => {
    expect(await granted(undefined)).toBe('');
    expect(await granted('')).toBe('');
  });

  test('are the requested ones that the user holds, each once', async () => {
    expect(await granted('write nothing refund read write')).toBe('write read');
    expect(await granted('nothing')).toBe('');
  });

  test('are those of this resource only', async () => {
    const other = await directory.createResource(['refund']);
    await directory.allowUser(user, other, ['refund']);
    expect(await granted('refund')).toBe('');
  });

  test('are those held now, not at sign-in', async () => {
    const { body } = await exchangeFor({
      subject_token: await userToken(service, user.id, frontend, { scope: 'refund' }),
      scope: 'refund read',
    });
    expect(body['scope']).toBe('read');
  });
});

describe('organizations', async () => {
  const member = await directory.createUser();
  await directory.allowUser(member, orders, ['read']);
  const [berlin, paris] = [
    await directory.createOrganization(),
    await directory.createOrganization(),
  ];
  await directory.addMember(berlin, member, {
    resource: orders,
    resourceScopes: ['write'],
    organizationScopes: ['invite', 'bill'],
  });
  await directory.addMember(paris, member, {
    resource: orders,
    resourceScopes: ['refund'],
    organizationScopes: ['close'],
  });

  const ask = async (parameters: Record<string, string | undefined>) =>
    exchange(service, backend, {
      subject_token: await userToken(service, member.id, frontend),
      resource: orders.indicator,
      scope: 'read write refund',
      ...parameters,
    });

  test('without one the roles in every organization count', async () => {
    const { body } = await ask({});
    expect(body['scope']).toBe('read write refund');
    expect(decodeJwt(body['access_token'] as string)).not.toHaveProperty('organization_id');
  });

  test('with one, only global roles and its roles count', async () => {
    const { body } = await ask({ organization_id: berlin.id });
    expect(body['scope']).toBe('read write');
    expect(decodeJwt(body['access_token'] as string)).toMatchObject({
      organization_id: berlin.id,
      scope: 'read write',
    });
  });

  test('a foreign or unknown one is refused', async () => {
    const elsewhere = await directory.createOrganization();
    for (const id of [elsewhere.id, 'org_01h455vb4pex5vsknk084sn02q', 'berlin', 'a\0b']) {
      expect(await ask({ organization_id: id })).toMatchObject({
        status: 400,
        body: { error: 'invalid_target' },
      });
    }
  });

  test('its own token has the organization scopes held there', async () => {
    const indicator = `urn:signet:organization:${berlin.id}`;
    const { body } = await ask({ resource: indicator, scope: 'close bill invite read' });
    expect(body).toMatchObject({ scope: 'bill invite', expires_in: 3600 });
    expect(decodeJwt(body['access_token'] as string)).toMatchObject({
      sub: member.id,
      aud: indicator,
      organization_id: berlin.id,
      scope: 'bill invite',
    });
  });

  test('its own token is only for its members', async () => {
    const elsewhere = await directory.createOrganization();
    const refused = { status: 400, body: { error: 'invalid_target' } };
    const of = (id: string) => `urn:signet:organization:${id}`;
    expect(await ask({ resource: of(elsewhere.id) })).toMatchObject(refused);
    expect(await ask({ resource: of('') })).toMatchObject(refused);
    expect(await ask({ resource: of(berlin.id), organization_id: paris.id })).toMatchObject(
      refused,
    );
    expect(
      await ask({ resource: of(berlin.id), organization_id: berlin.id, scope: 'bill' }),
    ).toMatchObject({ status: 200, body: { scope: 'bill' } });
  });
});

describe('permission', () => {
  const subjectToken = () => userToken(service, user.id, frontend);

  test.each(['TRADITIONAL', 'MACHINE_TO_MACHINE'] as const)(
    '%s applications with the exchange switched on',
    async (type) => {
      const client = await directory.createClient({ type, allowTokenExchange: true });
      await exchangeFor({ subject_token: await subjectToken() }, client);
    },
  );

  test.each([
    ['TRADITIONAL', false],
    ['MACHINE_TO_MACHINE', false],
    ['SPA', true],
    ['NATIVE', true],
  ] as const)('not %s applications with the exchange at %s', async (type, allowTokenExchange) => {
    const client = await directory.createClient({ type, allowTokenExchange });
    expect(
      await exchange(service, client, {
        subject_token: await subjectToken(),
        resource: orders.indicator,
      }),
    ).toMatchObject({
      status: 400,
      body: {
        error: 'unauthorized_client',
        error_description: 'token exchange is not allowed for this application',
      },
    });
  });

  test('an application switched off is refused at the next call', async () => {
    const client = await directory.createClient({ allowTokenExchange: true });
    await exchangeFor({ subject_token: await subjectToken() }, client);
    await database.prisma.application.update({
      where: { id: client.id },
      data: { allowTokenExchange: false },
    });
    expect(
      await exchange(service, client, {
        subject_token: await subjectToken(),
        resource: orders.indicator,
      }),
    ).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } });
  });
});

describe('narrowing', async () => {
  const allowed = await directory.createResource(['read']);
  const narrow = await directory.createClient({
    allowTokenExchange: true,
    exchangeSubjectAudiences: ['https://gateway.example.com/api'],
    exchangeResources: [allowed.indicator],
  });
  const ask = async (aud: string, resource: string) =>
    exchange(service, narrow, {
      subject_token: await userToken(service, user.id, frontend, { aud }),
      resource,
    });

  test('lets through a listed audience and a listed resource', async () => {
    expect(await ask('https://gateway.example.com/api', allowed.indicator)).toMatchObject({
      status: 200,
    });
  });

  test('refuses a subject token for an unlisted audience', async () => {
    expect(await ask('https://other.example.com', allowed.indicator)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('refuses a resource that is not listed', async () => {
    expect(await ask('https://gateway.example.com/api', orders.indicator)).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
  });
});

describe('client libraries', () => {
  const server: oauth.AuthorizationServer = { issuer, token_endpoint: `${service.url}/oidc/token` };

  test('oauth4webapi exchanges with Basic and accepts the answer', async () => {
    const client: oauth.Client = { client_id: backend.id };
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.ClientSecretBasic(backend.secret),
      exchangeGrantType,
      {
        subject_token: await userToken(service, user.id, frontend),
        subject_token_type: accessTokenType,
        resource: orders.indicator,
        scope: 'read',
      },
      { [oauth.allowInsecureRequests]: true },
    );
    const answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
    expect(answer).toMatchObject({ token_type: 'bearer', scope: 'read', expires_in: 600 });
  });

  test('openid-client exchanges with the secret in the body', async () => {
    const configuration = new openid.Configuration(
      server,
      backend.id,
      undefined,
      openid.ClientSecretPost(backend.secret),
    );
    openid.allowInsecureRequests(configuration);
    const answer = await openid.genericGrantRequest(configuration, exchangeGrantType, {
      subject_token: await userToken(service, user.id, frontend),
      subject_token_type: accessTokenType,
      resource: orders.indicator,
      scope: 'write',
    });
    expect(answer).toMatchObject({ token_type: 'bearer', scope: 'write' });
    expect(answer.expiresIn()).toBeGreaterThan(0);
  });

  test('oauth4webapi reads a refusal', async () => {
    const client: oauth.Client = { client_id: backend.id };
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.ClientSecretBasic('not the secret'),
      exchangeGrantType,
      { subject_token: 'x', subject_token_type: accessTokenType, resource: orders.indicator },
      { [oauth.allowInsecureRequests]: true },
    );
    await expect(
      oauth.processGenericTokenEndpointResponse(server, client, response),
    ).rejects.toMatchObject({ code: oauth.WWW_AUTHENTICATE_CHALLENGE, status: 401 });
  });
});
