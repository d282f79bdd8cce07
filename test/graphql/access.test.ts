import { beforeAll, describe, expect, test } from 'vitest';
import { fetchClientToken } from '../support/client-credentials.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const directory = seedDirectory(service.testDatabase.database, service.clock);

const ids: Record<string, string> = {};
beforeAll(async () => {
  const resource = await directory.createResource(['read']);
  const user = await directory.createUser({ username: 'alice' });
  await directory.allowUser(user, resource, ['read']);
  const { prisma } = service.testDatabase.database;
  ids['res'] = resource.id;
  ids['user'] = user.id;
  ids['role'] = (await prisma.userRole.findFirstOrThrow({ where: { userId: user.id } })).roleId;
  ids['scope'] = (await prisma.scope.findFirstOrThrow({ where: { resourceId: resource.id } })).id;
  ids['app'] = service.admin.id;
});

const asking = async (query: string, scope: string) =>
  send({ url: service.url, token: await service.managementToken(scope) }, query);

describe.each([
  ['user', 'users:read'],
  ['role', 'roles:read'],
  ['res', 'resources:read'],
  ['scope', 'resources:read'],
  ['app', 'applications:read'],
])('a record under the prefix %s', (prefix, required) => {
  test(`is not read through node(id:) without ${required}`, async () => {
    const others = [
      'users:write',
      'roles:write',
      'resources:write',
      'applications:write',
      'events:read',
    ].filter((scope) => !scope.startsWith(required.split(':')[0] as string));
    for (const query of [
      `{ node(id: "${ids[prefix]}") { id } }`,
      `{ nodes(ids: ["${ids[prefix]}"]) { id } }`,
    ]) {
      const { status, errors } = await asking(query, others.join(' '));
      expect(status).toBe(403);
      expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', requiredScope: required });
    }
  });

  test(`is read through node(id:) with ${required} or a wider scope`, async () => {
    for (const scope of [required, required.replace('read', 'write'), 'all']) {
      const { data } = await asking(
        `{ node(id: "${ids[prefix]}") { id } nodes(ids: ["${ids[prefix]}"]) { id } }`,
        scope,
      );
      expect(data).toEqual({ node: { id: ids[prefix] }, nodes: [{ id: ids[prefix] }] });
    }
  });
});

test.each([
  [
    '{ users { edges { node { roles { edges { node { name } } } } } } }',
    'users:read',
    'roles:read',
  ],
  [
    '{ roles { edges { node { scopes { edges { node { name } } } } } } }',
    'roles:read',
    'resources:read',
  ],
  [
    '{ applications { edges { node { roles { edges { node { name } } } } } } }',
    'applications:read',
    'roles:read',
  ],
  ['{ events { edges { node { id } } } }', 'users:read', 'events:read'],
])('checks the right on a nested path: %s', async (query, held, required) => {
  const { status, errors } = await asking(query, held);
  expect(status).toBe(403);
  expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN', requiredScope: required });
  expect((await asking(query, `${held} ${required}`)).status).toBe(200);
});

test('gives null for an unknown id', async () => {
  const { data } = await asking('{ node(id: "user_01h455vb4pex5vsknk084sn02q") { id } }', 'all');
  expect(data).toEqual({ node: null });
});

describe('a management token', () => {
  test('is refused as soon as its application is deleted', async () => {
    const client = await directory.createClient();
    const { prisma } = service.testDatabase.database;
    const { roleId } = await prisma.applicationRole.findFirstOrThrow({
      where: { applicationId: service.admin.id },
    });
    await prisma.applicationRole.create({
      data: { applicationId: client.id, roleId, setterScopes: ['all'] },
    });
    const token = await service.managementToken('users:read', client);
    const endpoint = { url: service.url, token };
    expect((await send(endpoint, '{ users { totalCount } }')).status).toBe(200);
    await prisma.application.delete({ where: { id: client.id } });
    expect((await send(endpoint, '{ users { totalCount } }')).errors?.[0]?.extensions['code']).toBe(
      'UNAUTHENTICATED',
    );
  });

  test('of another audience is refused', async () => {
    const client = await directory.createClient();
    const resource = await directory.createResource(['read']);
    const token = await fetchClientToken(service, client, { resource: resource.indicator });
    const { status, errors } = await send({ url: service.url, token }, '{ __typename }');
    expect([status, errors?.[0]?.extensions['code']]).toEqual([401, 'UNAUTHENTICATED']);
  });
});
