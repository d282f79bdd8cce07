import { expect, test } from 'vitest';
import { membershipLists, organizationRoleLists } from '../support/operations/lists.ts';
import { createMaker } from '../support/operations/maker.ts';
import { mutations, overGraphQL } from '../support/operations/operations.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const make = createMaker(overGraphQL(service, await service.managementToken()));
const { done } = make;

/** The events that a deletion raises, in order, by what they say. */
async function eventsOf(operation: string, id: string) {
  const before = await prisma.event.findFirst({ orderBy: { position: 'desc' } });
  await done(operation, { id });
  return prisma.event.findMany({
    where: { position: { gt: before?.position ?? 0n } },
    orderBy: { position: 'asc' },
    select: { type: true, data: true },
  });
}

const described = (operation: string) => mutations[operation]?.description ?? '';
const membership = (organizationId: string, lists: object) => ({
  type: 'Organization.Membership.Updated',
  data: membershipLists(organizationId, lists),
});
const roleLoses = (roleId: string, ids: readonly string[]) => ({
  type: 'Role.Scopes.Updated',
  data: {
    roleId,
    addedScopes: [],
    removedScopes: ids.map((id) => expect.objectContaining({ id })),
  },
});
const organizationRoleLoses = (organizationRoleId: string, lists: object) => ({
  type: 'OrganizationRole.Scopes.Updated',
  data: organizationRoleLists(organizationRoleId, lists),
});
const deleted = (type: string, id: string) => ({ type, data: expect.objectContaining({ id }) });

test('a deleted scope leaves its roles, whose events come first', async () => {
  const scopeId = await make.scope();
  const roleId = await make.role({ scopeIds: [scopeId] });
  const organizationRoleId = await make.organizationRole({ scopeIds: [scopeId] });
  expect(await eventsOf('deleteScope', scopeId)).toEqual([
    roleLoses(roleId, [scopeId]),
    organizationRoleLoses(organizationRoleId, {
      removedResourceScopes: [expect.objectContaining({ id: scopeId })],
    }),
    deleted('Scope.Deleted', scopeId),
  ]);
  expect(await prisma.roleScope.count({ where: { scopeId } })).toBe(0);
  expect(described('deleteScope')).toMatch(/Role\.Scopes\.Updated.*Scope\.Deleted/);
});

test('a deleted resource removes its scopes from all roles', async () => {
  const resourceId = await make.resource();
  const first = await make.scope({ resourceId });
  const second = await make.scope({ resourceId });
  const roleId = await make.role({ scopeIds: [first, second] });
  const organizationRoleId = await make.organizationRole({ scopeIds: [second] });
  expect(await eventsOf('deleteResource', resourceId)).toEqual([
    roleLoses(roleId, [first, second]),
    organizationRoleLoses(organizationRoleId, {
      removedResourceScopes: [expect.objectContaining({ id: second })],
    }),
    deleted('Scope.Deleted', first),
    deleted('Scope.Deleted', second),
    deleted('Resource.Deleted', resourceId),
  ]);
  expect(await prisma.scope.count({ where: { resourceId } })).toBe(0);
  expect(described('deleteResource')).toMatch(
    /Role\.Scopes\.Updated.*Scope\.Deleted.*Resource\.Deleted/,
  );
});

test('a deleted role leaves users and applications', async () => {
  const [roleId, userId] = [await make.role(), await make.user()];
  await done('assignUserRoles', { userId, roleIds: [roleId] });
  expect(await eventsOf('deleteRole', roleId)).toEqual([deleted('Role.Deleted', roleId)]);
  expect(await prisma.userRole.count({ where: { roleId } })).toBe(0);
  expect(described('deleteRole')).toMatch(/Role\.Deleted/);
});

test('a deleted user leaves every organization', async () => {
  const { organizationId, userId } = await make.member();
  expect(await eventsOf('deleteUser', userId)).toEqual([
    membership(organizationId, { removedUserIds: [userId] }),
    deleted('User.Deleted', userId),
  ]);
  expect(await prisma.organizationUser.count({ where: { userId } })).toBe(0);
  expect(described('deleteUser')).toMatch(/Organization\.Membership\.Updated/);
});

test('a deleted application leaves every organization', async () => {
  const { organizationId, applicationId } = await make.applicationMember();
  expect(await eventsOf('deleteApplication', applicationId)).toEqual([
    membership(organizationId, { removedApplicationIds: [applicationId] }),
    {
      type: 'Application.Secrets.Updated',
      data: {
        applicationId,
        addedSecretIds: [],
        removedSecretIds: [expect.stringMatching(/^secret_/)],
      },
    },
    deleted('Application.Deleted', applicationId),
  ]);
  expect(await prisma.applicationSecret.count({ where: { applicationId } })).toBe(0);
  expect(described('deleteApplication')).toMatch(
    /Organization\.Membership\.Updated.*Application\.Deleted/,
  );
});

test('a deleted organization loses its members and invitations', async () => {
  const { organizationId, userId } = await make.member();
  const applicationId = await make.application();
  await done('addOrganizationApplications', { organizationId, applicationIds: [applicationId] });
  const invitationId = await make.invitation({ organizationId });
  expect(await eventsOf('deleteOrganization', organizationId)).toEqual([
    membership(organizationId, {
      removedUserIds: [userId],
      removedApplicationIds: [applicationId],
    }),
    deleted('OrganizationInvitation.Deleted', invitationId),
    deleted('Organization.Deleted', organizationId),
  ]);
  expect(await prisma.organizationInvitation.count({ where: { organizationId } })).toBe(0);
  expect(described('deleteOrganization')).toMatch(
    /Organization\.Membership\.Updated.*OrganizationInvitation\.Deleted/,
  );
});

test('a deleted organization role leaves its members', async () => {
  const { organizationId, userId } = await make.member();
  const organizationRoleId = await make.organizationRole();
  await done('assignOrganizationUserRoles', {
    organizationId,
    userId,
    organizationRoleIds: [organizationRoleId],
  });
  expect(await eventsOf('deleteOrganizationRole', organizationRoleId)).toEqual([
    deleted('OrganizationRole.Deleted', organizationRoleId),
  ]);
  expect(await prisma.organizationUserRole.count({ where: { organizationRoleId } })).toBe(0);
  expect(described('deleteOrganizationRole')).toMatch(/OrganizationRole\.Deleted/);
});

test('a deleted organization scope leaves its roles, events first', async () => {
  const organizationScopeId = await make.organizationScope();
  const organizationRoleId = await make.organizationRole({
    organizationScopeIds: [organizationScopeId],
  });
  expect(await eventsOf('deleteOrganizationScope', organizationScopeId)).toEqual([
    organizationRoleLoses(organizationRoleId, {
      removedScopes: [expect.objectContaining({ id: organizationScopeId })],
    }),
    deleted('OrganizationScope.Deleted', organizationScopeId),
  ]);
  expect(described('deleteOrganizationScope')).toMatch(/OrganizationRole\.Scopes\.Updated/);
});
