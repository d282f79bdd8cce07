import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { basic } from '../../support/client-credentials.ts';
import { seedDirectory, type TestClient } from '../../support/operations/directory.ts';
import { startService } from '../../support/service.ts';
import { exchange, formOf, postToken } from '../../support/tokens.ts';

const service = await startService();
const { issuer, keys, database } = service.app.services;
const directory = seedDirectory(database, service.clock);

const worker = await directory.createClient();
const orders = await directory.createResource(['read', 'write', 'refund'], {
  accessTokenTtlSeconds: 900,
});
await directory.allowClient(worker, orders, ['read', 'write']);

const ask = (parameters: Record<string, string | undefined> = {}, client: TestClient = worker) =>
  postToken(
    service,
    formOf({ grant_type: 'client_credentials', resource: orders.indicator, ...parameters }),
    { authorization: basic(client.id, client.secret) },
  );

test('issues an RFC 9068 token for the application itself', async () => {
  const { status, headers, body } = await ask({ scope: 'read' });
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toEqual({
    access_token: expect.any(String),
    token_type: 'Bearer',
    expires_in: 900,
    scope: 'read',
  });
  const { payload, protectedHeader } = await jwtVerify(
    body['access_token'] as string,
    createLocalJWKSet(keys.jwks()),
    { currentDate: service.clock.now() },
  );
  expect(protectedHeader).toEqual({ typ: 'at+jwt', alg: 'ES256', kid: keys.current().kid });
  expect(payload).toEqual({
    iss: issuer,
    sub: worker.id,
    aud: orders.indicator,
    client_id: worker.id,
    scope: 'read',
    iat: expect.any(Number),
    exp: (payload.iat as number) + 1 + 900,
    jti: expect.any(String),
  });
});

test('issues the first application every management scope it asks for', async () => {
  const token = await service.managementToken('all users:read events:read');
  expect(decodeJwt(token)).toMatchObject({
    sub: service.admin.id,
    aud: 'urn:signet:management',
    scope: 'all users:read events:read',
  });
});

test('grants only the scopes of the application’s roles', async () => {
  expect((await ask({ scope: 'write refund nothing read' })).body['scope']).toBe('write read');
  expect((await ask()).body['scope']).toBe('');
});

test('accepts the client’s credentials in the body too', async () => {
  const answer = await postToken(
    service,
    formOf({
      grant_type: 'client_credentials',
      client_id: worker.id,
      client_secret: worker.secret,
      resource: orders.indicator,
    }),
  );
  expect(answer.status).toBe(200);
});

test('its token cannot be exchanged, because it has no user', async () => {
  const backend = await directory.createClient({ allowTokenExchange: true });
  const { body } = await ask();
  expect(
    await exchange(service, backend, {
      subject_token: body['access_token'] as string,
      resource: orders.indicator,
    }),
  ).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
});

describe('organizations', async () => {
  const member = await directory.createClient();
  const [berlin, paris] = [
    await directory.createOrganization(),
    await directory.createOrganization(),
  ];
  await directory.allowClient(member, orders, ['read']);
  await directory.addClient(berlin, member, {
    resource: orders,
    resourceScopes: ['write'],
    organizationScopes: ['bill'],
  });
  await directory.addClient(paris, member, { resource: orders, resourceScopes: ['refund'] });
  const scope = 'read write refund bill';

  test('without one the roles in every organization count', async () => {
    expect((await ask({ scope }, member)).body['scope']).toBe('read write refund');
  });

  test('with one, only global roles and its roles count', async () => {
    const { body } = await ask({ scope, organization_id: berlin.id }, member);
    expect(decodeJwt(body['access_token'] as string)).toMatchObject({
      organization_id: berlin.id,
      scope: 'read write',
    });
  });

  test('a foreign one is refused', async () => {
    const elsewhere = await directory.createOrganization();
    for (const id of [elsewhere.id, 'nowhere']) {
      expect(await ask({ scope, organization_id: id }, member)).toMatchObject({
        status: 400,
        body: { error: 'invalid_target' },
      });
    }
  });

  test('its own token has the organization scopes held there', async () => {
    const resource = `urn:signet:organization:${berlin.id}`;
    const { body } = await ask({ scope, resource }, member);
    expect(decodeJwt(body['access_token'] as string)).toMatchObject({
      sub: member.id,
      aud: resource,
      scope: 'bill',
    });
  });
});

describe('refuses', () => {
  test.each(['TRADITIONAL', 'SPA', 'NATIVE'] as const)('%s applications', async (type) => {
    const client = await directory.createClient({ type, allowTokenExchange: true });
    expect(await ask({}, client)).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    });
  });

  test.each([
    [{ resource: undefined }, 'invalid_request'],
    [{ resource: '' }, 'invalid_request'],
    [{ resource: 'https://unknown.example.com' }, 'invalid_target'],
    [{ resource: 'orders' }, 'invalid_target'],
    [{ resource: `${orders.indicator}#x` }, 'invalid_target'],
    [{ scope: 'read  write' }, 'invalid_scope'],
    [{ scope: '"' }, 'invalid_scope'],
  ])('%j with %s', async (parameters, error) => {
    expect(await ask(parameters)).toMatchObject({ status: 400, body: { error } });
  });

  test('several resources', async () => {
    const form = formOf({ grant_type: 'client_credentials', resource: orders.indicator });
    form.append('resource', orders.indicator);
    expect(
      await postToken(service, form, { authorization: basic(worker.id, worker.secret) }),
    ).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });

  test('a wrong secret, and none', async () => {
    for (const client of [
      { ...worker, secret: 'wrong' },
      { ...worker, id: orders.id },
    ]) {
      expect(await ask({}, client)).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
    }
  });
});

describe('client libraries', () => {
  const server: oauth.AuthorizationServer = { issuer, token_endpoint: `${service.url}/oidc/token` };

  test('oauth4webapi accepts the answer, with either authentication', async () => {
    const client: oauth.Client = { client_id: worker.id };
    for (const authentication of [
      oauth.ClientSecretBasic(worker.secret),
      oauth.ClientSecretPost(worker.secret),
    ]) {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        { resource: orders.indicator, scope: 'read' },
        { [oauth.allowInsecureRequests]: true },
      );
      expect(await oauth.processClientCredentialsResponse(server, client, response)).toMatchObject({
        token_type: 'bearer',
        scope: 'read',
      });
    }
  });

  test('openid-client accepts the answer', async () => {
    const configuration = new openid.Configuration(server, worker.id, worker.secret);
    openid.allowInsecureRequests(configuration);
    expect(
      await openid.clientCredentialsGrant(configuration, {
        resource: orders.indicator,
        scope: 'read',
      }),
    ).toMatchObject({ token_type: 'bearer', scope: 'read', expires_in: 900 });
  });
});
