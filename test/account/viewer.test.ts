import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { fetchClientToken } from '../support/client-credentials.ts';
import { accountIndicator, createAccountFixture, sendAccount } from '../support/people/account.ts';
import { startService } from '../support/service.ts';
import { exchange, userToken } from '../support/tokens.ts';

const service = await startService();
const fixture = await createAccountFixture(service);
const { user, client, createUser, signInTo, database } = fixture;

const everything = `{ viewer { id username primaryEmail primaryPhone isEmailVerified isPhoneVerified name avatar
  profile customData isSuspended hasPassword lastSignInAt createdAt updatedAt
  sessions { totalCount nodes: edges { node { id isCurrent applicationIds ip userAgent authenticationMethods } } }
  organizations { edges { node { id name description } createdAt } } } }`;

describe('the resource', () => {
  test('is there after the first start, with its scopes', async () => {
    const resource = await database.prisma.resource.findUniqueOrThrow({
      where: { indicator: accountIndicator },
      include: { scopes: { orderBy: { name: 'asc' } } },
    });
    expect(resource.scopes.map(({ name }) => name)).toEqual(['account:read', 'account:write']);
  });

  test('is for every person, without a role', async () => {
    const { token } = await signInTo('Ada');
    expect(decodeJwt(token)).toMatchObject({
      sub: user.id,
      aud: accountIndicator,
      scope: 'account:read account:write',
    });
  });

  test('gives the scopes that were asked for alone', async () => {
    const { token } = await signInTo('Ada', { scope: 'openid account:read' });
    expect(decodeJwt(token)['scope']).toBe('account:read');
  });

  test('cannot be changed', async () => {
    const resource = await database.prisma.resource.findUniqueOrThrow({
      where: { indicator: accountIndicator },
    });
    const answer = await fetch(`${service.url}/api/resources/${resource.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${await service.managementToken()}` },
    });
    expect(answer.status).toBe(403);
  });
});

describe('viewer', () => {
  test('shows the own account', async () => {
    const organization = await fixture.directory.createOrganization();
    await database.prisma.organizationUser.create({
      data: { organizationId: organization.id, userId: user.id, createdAt: service.clock.now() },
    });
    const me = await signInTo('Ada');
    const { body } = await me.query(everything);
    expect(body.errors).toBeUndefined();
    expect(body.data?.['viewer']).toMatchObject({
      id: user.id,
      username: 'Ada',
      primaryEmail: 'Ada@example.com',
      isEmailVerified: false,
      hasPassword: true,
      isSuspended: false,
      organizations: { edges: [{ node: { id: organization.id, name: organization.name } }] },
    });
    const sessions = body.data?.['viewer']?.['sessions'].nodes;
    expect(sessions.filter(({ node }: { node: { isCurrent: boolean } }) => node.isCurrent)).toEqual(
      [
        {
          node: expect.objectContaining({
            applicationIds: [client.id],
            authenticationMethods: ['pwd'],
          }),
        },
      ],
    );
  });

  test.each([
    ['roles', '{ viewer { roles { totalCount } } }'],
    [
      'the members of an organization',
      '{ viewer { organizations { edges { node { members { totalCount } } } } } }',
    ],
    ['another person', '{ user(id: "user_01h455vb4pex5vsknk084sn02q") { id } }'],
    ['any record', '{ node(id: "user_01h455vb4pex5vsknk084sn02q") { id } }'],
  ])('does not show %s', async (_what, document) => {
    const me = await signInTo('Ada');
    const { status, body } = await me.query(document);
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('a caller', () => {
  const refused = { status: 401, body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] } };

  test('without a token is refused', async () => {
    expect(await sendAccount(service, undefined, '{ viewer { id } }')).toMatchObject(refused);
  });

  test('with a token for the management API is refused', async () => {
    const token = await service.managementToken();
    expect(await sendAccount(service, token, '{ viewer { id } }')).toMatchObject(refused);
  });

  test('with a token of an application is refused', async () => {
    const machine = await fixture.directory.createClient();
    const token = await fetchClientToken(service, machine, {
      resource: accountIndicator,
      scope: 'account:read',
    });
    expect(decodeJwt(token)).toMatchObject({ aud: accountIndicator, scope: '' });
    expect(await sendAccount(service, token, '{ viewer { id } }')).toMatchObject(refused);
  });

  test('with a scope to read may not write', async () => {
    const me = await signInTo('Ada', { scope: 'openid account:read' });
    expect((await me.query('{ viewer { id } }')).status).toBe(200);
    const answer = await me.query(
      'mutation { updateViewer(input: { name: "Eve" }) { __typename } }',
    );
    expect(answer).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: 'FORBIDDEN', requiredScope: 'account:write' } }] },
    });
  });

  test('with a scope to write may read', async () => {
    const me = await signInTo('Ada', { scope: 'openid account:write' });
    expect((await me.query('{ viewer { id } }')).status).toBe(200);
  });

  test('who was suspended is refused', async () => {
    const eve = await createUser();
    const she = await signInTo(eve.username ?? '');
    await database.prisma.user.update({ where: { id: eve.id }, data: { isSuspended: true } });
    expect(await she.query('{ viewer { id } }')).toMatchObject(refused);
  });

  test('with an exchanged token needs a listed exchange', async () => {
    const backend = await fixture.directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [accountIndicator],
    });
    const subject = await userToken(service, user.id, client);
    const { body } = await exchange(service, backend, {
      subject_token: subject,
      resource: accountIndicator,
      scope: 'account:read account:write',
    });
    const token = String(body['access_token']);
    expect(decodeJwt(token)['scope']).toBe('account:read account:write');
    expect((await sendAccount(service, token, '{ viewer { id } }')).body.data?.['viewer']).toEqual({
      id: user.id,
    });
  });
});

describe('a request', () => {
  test.each([
    ['two root fields', '{ viewer { id } other: viewer { id } }'],
    ['an alias of a root field', '{ me: viewer { id } }'],
  ])('with %s is refused', async (_what, document) => {
    const me = await signInTo('Ada');
    expect(await me.query(document)).toMatchObject({
      status: 400,
      body: { errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] },
    });
  });

  test('with a batch is refused', async () => {
    const { token } = await signInTo('Ada');
    const answer = await fetch(`${service.url}/account/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify([{ query: '{ viewer { id } }' }]),
    });
    expect(answer.status).toBe(400);
  });

  test.each([
    ['GET', {}],
    ['POST', { 'content-type': 'text/plain' }],
    ['POST', { 'content-type': 'application/graphql' }],
  ])('by %s with %o is refused', async (method, headers) => {
    const answer = await fetch(`${service.url}/account/graphql?query=%7Bviewer%7Bid%7D%7D`, {
      method,
      headers: headers as HeadersInit,
      ...(method === 'POST' ? { body: '{ viewer { id } }' } : {}),
    });
    expect(answer.ok).toBe(false);
    await answer.body?.cancel();
  });

  test('may come from any origin, for it shows a token', async () => {
    const answer = await fetch(`${service.url}/account/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
  });
});

test('introspection answers without a token, and not when it is off', async () => {
  const document = '{ __schema { queryType { name } } }';
  expect((await sendAccount(service, undefined, document)).status).toBe(200);
  const closed = await startService({ INTROSPECTION: 'false' });
  expect((await sendAccount(closed, undefined, document)).status).toBe(400);
});
