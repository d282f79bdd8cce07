import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { invalid, membership, notAllowed, notFound, startOrganizations } from './fixture.ts';

const o = await startOrganizations();
const { prisma, directory, mutate, raisedBy } = o;

const usersOf = async (organizationId: string) =>
  (
    await prisma.organizationUser.findMany({
      where: { organizationId },
      orderBy: { userId: 'asc' },
    })
  ).map(({ userId }) => userId);
const applicationsOf = async (organizationId: string) =>
  (
    await prisma.organizationApplication.findMany({
      where: { organizationId },
      orderBy: { applicationId: 'asc' },
    })
  ).map(({ applicationId }) => applicationId);
const createApplication = async (type: 'MACHINE_TO_MACHINE' | 'SPA' = 'MACHINE_TO_MACHINE') =>
  (await directory.createClient({ type })).id;

describe('users', () => {
  test('who join are in one event, without existing members', async () => {
    const organizationId = await o.createOrganization();
    const [first = '', second = '', third = ''] = await o.createUsers(3);
    await mutate('addOrganizationUsers', { organizationId, userIds: [first] });
    let result: unknown;
    const raised = await raisedBy(async () => {
      result = await mutate(
        'addOrganizationUsers',
        { organizationId, userIds: [third, first, second, third] },
        'organization { id members(first: 10) { totalCount edges { node { user { id } } } } } addedUserIds',
      );
    });
    expect(raised).toEqual([membership(organizationId, { addedUserIds: [third, second] })]);
    expect(result).toMatchObject({
      addedUserIds: [third, second],
      organization: {
        id: organizationId,
        members: {
          totalCount: 3,
          edges: [first, second, third].map((id) => ({ node: { user: { id } } })),
        },
      },
    });
    expect(await usersOf(organizationId)).toEqual([first, second, third]);
  });

  test('who are already members change nothing', async () => {
    const organizationId = await o.createOrganization();
    const userIds = await o.createUsers(2);
    await mutate('addOrganizationUsers', { organizationId, userIds });
    const input = { organizationId, userIds };
    expect(await o.expectNoOp('addOrganizationUsers', input, 'addedUserIds')).toMatchObject({
      addedUserIds: [],
    });
    expect(
      await o.expectNoOp('replaceOrganizationUsers', input, 'addedUserIds removedUserIds'),
    ).toMatchObject({ addedUserIds: [], removedUserIds: [] });
    await o.expectNoOp('addOrganizationUsers', { organizationId, userIds: [] });
  });

  test('who leave lose only their roles in the organization', async () => {
    const [here, there] = [await o.createOrganization(), await o.createOrganization()];
    const [userId = ''] = await o.createUsers(1);
    const role = await o.createRole();
    for (const organizationId of [here, there]) {
      await mutate('addOrganizationUsers', { organizationId, userIds: [userId] });
      await mutate('assignOrganizationUserRoles', {
        organizationId,
        userId,
        organizationRoleIds: [role],
      });
    }
    const raised = await raisedBy(() =>
      mutate('removeOrganizationUser', { organizationId: here, userId }, 'removedUserIds'),
    );
    expect(raised).toEqual([membership(here, { removedUserIds: [userId] })]);
    expect(await prisma.organizationUserRole.findMany({ where: { userId } })).toEqual([
      { organizationId: there, userId, organizationRoleId: role, setterScopes: ['all'] },
    ]);
    await o.expectRefusal(
      'removeOrganizationUser',
      { organizationId: here, userId },
      notFound(userId),
    );
  });

  test('who are replaced leave; those who stay keep their roles', async () => {
    const organizationId = await o.createOrganization();
    const [leaving = '', staying = '', joining = ''] = await o.createUsers(3);
    const role = await o.createRole();
    await mutate('addOrganizationUsers', { organizationId, userIds: [leaving, staying] });
    await mutate('assignOrganizationUserRoles', {
      organizationId,
      userId: staying,
      organizationRoleIds: [role],
    });
    let result: unknown;
    const raised = await raisedBy(async () => {
      result = await mutate(
        'replaceOrganizationUsers',
        { organizationId, userIds: [joining, staying] },
        'addedUserIds removedUserIds',
      );
    });
    expect(raised).toEqual([
      membership(organizationId, { addedUserIds: [joining], removedUserIds: [leaving] }),
    ]);
    expect(result).toMatchObject({ addedUserIds: [joining], removedUserIds: [leaving] });
    expect(await usersOf(organizationId)).toEqual([staying, joining]);
    expect(await prisma.organizationUserRole.count({ where: { organizationId } })).toBe(1);
  });

  test('can all be removed from an organization at once', async () => {
    const organizationId = await o.createOrganization();
    const userIds = await o.createUsers(2);
    await mutate('addOrganizationUsers', { organizationId, userIds });
    const raised = await raisedBy(() =>
      mutate('replaceOrganizationUsers', { organizationId, userIds: [] }),
    );
    expect(raised).toEqual([membership(organizationId, { removedUserIds: userIds })]);
  });

  test('are at most five thousand a call and a thousand an event', async () => {
    const inParts = (ids: readonly string[]) =>
      Array.from({ length: 5 }, (_, index) => ids.slice(index * 1000, (index + 1) * 1000));
    const organizationId = await o.createOrganization();
    const [old, fresh] = [await o.createUsers(5000), await o.createUsers(5000)];
    expect(
      await raisedBy(() => mutate('addOrganizationUsers', { organizationId, userIds: old })),
    ).toEqual(inParts(old).map((addedUserIds) => membership(organizationId, { addedUserIds })));
    expect(
      await raisedBy(() => mutate('replaceOrganizationUsers', { organizationId, userIds: fresh })),
    ).toEqual([
      ...inParts(fresh).map((addedUserIds) => membership(organizationId, { addedUserIds })),
      ...inParts([...old].sort()).map((removedUserIds) =>
        membership(organizationId, { removedUserIds }),
      ),
    ]);
    const tooMany = [...old, ...fresh].slice(0, 5001);
    for (const mutation of ['addOrganizationUsers', 'replaceOrganizationUsers']) {
      await o.expectRefusal(mutation, { organizationId, userIds: tooMany }, invalid(['userIds']));
    }
  });

  test('who are deleted appear in each organization’s event', async () => {
    const organizationIds = [await o.createOrganization(), await o.createOrganization()];
    const [userId = ''] = await o.createUsers(1);
    for (const organizationId of organizationIds) {
      await mutate('addOrganizationUsers', { organizationId, userIds: [userId] });
    }
    const raised = await raisedBy(() => mutate('deleteUser', { id: userId }));
    expect(raised).toMatchObject([
      ...organizationIds.map((id) => membership(id, { removedUserIds: [userId] })),
      { type: 'User.Deleted', data: { id: userId } },
    ]);
  });
});

describe('applications', () => {
  test('join, are replaced and leave with their events', async () => {
    const organizationId = await o.createOrganization();
    const [first, second, third] = [
      await createApplication(),
      await createApplication(),
      await createApplication(),
    ];
    const added = await raisedBy(() =>
      mutate('addOrganizationApplications', { organizationId, applicationIds: [second, first] }),
    );
    expect(added).toEqual([membership(organizationId, { addedApplicationIds: [second, first] })]);
    await o.expectNoOp('addOrganizationApplications', { organizationId, applicationIds: [first] });

    const replaced = await raisedBy(async () => {
      expect(
        await mutate(
          'replaceOrganizationApplications',
          { organizationId, applicationIds: [first, third] },
          'addedApplicationIds removedApplicationIds organization { applications(first: 1) { totalCount } }',
        ),
      ).toMatchObject({
        addedApplicationIds: [third],
        removedApplicationIds: [second],
        organization: { applications: { totalCount: 2 } },
      });
    });
    expect(replaced).toEqual([
      membership(organizationId, {
        addedApplicationIds: [third],
        removedApplicationIds: [second],
      }),
    ]);
    await o.expectNoOp('replaceOrganizationApplications', {
      organizationId,
      applicationIds: [third, first],
    });

    const removed = await raisedBy(() =>
      mutate('removeOrganizationApplication', { organizationId, applicationId: first }),
    );
    expect(removed).toEqual([membership(organizationId, { removedApplicationIds: [first] })]);
    expect(await applicationsOf(organizationId)).toEqual([third]);
    await o.expectRefusal(
      'removeOrganizationApplication',
      { organizationId, applicationId: first },
      notFound(first),
    );

    expect(await raisedBy(() => mutate('deleteApplication', { id: third }))).toContainEqual(
      membership(organizationId, { removedApplicationIds: [third] }),
    );
  });

  test.each(['addOrganizationApplications', 'replaceOrganizationApplications'])(
    '%s refuses an application that signs people in',
    async (mutation) => {
      const organizationId = await o.createOrganization();
      const applicationIds = [await createApplication(), await createApplication('SPA')];
      await o.expectRefusal(mutation, { organizationId, applicationIds }, notAllowed);
    },
  );
});

describe.each([
  ['addOrganizationUsers', 'userIds', 'User'],
  ['replaceOrganizationUsers', 'userIds', 'User'],
  ['addOrganizationApplications', 'applicationIds', 'Application'],
  ['replaceOrganizationApplications', 'applicationIds', 'Application'],
] as const)('%s', (mutation, field, kind) => {
  test('names the first missing candidate, and adds none', async () => {
    const organizationId = await o.createOrganization();
    const known = kind === 'User' ? await o.createUsers(1) : [await createApplication()];
    const [stranger, other] = [newId(kind), newId(kind)].reverse() as [string, string];
    await o.expectRefusal(
      mutation,
      { organizationId, [field]: [...known, stranger, other] },
      notFound(stranger),
    );
  });

  test('refuses an unknown organization', async () => {
    const organizationId = newId('Organization');
    await o.expectRefusal(mutation, { organizationId, [field]: [] }, notFound(organizationId));
  });
});

describe('roles of members', () => {
  async function createMember(kind: 'user' | 'application') {
    const organizationId = await o.createOrganization();
    if (kind === 'user') {
      const [userId = ''] = await o.createUsers(1);
      await mutate('addOrganizationUsers', { organizationId, userIds: [userId] });
      return { organizationId, userId };
    }
    const applicationId = await createApplication();
    await mutate('addOrganizationApplications', {
      organizationId,
      applicationIds: [applicationId],
    });
    return { organizationId, applicationId };
  }

  describe.each([
    ['user', 'User', 'USER', 'MACHINE_TO_MACHINE'],
    ['application', 'Application', 'MACHINE_TO_MACHINE', 'USER'],
  ] as const)('of a %s', (kind, name, type, otherType) => {
    const mutations = {
      assign: `assignOrganization${name}Roles`,
      remove: `removeOrganization${name}Role`,
      replace: `replaceOrganization${name}Roles`,
    };
    const payload = `organization${name} { ${kind} { id } organization { id } roles(first: 10) { totalCount edges { node { id } } } }`;
    const holding = (roles: string[]) => ({
      [`organization${name}`]: {
        roles: { totalCount: roles.length, edges: roles.map((id) => ({ node: { id } })) },
      },
    });

    test('are assigned, replaced and removed, each with its event', async () => {
      const member = await createMember(kind);
      const [first, second, third] = [
        await o.createRole(type),
        await o.createRole(type),
        await o.createRole(type),
      ];
      const raised = await raisedBy(async () => {
        expect(
          await mutate(
            mutations.assign,
            { ...member, organizationRoleIds: [second, first, first] },
            payload,
          ),
        ).toMatchObject(holding([first, second]));
        expect(
          await mutate(
            mutations.replace,
            { ...member, organizationRoleIds: [third, second] },
            payload,
          ),
        ).toMatchObject(holding([second, third]));
        expect(
          await mutate(mutations.remove, { ...member, organizationRoleId: second }, payload),
        ).toMatchObject(holding([third]));
      });
      const { organizationId, userId = null, applicationId = null } = member;
      const told = (added: readonly string[], removed: readonly string[]) => ({
        type: 'Organization.MemberRoles.Updated',
        data: {
          organizationId,
          userId,
          applicationId,
          addedOrganizationRoleIds: added,
          removedOrganizationRoleIds: removed,
        },
      });
      expect(raised).toEqual([
        told([second, first], []),
        told([third], [first]),
        told([], [second]),
      ]);
      await o.expectNoOp(mutations.assign, { ...member, organizationRoleIds: [third] });
      await o.expectNoOp(mutations.replace, { ...member, organizationRoleIds: [third] });
      await o.expectRefusal(
        mutations.remove,
        { ...member, organizationRoleId: first },
        notFound(first),
      );
      expect(
        await mutate(mutations.replace, { ...member, organizationRoleIds: [] }, payload),
      ).toMatchObject(holding([]));
    });

    test.each(['assign', 'replace'] as const)(
      'refuse invalid roles and members: %s',
      async (verb) => {
        const member = await createMember(kind);
        const [mine, theirs] = [await o.createRole(type), await o.createRole(otherType)];
        await o.expectRefusal(
          mutations[verb],
          { ...member, organizationRoleIds: [mine, theirs] },
          invalid(['organizationRoleIds', '1']),
        );
        const stranger = newId('OrganizationRole');
        await o.expectRefusal(
          mutations[verb],
          { ...member, organizationRoleIds: [mine, stranger] },
          notFound(stranger),
        );
        const tooMany = Array.from({ length: 101 }, () => newId('OrganizationRole'));
        await o.expectRefusal(
          mutations[verb],
          { ...member, organizationRoleIds: tooMany },
          invalid(['organizationRoleIds']),
        );
      },
    );

    test.each(['assign', 'replace', 'remove'] as const)(
      'are only for members: %s',
      async (verb) => {
        const member = await createMember(kind);
        const role = await o.createRole(type);
        const roles =
          verb === 'remove' ? { organizationRoleId: role } : { organizationRoleIds: [role] };
        const stranger = newId(name);
        await o.expectRefusal(
          mutations[verb],
          { ...member, [`${kind}Id`]: stranger, ...roles },
          notFound(stranger),
        );
        const organizationId = newId('Organization');
        await o.expectRefusal(
          mutations[verb],
          { ...member, organizationId, ...roles },
          notFound(organizationId),
        );
      },
    );
  });
});
