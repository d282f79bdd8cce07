import { decodeJwt } from 'jose';
import type * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { createSignInFixture, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange, userToken } from '../../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, client, resource } = fixture;
const forResource = { resource: resource.indicator };

const errorOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'no error',
    (error: oidc.ResponseBodyError) => error.error,
  );

/** A user who may read by a global role, and write by a role in one of two organizations. */
async function createMember() {
  const user = await fixture.createUser();
  await directory.allowUser(user, resource, ['read']);
  const [writing, other, foreign] = [
    await directory.createOrganization(),
    await directory.createOrganization(),
    await directory.createOrganization(),
  ];
  await directory.addMember(writing, user, {
    resource,
    resourceScopes: ['write'],
    organizationScopes: ['members:read'],
  });
  await directory.addMember(other, user);
  return { user, writing, other, foreign };
}

test('a refresh counts global roles and the organization’s roles', async () => {
  const { user, writing, other } = await createMember();
  const { refresh_token: first = '' } = await fixture.signIn({
    username: user.username ?? '',
    scope: 'openid offline_access read write',
    ...forResource,
  });
  const anywhere = await refresh(service, client, first, forResource);
  expect(decodeJwt(anywhere.access_token)).toMatchObject({ scope: 'read write' });
  expect(decodeJwt(anywhere.access_token)['organization_id']).toBeUndefined();

  const inWriting = await refresh(service, client, anywhere.refresh_token ?? '', {
    ...forResource,
    organization_id: writing.id,
  });
  expect(decodeJwt(inWriting.access_token)).toMatchObject({
    aud: resource.indicator,
    organization_id: writing.id,
    scope: 'read write',
  });

  const inOther = await refresh(service, client, inWriting.refresh_token ?? '', {
    ...forResource,
    organization_id: other.id,
  });
  expect(decodeJwt(inOther.access_token)).toMatchObject({
    organization_id: other.id,
    scope: 'read',
  });
});

test.each(['foreign', 'unknown', 'nonsense'])(
  'a refresh is refused for an organization that is %s',
  async (kind) => {
    const { user, foreign } = await createMember();
    const { refresh_token: token = '' } = await fixture.signIn({
      username: user.username ?? '',
      scope: 'openid offline_access read',
      ...forResource,
    });
    const organization_id = {
      foreign: foreign.id,
      unknown: 'org_01h455vb4pex5vsknk084sn02q',
      nonsense: 'x',
    }[kind] as string;
    expect(
      await errorOf(refresh(service, client, token, { ...forResource, organization_id })),
    ).toBe('invalid_target');
  },
);

test('a sign-in for an organization itself gives its scopes', async () => {
  const { user, writing } = await createMember();
  const indicator = `urn:signet:organization:${writing.id}`;
  const tokens = await fixture.signIn({
    username: user.username ?? '',
    scope: 'openid offline_access members:read members:write',
    resource: indicator,
  });
  const expected = { aud: indicator, organization_id: writing.id, scope: 'members:read' };
  expect(decodeJwt(tokens.access_token)).toMatchObject(expected);
  const refreshed = await refresh(service, client, tokens.refresh_token ?? '', {
    resource: indicator,
  });
  expect(decodeJwt(refreshed.access_token)).toMatchObject(expected);
});

test('a sign-in for a foreign organization gives no token', async () => {
  const { user, foreign } = await createMember();
  const answer = fixture.signIn({
    username: user.username ?? '',
    resource: `urn:signet:organization:${foreign.id}`,
  });
  expect(await errorOf(answer)).toBe('invalid_target');
});

test('an exchanged token stays in the organization of its subject token', async () => {
  const { user, writing, other } = await createMember();
  const backend = await directory.createClient({ allowTokenExchange: true });
  const exchangeFrom = (organization_id: string, parameters: Record<string, string | undefined>) =>
    userToken(service, user.id, client, { organization_id }).then((subject_token) =>
      exchange(service, backend, {
        subject_token,
        scope: 'read write members:read',
        ...forResource,
        ...parameters,
      }),
    );
  for (const parameters of [{}, { organization_id: other.id }]) {
    const { status, body } = await exchangeFrom(other.id, parameters);
    expect({ status, scope: body['scope'] }).toEqual({ status: 200, scope: 'read' });
    expect(decodeJwt(String(body['access_token']))).toMatchObject({ organization_id: other.id });
    const again = await exchange(service, backend, {
      subject_token: String(body['access_token']),
      scope: 'write',
      ...forResource,
    });
    expect(again).toMatchObject({ status: 200, body: { scope: '' } });
  }
  expect(await exchangeFrom(writing.id, {})).toMatchObject({ body: { scope: 'read write' } });
  const ownOf = ({ id }: { id: string }) => ({ resource: `urn:signet:organization:${id}` });
  expect(await exchangeFrom(writing.id, ownOf(writing))).toMatchObject({
    body: { scope: 'members:read' },
  });

  const refused = { status: 400, body: { error: 'invalid_target' } };
  for (const parameters of [
    { organization_id: writing.id },
    ownOf(writing),
    { ...ownOf(writing), organization_id: other.id },
    { organization_id: 'x' },
  ]) {
    expect(await exchangeFrom(other.id, parameters)).toMatchObject(refused);
  }
  await service.app.services.database.prisma.organizationUser.deleteMany({
    where: { organizationId: other.id, userId: user.id },
  });
  expect(await exchangeFrom(other.id, {})).toMatchObject(refused);
});

test('two organizations in one request are refused', async () => {
  const { user, writing, other } = await createMember();
  const indicator = `urn:signet:organization:${writing.id}`;
  const { refresh_token: token = '' } = await fixture.signIn({
    username: user.username ?? '',
    scope: 'openid offline_access members:read',
    resource: indicator,
  });
  const answer = refresh(service, client, token, {
    resource: indicator,
    organization_id: other.id,
  });
  expect(await errorOf(answer)).toBe('invalid_target');
});
