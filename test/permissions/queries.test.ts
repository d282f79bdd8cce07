import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { everyoneWhoCan, permissionsOf, whoCan } from '../support/permissions/client.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { database } = service.testDatabase;
const { prisma } = database;
const directory = seedDirectory(database, service.clock);
const token = await service.managementToken('all');

const orders = await directory.createResource(['read', 'write']);
const [alice, bob] = [await directory.createUser(), await directory.createUser()];
const suspended = await directory.createUser({ isSuspended: true });
for (const person of [alice, bob, suspended]) await directory.allowUser(person, orders, ['read']);
const organization = await directory.createOrganization();
await directory.addMember(organization, alice, {
  resource: orders,
  resourceScopes: ['write'],
  organizationScopes: ['bill'],
});
const worker = await directory.createClient();
await directory.allowClient(worker, orders, ['read']);
const readers = { resource: orders.indicator, scope: 'read' };

const needed = [
  'users:read',
  'applications:read',
  'roles:read',
  'resources:read',
  'organizations:read',
];
const queries = [
  `{ permissions(subjectId: "${alice.id}", resource: "${orders.indicator}") { scope { id } } }`,
  `{ whoCan(resource: "${orders.indicator}", scope: "read") { totalCount edges { node { subjectId } } } }`,
];

describe.each(queries)('%s', (query) => {
  test.each(needed)('is refused without %s', async (missing) => {
    const others = [
      ...needed.filter((scope) => scope !== missing),
      'permissions:read',
      'events:read',
    ];
    const narrow = await service.managementToken(others.join(' '));
    const { status, errors, data } = await send({ url: service.url, token: narrow }, query);
    expect([status, data, errors?.[0]?.extensions]).toEqual([
      403,
      null,
      { code: 'FORBIDDEN', requiredScope: missing },
    ]);
  });

  test('is answered with all five, or with wider ones', async () => {
    for (const scopes of [needed, needed.map((scope) => scope.replace('read', 'write')), ['all']]) {
      const { status } = await send(
        { url: service.url, token: await service.managementToken(scopes.join(' ')) },
        query,
      );
      expect(status).toBe(200);
    }
  });
});

test('says what a user may do, and by which roles', async () => {
  const all = await permissionsOf(service, token, alice.id, { resource: orders.indicator });
  expect(all.map(({ scope }) => [scope.__typename, scope.name])).toEqual([
    ['Scope', 'read'],
    ['Scope', 'write'],
  ]);
  const [byRole] = all[0]?.sources ?? [];
  expect(byRole).toMatchObject({ organizationRole: null, organization: null });
  expect(byRole?.role?.name).toMatch(/^Role/);
  const [byMembership] = all[1]?.sources ?? [];
  expect(byMembership).toMatchObject({ role: null, organization: { id: organization.id } });
  expect(byMembership?.organizationRole?.name).toMatch(/^Organization role/);
});

test('says it of organizations themselves', async () => {
  const resource = `urn:signet:organization:${organization.id}`;
  const [bill] = await permissionsOf(service, token, alice.id, { resource });
  expect(bill?.scope).toMatchObject({ __typename: 'OrganizationScope', name: 'bill' });
  expect(bill?.sources).toHaveLength(1);
  expect(await permissionsOf(service, token, bob.id, { resource })).toEqual([]);
  const { edges } = await whoCan(service, token, { resource, scope: 'bill' });
  expect(edges.map(({ node }) => node.subjectId)).toEqual([alice.id]);
});

test.each([
  ['a suspended user', suspended.id, {}],
  ['nobody', 'user_01h455vb4pex5vsknk084sn02q', {}],
  ['what is no subject', organization.id, {}],
  ['an unknown API', alice.id, { resource: 'https://nowhere.example' }],
  ['an API that is no URI', alice.id, { resource: 'orders\0' }],
  ['another organization', bob.id, { organizationId: organization.id }],
  ['what is no organization', alice.id, { organizationId: 'x' }],
  ['a name of a megabyte', alice.id, { resource: `https://${'x'.repeat(2 ** 20)}` }],
])('%s may do nothing', async (_what, id, where) => {
  expect(await permissionsOf(service, token, id, { resource: orders.indicator, ...where })).toEqual(
    [],
  );
});

test('lists applications first, then users, and no suspended ones', async () => {
  const nodes = await everyoneWhoCan(service, token, readers, 1);
  expect(nodes.map(({ subject }) => [subject.__typename, subject.id])).toEqual([
    ['Application', worker.id],
    ['User', alice.id],
    ['User', bob.id],
  ]);
  expect(await everyoneWhoCan(service, token, readers, 2, 'backwards')).toEqual(nodes);
  const { totalCount, pageInfo } = await whoCan(service, token, { ...readers, first: 2 });
  expect([totalCount, pageInfo.hasNextPage, pageInfo.hasPreviousPage]).toEqual([3, true, false]);
});

test('a scope of many roles is found by all of them', async () => {
  const busy = await directory.createResource(['go']);
  const people = await Promise.all(Array.from({ length: 25 }, () => directory.createUser()));
  for (const person of people) await directory.allowUser(person, busy, ['go']);
  const question = { resource: busy.indicator, scope: 'go' };
  const nodes = await everyoneWhoCan(service, token, question, 7);
  expect(nodes.map(({ subjectId }) => subjectId)).toEqual(people.map(({ id }) => id).sort());
});

test('an application without a live secret, or of another kind, gets no token', async () => {
  const names = async () =>
    (await everyoneWhoCan(service, token, readers, 100)).map(({ subjectId }) => subjectId);
  expect(await names()).toContain(worker.id);
  const expiresAt = new Date(service.clock.now().getTime() + 60_000);
  await prisma.applicationSecret.updateMany({
    where: { applicationId: worker.id },
    data: { expiresAt },
  });
  expect(await names()).toContain(worker.id);
  service.clock.advance(120_000);
  const fresh = await service.managementToken('all');
  expect(await permissionsOf(service, fresh, worker.id, readers)).toEqual([]);
  expect(await names()).not.toContain(worker.id);
  await directory.createSecret(worker.id);
  expect(await names()).toContain(worker.id);
  await prisma.application.update({ where: { id: worker.id }, data: { type: 'TRADITIONAL' } });
  expect(await permissionsOf(service, fresh, worker.id, readers)).toEqual([]);
  expect(await names()).not.toContain(worker.id);
  await prisma.application.update({
    where: { id: worker.id },
    data: { type: 'MACHINE_TO_MACHINE' },
  });
});

test('what somebody set up gives no more than that one held', async () => {
  const management = await prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  const person = await directory.createUser();
  await directory.allowUser(person, management, ['users:read', 'users:write', 'webhooks:read']);
  const held = async () =>
    (await permissionsOf(service, token, person.id, { resource: management.indicator })).map(
      ({ scope }) => scope.name,
    );
  expect(await held()).toEqual(['users:read', 'users:write', 'webhooks:read']);
  await prisma.userRole.updateMany({
    where: { userId: person.id },
    data: { setterScopes: ['users:write'] },
  });
  expect(await held()).toEqual(['users:read', 'users:write']);
  await prisma.user.update({ where: { id: person.id }, data: { setterScopes: ['users:read'] } });
  expect(await held()).toEqual(['users:read']);
  const may = async (scope: string) =>
    (await everyoneWhoCan(service, token, { resource: management.indicator, scope }, 100)).some(
      ({ subjectId }) => subjectId === person.id,
    );
  expect([await may('users:read'), await may('users:write')]).toEqual([true, false]);
});

test('an application has of Signet’s own APIs what one of its secrets opens', async () => {
  const management = await prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  const client = await directory.createClient();
  await directory.allowClient(client, management, ['users:read', 'users:write', 'webhooks:read']);
  const limit = (setterScopes: string[]) =>
    prisma.applicationSecret.updateMany({
      where: { applicationId: client.id },
      data: { setterScopes },
    });
  const held = async () => {
    const where = { resource: management.indicator };
    const names = (await permissionsOf(service, token, client.id, where)).map(
      ({ scope }) => scope.name,
    );
    for (const scope of ['users:read', 'users:write', 'webhooks:read']) {
      const nodes = await everyoneWhoCan(service, token, { ...where, scope }, 100);
      const isListed = nodes.some(({ subjectId }) => subjectId === client.id);
      expect([scope, isListed]).toEqual([scope, names.includes(scope)]);
    }
    return names;
  };
  expect(await held()).toEqual(['users:read', 'users:write', 'webhooks:read']);
  await limit(['users:write']);
  expect(await held()).toEqual(['users:read', 'users:write']);
  await limit([]);
  expect(await held()).toEqual([]);
  await directory.createSecret(client.id);
  expect(await held()).toEqual(['users:read', 'users:write', 'webhooks:read']);
});

test('a cursor is a position: one of another list finds nothing more, and a false one is refused', async () => {
  const endpoint = { url: service.url, token };
  const users = await send<{ users: { pageInfo: { endCursor: string } } }>(
    endpoint,
    '{ users(first: 1) { pageInfo { endCursor } } }',
  );
  const after = String(users.data?.users.pageInfo.endCursor);
  const { edges } = await whoCan(service, token, { ...readers, after });
  const all = await everyoneWhoCan(service, token, readers, 100);
  expect(all.map(({ subjectId }) => subjectId)).toEqual(
    expect.arrayContaining(edges.map(({ node }) => node.subjectId)),
  );
  for (const [argument, value] of [
    ['after', 'x'],
    ['before', ''],
    ['after', 'WyJcdTAwMDAiLCJcdTAwMDAiXQ'],
  ]) {
    const { status, errors } = await send(
      endpoint,
      `{ whoCan(resource: "${orders.indicator}", scope: "read", ${argument}: "${value}") { totalCount } }`,
    );
    expect([status, errors?.[0]?.extensions['code']]).toEqual([400, 'BAD_USER_INPUT']);
  }
  const large = await send(
    endpoint,
    `{ whoCan(resource: "x:", scope: "read", first: 101) { totalCount } }`,
  );
  expect(large.status).toBe(400);
});

test('all fields of scopes and subjects can be asked for', async () => {
  const { errors, data } = await send<{
    permissions: { scope: object }[];
    whoCan: { edges: { node: { subject: object } }[] };
  }>(
    { url: service.url, token },
    `{ permissions(subjectId: "${alice.id}", resource: "${orders.indicator}") {
         scope { description ... on Scope { version createdAt resource { indicator } } } }
       whoCan(resource: "${orders.indicator}", scope: "read") { edges { node { subject {
         ... on User { createdAt roles { edges { node { name } } } } ... on Application { type createdAt } } } } } }`,
  );
  expect(errors).toBeUndefined();
  expect(data?.permissions[0]?.scope).toMatchObject({
    version: 1,
    createdAt: expect.any(String),
    resource: { indicator: orders.indicator },
  });
  expect(data?.whoCan.edges.map(({ node }) => node.subject)).toContainEqual(
    expect.objectContaining({ createdAt: expect.any(String), roles: expect.any(Object) }),
  );
});

test('are routes of REST too', async () => {
  const permissions = await callRest(
    { url: service.url, token },
    'GET',
    `/permissions?subjectId=${alice.id}&resource=${encodeURIComponent(orders.indicator)}`,
  );
  expect(permissions).toMatchObject({
    status: 200,
    body: { permissions: [{ scope: { name: 'read' }, sources: [{ counts: true }] }, {}] },
  });
  const holders = await callRest(
    { url: service.url, token },
    'GET',
    `/permissions/holders?resource=${encodeURIComponent(orders.indicator)}&scope=read&first=1&totalCount=true`,
  );
  expect(holders).toMatchObject({
    status: 200,
    body: { whoCan: [{ subjectId: worker.id }], totalCount: 3, pageInfo: { hasNextPage: true } },
  });
});
