import { describe, expect, test } from 'vitest';
import { withoutRefusals } from '../support/events.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { allowPrivate, manager } from '../support/people/federation.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const { prisma } = service.app.services.database;
const token = await service.managementToken();
const call = overGraphQL(service, token);
const provider = await startOpenIdProvider();
const values = { name: 'Club', kind: 'SOCIAL', issuer: provider.issuer, clientId: 'signet' };

async function read(query: string): Promise<string> {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return response.text();
}

describe('an issuer', () => {
  test.each([
    ['that names another', { issuer: 'https://other.example.com' }],
    ['without a token endpoint', { token_endpoint: undefined }],
    ['without keys', { jwks_uri: undefined }],
  ])('%s is refused, and nothing is written', async (_name, discovery) => {
    provider.behave({ discovery });
    const before = await prisma.identityProvider.count();
    const refused = await call('createIdentityProvider', values);
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['issuer'] }] });
    expect(await prisma.identityProvider.count()).toBe(before);
    provider.behave({});
  });

  test('that is no OpenID provider is refused', async () => {
    const refused = await call('createIdentityProvider', {
      ...values,
      issuer: `${provider.issuer}/nothing-here`,
    });
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['issuer'] }] });
  });

  test('in a private network is refused, unless allowed', async () => {
    const strict = await startService({}, { resolveHost: async () => ['10.0.0.1'] });
    const strictCall = overGraphQL(strict, await strict.managementToken());
    for (const issuer of [provider.issuer, 'https://inside.example', 'https://127.0.0.1']) {
      expect(await strictCall('createIdentityProvider', { ...values, issuer })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['issuer'] }],
      });
    }
  });
});

test('the client secret is encrypted, and never shown', async () => {
  const { done } = await manager(service);
  const clientSecret = 'a secret to look for';
  const { identityProvider } = await done('createIdentityProvider', { ...values, clientSecret });
  const shown = await read(
    `{ identityProvider(id: "${identityProvider.id}") { name kind issuer clientId hasClientSecret scopes emailDomains enabled redirectUri redirectUriState } }`,
  );
  expect(JSON.parse(shown).data.identityProvider).toEqual({
    name: 'Club',
    kind: 'SOCIAL',
    issuer: provider.issuer,
    clientId: 'signet',
    hasClientSecret: true,
    scopes: ['openid', 'profile', 'email'],
    emailDomains: [],
    enabled: true,
    redirectUri: `${service.app.services.baseUrl}/sign-in/callback/${identityProvider.id}`,
    redirectUriState: 'OWN',
  });
  const record = await fetch(`${service.url}/api/identity-providers/${identityProvider.id}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await record.json()).toMatchObject(JSON.parse(shown).data);
  const stored = await prisma.identityProvider.findUniqueOrThrow({
    where: { id: identityProvider.id },
  });
  expect(Buffer.from(stored.clientSecret ?? []).toString('latin1')).not.toContain(clientSecret);
  expect(JSON.stringify(service.logged)).not.toContain(clientSecret);
});

test('another issuer does not get the client secret', async () => {
  const { done } = createMaker(call);
  const { identityProvider } = await done('createIdentityProvider', {
    ...values,
    clientSecret: 'of the first issuer',
  });
  const { id } = identityProvider;
  const issuer = 'https://another.example.com';
  expect(await call('updateIdentityProvider', { id, issuer })).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['clientSecret'] }],
  });
  const stored = () => prisma.identityProvider.findUniqueOrThrow({ where: { id } });
  expect(await stored()).toMatchObject({ issuer: provider.issuer });
  await done('updateIdentityProvider', { id, issuer: provider.issuer, name: 'Same' });
  await done('updateIdentityProvider', { id, issuer, clientSecret: null });
  expect(await stored()).toMatchObject({ issuer, clientSecret: null });
});

test('whoever holds less than others cannot say whom to believe', async () => {
  const { done, user, role } = await manager(service);
  const [userId, roleId] = [await user(), await role()];
  const all = await prisma.scope.findFirstOrThrow({ where: { name: 'all' } });
  await done('addRoleScopes', { roleId, scopeIds: [all.id] });
  await done('assignUserRoles', { userId, roleIds: [roleId] });
  const narrow = createMaker(
    overGraphQL(service, await service.managementToken('experience:write')),
  );
  await expect(narrow.identityProvider()).rejects.toThrow('NOT_ALLOWED');
});

test('a deleted provider takes its identities, and tells of itself alone', async () => {
  const admin = await manager(service);
  const [id, other] = [await admin.identityProvider(), await admin.identityProvider()];
  await link(id, 'linked', 1_500);
  await link(other, 'other', 1);
  const before = await prisma.event.count({ where: withoutRefusals });
  await admin.done('deleteIdentityProvider', { id });
  const events = await prisma.event.findMany({
    where: withoutRefusals,
    orderBy: { position: 'asc' },
    skip: before,
  });
  expect(events).toMatchObject([{ type: 'IdentityProvider.Deleted', data: { id, enabled: true } }]);
  expect(await prisma.userIdentity.count({ where: { identityProviderId: id } })).toBe(0);
  expect(await prisma.userIdentity.count({ where: { identityProviderId: other } })).toBe(1);
});

/** Makes people who are linked to a provider. */
const link = (id: string, name: string, people: number) =>
  prisma.$executeRaw`
    WITH "made" AS (
      INSERT INTO "User" ("id", "username", "createdAt", "updatedAt")
      SELECT 'user_' || ${name}::text || i, ${name}::text || i, now(), now() FROM generate_series(1, ${people}::int) i
      RETURNING "id")
    INSERT INTO "UserIdentity" ("id", "userId", "identityProviderId", "issuer", "subject", "linkedAt")
    SELECT 'identity_' || "id", "id", ${id}, 'https://many.example', "id", now() FROM "made"`;

test('of two who delete one provider, one does', async () => {
  const admin = await manager(service);
  const id = await admin.identityProvider();
  await link(id, 'twice', 700);
  const outcomes = await Promise.all([1, 2].map(() => call('deleteIdentityProvider', { id })));
  expect(outcomes.map(({ code }) => code).sort()).toEqual(['NOT_FOUND', 'OK']);
  expect(
    await prisma.event.count({ where: { type: 'IdentityProvider.Deleted', subjectId: id } }),
  ).toBe(1);
});
