import { beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../src/events/record.ts';
import { userRecord } from '../../src/users/payload.ts';
import { raise as raiseAll, settled } from '../support/log.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService({}, { isObserved: true });
const { app, clock, executed, managementToken } = service;
const { database } = app.services;
const directory = seedDirectory(database, clock);
let token: string;
beforeAll(async () => {
  token = await managementToken('all');
});

const raise = (...events: NewEvent[]) => raiseAll(app.services, events);

interface Page {
  readonly events: { readonly edges: readonly { readonly node: Record<string, unknown> }[] };
}

async function read(fields: string, types: string[], as = token) {
  await settled(database);
  const query = `query ($types: [EventType!]) {
    events(types: $types, last: 100) { edges { node { id name ${fields} } } }
  }`;
  const answer = await send<Page, object>({ url: app.url, token: as }, query, { types });
  return { ...answer, nodes: answer.data?.events.edges.map(({ node }) => node) ?? [] };
}

test('gives the live record, or null after its deletion', async () => {
  const kept = await directory.createUser({ name: 'then' });
  const gone = await directory.createUser({ name: 'then' });
  await raise(
    { type: 'User.Created', data: userRecord(kept) },
    { type: 'User.Created', data: userRecord(gone) },
  );
  await database.prisma.user.update({ where: { id: kept.id }, data: { name: 'now' } });
  await database.prisma.user.delete({ where: { id: gone.id } });
  const { nodes, errors } = await read('data ... on UserCreatedEvent { user { id name } }', [
    'USER_CREATED',
  ]);
  expect(errors).toBeUndefined();
  expect(nodes.slice(-2)).toMatchObject([
    { data: { name: 'then' }, user: { id: kept.id, name: 'now' } },
    { data: { name: 'then' }, user: null },
  ]);
});

test('gives the remaining members of an event, in log order', async () => {
  const organization = await directory.createOrganization();
  const [anna, bert, carl] = await Promise.all([
    directory.createUser({ name: 'anna' }),
    directory.createUser({ name: 'bert' }),
    directory.createUser({ name: 'carl' }),
  ]);
  const client = await directory.createClient();
  await raise({
    type: 'Organization.Membership.Updated',
    data: {
      organizationId: organization.id,
      addedUserIds: [carl.id, anna.id],
      removedUserIds: [bert.id],
      addedApplicationIds: [client.id],
      removedApplicationIds: [],
    },
  });
  await database.prisma.user.delete({ where: { id: bert.id } });
  const { nodes, errors } = await read(
    `... on OrganizationMembershipUpdatedEvent {
      organization { id }
      addedUsers { id name } removedUsers { id }
      addedApplications { id } removedApplications { id }
    }`,
    ['ORGANIZATION_MEMBERSHIP_UPDATED'],
  );
  expect(errors).toBeUndefined();
  expect(nodes.at(-1)).toMatchObject({
    organization: { id: organization.id },
    addedUsers: [
      { id: carl.id, name: 'carl' },
      { id: anna.id, name: 'anna' },
    ],
    removedUsers: [],
    addedApplications: [{ id: client.id }],
    removedApplications: [],
  });
});

test('gives the scopes that roles gained and lost', async () => {
  const resource = await directory.createResource(['read', 'write']);
  const scopes = await database.prisma.scope.findMany({
    where: { resourceId: resource.id },
    orderBy: { name: 'asc' },
  });
  const [reading, writing] = scopes.map(({ id, name, resourceId }) => ({ id, name, resourceId }));
  if (!reading || !writing) throw new Error('The resource has two scopes.');
  await directory.allowUser(await directory.createUser(), resource, ['read']);
  const { id: roleId } = await database.prisma.role.findFirstOrThrow({
    where: { scopes: { some: { scopeId: reading.id } } },
  });
  await raise(
    {
      type: 'Role.Scopes.Updated',
      data: { roleId, addedScopes: [reading], removedScopes: [writing] },
    },
    {
      type: 'OrganizationRole.Scopes.Updated',
      data: {
        organizationRoleId: 'orgrole_01h455vb4pex5vsknk084sn02q',
        addedScopes: [],
        removedScopes: [],
        addedResourceScopes: [writing],
        removedResourceScopes: [reading],
      },
    },
  );
  const { nodes, errors } = await read(
    `... on RoleScopesUpdatedEvent { role { id } addedScopes { id } removedScopes { name } }
     ... on OrganizationRoleScopesUpdatedEvent {
       organizationRole { id } gained: addedScopes { id }
       addedResourceScopes { id resource { id } } removedResourceScopes { id }
     }`,
    ['ROLE_SCOPES_UPDATED', 'ORGANIZATION_ROLE_SCOPES_UPDATED'],
  );
  expect(errors).toBeUndefined();
  expect(nodes.slice(-2)).toMatchObject([
    { role: { id: roleId }, addedScopes: [{ id: reading.id }], removedScopes: [{ name: 'write' }] },
    {
      organizationRole: null,
      gained: [],
      addedResourceScopes: [{ id: writing.id, resource: { id: resource.id } }],
      removedResourceScopes: [{ id: reading.id }],
    },
  ]);
});

test("gives a sign-in's user and application, and exceptions' subjects", async () => {
  const user = await directory.createUser();
  const client = await directory.createClient();
  await raise(
    {
      type: 'PostSignIn',
      data: {
        user: userRecord(user),
        applicationId: client.id,
        ip: '192.0.2.1',
        userAgent: null,
        sessionId: 'session',
      },
    },
    {
      type: 'PostRegister',
      data: {
        user: userRecord(user),
        applicationId: null,
        ip: null,
        userAgent: null,
        sessionId: null,
      },
    },
    {
      type: 'Identifier.Lockout',
      data: { type: 'email', value: 'a@example.com', lockedUntil: '2030-01-01T00:00:00.000Z' },
    },
    { type: 'Message.RateLimited', data: { action: 'SignIn', recipient: 'a@example.com' } },
  );
  const { nodes, errors } = await read(
    `... on PostSignInEvent { user { id } application { id } ip userAgent sessionId }
     ... on PostRegisterEvent { user { id } application { id } }
     ... on IdentifierLockoutEvent { value lockedUntil }
     ... on MessageRateLimitedEvent { action recipient }`,
    ['POST_SIGN_IN', 'POST_REGISTER', 'IDENTIFIER_LOCKOUT', 'MESSAGE_RATE_LIMITED'],
  );
  expect(errors).toBeUndefined();
  expect(nodes).toMatchObject([
    { user: { id: user.id }, application: { id: client.id }, ip: '192.0.2.1', userAgent: null },
    { user: { id: user.id }, application: null },
    { value: 'a@example.com', lockedUntil: '2030-01-01T00:00:00.000Z' },
    { action: 'SignIn', recipient: 'a@example.com' },
  ]);
});

test('reads the records of a whole page together', async () => {
  const users = await Promise.all(Array.from({ length: 20 }, () => directory.createUser()));
  await raise(...users.map((user) => ({ type: 'User.Created' as const, data: userRecord(user) })));
  const before = executed.length;
  const { nodes } = await read('... on UserCreatedEvent { user { id name } }', ['USER_CREATED']);
  expect(nodes.slice(-20).map((node) => (node['user'] as { id: string }).id)).toEqual(
    users.map(({ id }) => id),
  );
  const reads = executed
    .slice(before)
    .filter((text) => /^SELECT.*FROM "public"\."User"/s.test(text));
  expect(reads).toHaveLength(1);
});

test('refuses only the typed field without its scope', async () => {
  await raise({ type: 'User.Created', data: userRecord(await directory.createUser()) });
  const narrow = await managementToken('events:read roles:read');
  const { nodes, errors } = await read(
    '... on UserCreatedEvent { user { id } } ... on OrganizationMembershipUpdatedEvent { addedUsers { id } }',
    ['USER_CREATED', 'ORGANIZATION_MEMBERSHIP_UPDATED'],
    narrow,
  );
  expect(nodes.length).toBeGreaterThan(1);
  expect(nodes.every((node) => !node['user'] && !node['addedUsers'])).toBe(true);
  const codes = new Set(errors?.map(({ extensions }) => extensions['code']));
  expect(codes).toEqual(new Set(['FORBIDDEN']));
  expect(errors?.[0]?.extensions['requiredScope']).toBe('users:read');
});

test('resolves events of every type through node and nodes', async () => {
  const user = await directory.createUser();
  await raise(
    { type: 'User.Data.Updated', data: { ...userRecord(user), changes: {} } },
    {
      type: 'PostSignIn',
      data: {
        user: userRecord(user),
        applicationId: null,
        ip: null,
        userAgent: null,
        sessionId: null,
      },
    },
  );
  const { nodes } = await read('', ['USER_DATA_UPDATED', 'POST_SIGN_IN']);
  const [first, second] = nodes.slice(-2).map(({ id }) => id as string);
  const unknown = 'evt_01h455vb4pex5vsknk084sn02q';
  const query = `query ($id: ID!, $ids: [ID!]!) {
    node(id: $id) { __typename id ... on UserDataUpdatedEvent { user { id } } }
    nodes(ids: $ids) { __typename id ... on Event { name } }
  }`;
  const variables = { id: first, ids: [second, unknown, user.id, first] };
  const answer = await send<Record<string, unknown>, object>(
    { url: app.url, token },
    query,
    variables,
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data).toEqual({
    node: { __typename: 'UserDataUpdatedEvent', id: first, user: { id: user.id } },
    nodes: [
      { __typename: 'PostSignInEvent', id: second, name: 'PostSignIn' },
      null,
      { __typename: 'User', id: user.id },
      { __typename: 'UserDataUpdatedEvent', id: first, name: 'User.Data.Updated' },
    ],
  });
  const narrow = await managementToken('users:read');
  const refused = await send<Record<string, unknown>, object>(
    { url: app.url, token: narrow },
    'query ($id: ID!) { node(id: $id) { __typename } }',
    { id: first },
  );
  expect(refused.errors?.[0]?.extensions).toMatchObject({
    code: 'FORBIDDEN',
    requiredScope: 'events:read',
  });
});
