import { expect, test } from 'vitest';
import { type Raised, type Result, startOrganizations } from './fixture.ts';

const o = await startOrganizations();
const { prisma, directory, attempt, mutate, raisedBy } = o;

const usersOf = async (organizationId: string) =>
  (await prisma.organizationUser.findMany({ where: { organizationId } }))
    .map(({ userId }) => userId)
    .sort();

/** Who is left after the events of an organization are applied in the log's order; each must be a real change. */
function applied(raised: readonly Raised[], organizationId: string): string[] {
  const members = new Set<string>();
  for (const { type, data } of raised) {
    expect(type).toBe('Organization.Membership.Updated');
    expect(data['organizationId']).toBe(organizationId);
    for (const id of data['addedUserIds'] as string[]) {
      expect(members.has(id)).toBe(false);
      members.add(id);
    }
    for (const id of data['removedUserIds'] as string[]) expect(members.delete(id)).toBe(true);
  }
  return [...members].sort();
}

test('fifty overlapping additions add and report each user once', async () => {
  const organizationId = await o.createOrganization();
  const users = await o.createUsers(60);
  let results: Result[] = [];
  const raised = await raisedBy(async () => {
    results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        // Half of them the other way round, so that locks taken in the order asked for would cross.
        const part = [...users.slice(index, index + 11)];
        const userIds = index % 2 === 0 ? part : part.reverse();
        return mutate('addOrganizationUsers', { organizationId, userIds }, 'addedUserIds');
      }),
    );
  });
  expect(results.flatMap(({ addedUserIds }) => addedUserIds as string[]).sort()).toEqual(users);
  expect(await usersOf(organizationId)).toEqual(users);
  expect(applied(raised, organizationId)).toEqual(users);
});

test('additions of the same users elsewhere cause no deadlock', async () => {
  const organizationIds = await Promise.all(
    Array.from({ length: 4 }, () => o.createOrganization()),
  );
  const users = await o.createUsers(40);
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const userIds = index % 2 === 0 ? users : users.toReversed();
      const organizationId = organizationIds[index % 4] ?? '';
      return mutate('addOrganizationUsers', { organizationId, userIds });
    }),
  );
  for (const organizationId of organizationIds) {
    expect(await usersOf(organizationId)).toEqual(users);
  }
});

test('one of twenty acceptances of an invitation wins', async () => {
  const organizationId = await o.createOrganization();
  const role = await o.createRole();
  const user = await directory.createUser({ primaryEmail: 'parallel@example.com' });
  const created = await mutate(
    'createOrganizationInvitation',
    { organizationId, invitee: 'parallel@example.com', organizationRoleIds: [role] },
    'organizationInvitation { id }',
  );
  const { id } = created['organizationInvitation'] as { id: string };
  let results: Result[] = [];
  const raised = await raisedBy(async () => {
    results = await Promise.all(
      Array.from({ length: 20 }, () =>
        attempt('updateOrganizationInvitationStatus', {
          id,
          status: 'ACCEPTED',
          acceptedUserId: user.id,
        }),
      ),
    );
  });
  const outcomes = Map.groupBy(results, ({ __typename }) => __typename);
  expect(outcomes.get('UpdateOrganizationInvitationStatusPayload')).toHaveLength(1);
  expect(outcomes.get('NotAllowedError')).toHaveLength(19);
  const [joined, ...others] = raised;
  expect(applied(joined ? [joined] : [], organizationId)).toEqual([user.id]);
  expect(others.map(({ type }) => type)).toEqual([
    'Organization.MemberRoles.Updated',
    'OrganizationInvitation.Data.Updated',
  ]);
  expect(await prisma.organizationUserRole.findMany({ where: { organizationId } })).toEqual([
    { organizationId, userId: user.id, organizationRoleId: role, setterScopes: ['all'] },
  ]);
});

test('one of twenty invitations for one address is created', async () => {
  const organizationId = await o.createOrganization();
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      attempt('createOrganizationInvitation', {
        organizationId,
        invitee: index % 2 === 0 ? 'twice@example.com' : 'Twice@Example.COM',
      }),
    ),
  );
  const outcomes = Map.groupBy(results, ({ __typename }) => __typename);
  expect(outcomes.get('CreateOrganizationInvitationPayload')).toHaveLength(1);
  expect(outcomes.get('ConflictError')).toHaveLength(19);
  expect(await prisma.organizationInvitation.count({ where: { organizationId } })).toBe(1);
});

test('the events of concurrent changes add up to the result', async () => {
  const organizationId = await o.createOrganization();
  const users = await o.createUsers(30);
  const lists = Array.from({ length: 10 }, (_, index) => users.slice(index, index + 15));
  const leaver = users[20] ?? '';
  const deleted = users[10] ?? '';
  const raised = await raisedBy(() =>
    Promise.all([
      ...lists.map((userIds, index) =>
        attempt('replaceOrganizationUsers', {
          organizationId,
          userIds: index % 2 === 0 ? userIds : userIds.toReversed(),
        }),
      ),
      ...lists.map((userIds) => attempt('addOrganizationUsers', { organizationId, userIds })),
      ...lists.map(() => attempt('removeOrganizationUser', { organizationId, userId: leaver })),
      mutate('deleteUser', { id: deleted }),
    ]),
  );
  const memberships = raised.filter(({ type }) => type !== 'User.Deleted');
  expect(applied(memberships, organizationId)).toEqual(await usersOf(organizationId));
  expect(await usersOf(organizationId)).not.toContain(deleted);
});

test('the last of concurrent member replacements stands whole', async () => {
  const organizationId = await o.createOrganization();
  const users = await o.createUsers(20);
  const lists = Array.from({ length: 10 }, (_, index) => users.slice(index, index + 10));
  await Promise.all(
    lists.map((userIds) => mutate('replaceOrganizationUsers', { organizationId, userIds })),
  );
  expect(lists).toContainEqual(await usersOf(organizationId));
});

test('the last of concurrent scope replacements stands, with its events', async () => {
  const organizationRoleId = await o.createRole();
  const scopes = await Promise.all(Array.from({ length: 12 }, () => o.createScope()));
  const ids = scopes.map(({ id }) => id).sort();
  const lists = Array.from({ length: 8 }, (_, index) => ids.slice(index, index + 5));
  const doomed = ids[6] ?? '';
  const raised = await raisedBy(async () => {
    const results = await Promise.all([
      ...lists.map((organizationScopeIds) =>
        attempt('replaceOrganizationRoleScopes', { organizationRoleId, organizationScopeIds }),
      ),
      attempt('deleteOrganizationScope', { id: doomed }),
    ]);
    for (const { __typename } of results) expect(__typename).toMatch(/Payload$|^NotFoundError$/);
  });
  const held = new Set<string>();
  for (const { type, data } of raised) {
    if (type === 'OrganizationScope.Deleted') continue;
    for (const { id } of data['removedScopes'] as { id: string }[]) {
      expect(held.delete(id)).toBe(true);
    }
    for (const { id } of data['addedScopes'] as { id: string }[]) held.add(id);
  }
  const rows = await prisma.organizationRoleScope.findMany({ where: { organizationRoleId } });
  expect(rows.map(({ organizationScopeId }) => organizationScopeId).sort()).toEqual(
    [...held].sort(),
  );
  expect(held.has(doomed)).toBe(false);
});

test('concurrent deletions of related records cause no deadlock', async () => {
  const organizationIds = await Promise.all(
    Array.from({ length: 5 }, () => o.createOrganization()),
  );
  const users = await o.createUsers(10);
  const roles = await Promise.all(Array.from({ length: 5 }, () => o.createRole()));
  for (const organizationId of organizationIds) {
    await mutate('addOrganizationUsers', { organizationId, userIds: users });
    for (const userId of users) {
      await mutate('assignOrganizationUserRoles', {
        organizationId,
        userId,
        organizationRoleIds: roles,
      });
    }
  }
  const raised = await raisedBy(() =>
    Promise.all([
      ...organizationIds.map((id) => mutate('deleteOrganization', { id })),
      ...roles.map((id) => mutate('deleteOrganizationRole', { id })),
      ...users.map((id) => mutate('deleteUser', { id })),
    ]),
  );
  expect(await prisma.organizationUser.count({ where: { userId: { in: users } } })).toBe(0);
  const removed = raised
    .filter(({ type }) => type === 'Organization.Membership.Updated')
    .flatMap(({ data }) =>
      (data['removedUserIds'] as string[]).map((id) => `${String(data['organizationId'])} ${id}`),
    );
  const all = organizationIds.flatMap((organization) => users.map((id) => `${organization} ${id}`));
  expect(removed.sort()).toEqual(all.sort());
});
