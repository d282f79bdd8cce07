import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const { app, executed, managementToken } = await startService({}, { isObserved: true });

const { prisma } = app.services.database;
const now = new Date();
const stamps = { createdAt: now, updatedAt: now };
const userCount = 100;
const userIds = Array.from({ length: userCount }, () => newId('User')).sort();
const organizationIds = Array.from({ length: 3 }, () => newId('Organization')).sort();
const roleIds = Array.from({ length: 2 }, () => newId('OrganizationRole')).sort();
await prisma.user.createMany({
  data: userIds.map((id, index) => ({
    id,
    name: `User ${index}`,
    username: `user${index}`,
    ...stamps,
  })),
});
await prisma.organization.createMany({
  data: organizationIds.map((id) => ({ id, name: id, ...stamps })),
});
await prisma.organizationRole.createMany({
  data: roleIds.map((id) => ({ id, name: id, type: 'USER' as const, ...stamps })),
});
const memberships = organizationIds.flatMap((organizationId) =>
  userIds.map((userId) => ({ organizationId, userId })),
);
await prisma.organizationUser.createMany({
  data: memberships.map((key) => ({ ...key, createdAt: now })),
});
await prisma.organizationUserRole.createMany({
  data: memberships.flatMap((key) =>
    roleIds.map((organizationRoleId) => ({ ...key, organizationRoleId })),
  ),
});
const joiningIds = Array.from({ length: 5000 }, () => newId('User'));
await prisma.user.createMany({ data: joiningIds.map((id) => ({ id, ...stamps })) });

const endpoint = { url: app.url, token: await managementToken() };

/** The data of a query, and the statements on the directory that it took. */
async function measure(query: string): Promise<{ data: unknown; statements: readonly string[] }> {
  const before = executed.length;
  const answer = await send<unknown, Record<string, never>>(endpoint, query);
  expect(answer.errors).toBeUndefined();
  expect(answer.errors).toBeUndefined();
  const statements = executed
    .slice(before)
    .filter((text) => /"public"\."(User|Organization|AttemptCount)/.test(text));
  return { data: answer.data, statements };
}

const usersOf = (first: number) => `{
  users(first: ${first}, orderBy: { field: CREATED_AT }) { edges { node {
    id
    lockedUntil
    organizations(first: 2) { totalCount pageInfo { hasNextPage } edges {
      cursor
      createdAt
      node { id name }
      roles(first: 1) { totalCount edges { node { id name } } }
    } }
  } } }
}`;

test('a hundred users cost the same statements as one', async () => {
  const one = await measure(usersOf(1));
  const hundred = await measure(usersOf(userCount));
  expect(one.statements.length).toBeGreaterThan(0);
  expect(hundred.statements).toHaveLength(one.statements.length);
  expect(hundred.data).toEqual({
    users: {
      edges: userIds.map((id) => ({
        node: {
          id,
          lockedUntil: null,
          organizations: {
            totalCount: 3,
            pageInfo: { hasNextPage: true },
            edges: organizationIds.slice(0, 2).map((organizationId) => ({
              cursor: expect.any(String),
              createdAt: now.toISOString(),
              node: { id: organizationId, name: organizationId },
              roles: { totalCount: 2, edges: [{ node: { id: roleIds[0], name: roleIds[0] } }] },
            })),
          },
        },
      })),
    },
  });
});

const membersOf = (first: number) => `{
  organizations(first: ${organizationIds.length}, orderBy: { field: CREATED_AT }) { edges { node {
    id
    members(first: ${first}) { totalCount edges { node {
      user { id name }
      roles(first: 2) { edges { node { id } } }
    } } }
  } } }
}`;

test('a hundred members cost the same statements as one', async () => {
  const one = await measure(membersOf(1));
  const hundred = await measure(membersOf(userCount));
  expect(one.statements.length).toBeGreaterThan(0);
  expect(hundred.statements).toHaveLength(one.statements.length);
  expect(hundred.data).toEqual({
    organizations: {
      edges: organizationIds.map((id) => ({
        node: {
          id,
          members: {
            totalCount: userCount,
            edges: userIds.map((userId, index) => ({
              node: {
                user: { id: userId, name: `User ${index}` },
                roles: { edges: roleIds.map((roleId) => ({ node: { id: roleId } })) },
              },
            })),
          },
        },
      })),
    },
  });
});

test('the database pages members of several organizations at once', async () => {
  const { statements } = await measure(membersOf(5));
  const readers = statements.filter((text) => text.includes('"OrganizationUser"'));
  expect(readers.length).toBeGreaterThan(0);
  for (const text of readers) expect(text).toMatch(/ORDER BY "t\d+"."userId" ASC LIMIT/);
});

test('members are counted only on request', async () => {
  const query = `{ organization(id: "${organizationIds[0]}") { members(first: 1) { edges { cursor } } } }`;
  const { statements } = await measure(query);
  expect(statements.filter((text) => /count\(/i.test(text))).toEqual([]);
});

test('adding five thousand members takes a handful of statements', async () => {
  const before = executed.length;
  const answer = await send<{ addOrganizationUsers: { addedUserIds: string[] } }, object>(
    endpoint,
    `mutation ($input: AddOrganizationUsersInput!) {
      addOrganizationUsers(input: $input) { ... on AddOrganizationUsersPayload { addedUserIds } }
    }`,
    { input: { organizationId: organizationIds[0], userIds: joiningIds } },
  );
  expect(answer.data?.addOrganizationUsers.addedUserIds).toEqual(joiningIds);
  // Who calls, the lock, the users, the members, the event, and the organization to answer with.
  const statements = executed
    .slice(before)
    .filter((text) => /"(User|Organization|OrganizationUser)"|INSERT INTO "Event"/.test(text));
  expect(statements).toHaveLength(6);
});

test.each([
  ['organizations', 'Organization_search_idx'],
  ['organizationInvitations', 'OrganizationInvitation_search_idx'],
])('the search of %s uses its trigram index', async (list, index) => {
  const { statements } = await measure(
    `{ ${list}(filter: { search: "acme" }) { totalCount edges { node { id } } } }`,
  );
  expect(statements).toHaveLength(2);
  for (const text of statements) {
    // With as few rows as a test has, walking the table costs less than any index: it is priced out.
    const plan = await prisma.$transaction(async (tx) => {
      for (const way of ['seqscan', 'indexscan', 'indexonlyscan']) {
        await tx.$executeRawUnsafe(`SET LOCAL enable_${way} = off`);
      }
      await tx.$executeRawUnsafe('SET LOCAL plan_cache_mode = force_generic_plan');
      await tx.$executeRawUnsafe(`PREPARE "searching" AS ${text}`);
      const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      const nulls = Array.from({ length: count }, () => 'NULL').join();
      const lines = await tx.$queryRawUnsafe<object[]>(`EXPLAIN EXECUTE "searching" (${nulls})`);
      await tx.$executeRawUnsafe('DEALLOCATE "searching"');
      return lines;
    });
    expect(JSON.stringify(plan)).toContain(index);
  }
});
