import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { conflict, invalid, notFound, startOrganizations } from '../organizations/fixture.ts';
import { organizationRoleLists } from '../support/operations/lists.ts';

const o = await startOrganizations();
const { prisma, directory, mutate, raisedBy } = o;

const resource = await directory.createResource(['read', 'write', 'delete']);
const resourceScopes = (
  await prisma.scope.findMany({ where: { resourceId: resource.id }, orderBy: { id: 'asc' } })
).map(({ id, name, resourceId }) => ({ id, name, resourceId }));
const [resourceScope, otherResourceScope] = resourceScopes as [
  (typeof resourceScopes)[number],
  (typeof resourceScopes)[number],
];

const roleFields = 'organizationRole { id name description type createdAt updatedAt }';
const listed = `organizationRole {
  scopes(first: 10) { totalCount edges { node { id } } }
  resourceScopes(first: 10) { totalCount edges { node { id } } }
}`;
const holding = (scopes: string[], resourceScopeIds: string[] = []) => ({
  organizationRole: {
    scopes: { totalCount: scopes.length, edges: scopes.map((id) => ({ node: { id } })) },
    resourceScopes: {
      totalCount: resourceScopeIds.length,
      edges: resourceScopeIds.map((id) => ({ node: { id } })),
    },
  },
});
const scopesUpdated = (organizationRoleId: string, change: object) => ({
  type: 'OrganizationRole.Scopes.Updated',
  data: organizationRoleLists(organizationRoleId, change),
});

describe('createOrganizationRole', () => {
  test('raises only OrganizationRole.Created without scopes', async () => {
    let created: unknown;
    const raised = await raisedBy(async () => {
      const input = { name: 'Plain', description: 'Nothing yet' };
      ({ organizationRole: created } = await mutate('createOrganizationRole', input, roleFields));
    });
    expect(created).toMatchObject({ name: 'Plain', description: 'Nothing yet', type: 'USER' });
    expect(raised).toEqual([{ type: 'OrganizationRole.Created', data: created }]);
  });

  test('then raises one OrganizationRole.Scopes.Updated for both kinds of scopes', async () => {
    const [first, second] = [await o.createScope(), await o.createScope()];
    const input = {
      name: 'With scopes',
      type: 'MACHINE_TO_MACHINE',
      organizationScopeIds: [second.id, first.id],
      scopeIds: [resourceScope.id],
    };
    let created: unknown;
    const raised = await raisedBy(async () => {
      ({ organizationRole: created } = await mutate('createOrganizationRole', input, roleFields));
    });
    const { id } = created as { id: string };
    expect(raised).toEqual([
      { type: 'OrganizationRole.Created', data: created },
      scopesUpdated(id, { addedScopes: [second, first], addedResourceScopes: [resourceScope] }),
    ]);
  });

  test('refuses a taken name, invalid fields and unknown scopes', async () => {
    await mutate('createOrganizationRole', { name: 'Taken' });
    const scope = await o.createScope();
    const withScope = { organizationScopeIds: [scope.id] };
    await o.expectRefusal(
      'createOrganizationRole',
      { name: 'Taken', ...withScope },
      conflict('name'),
    );
    await o.expectRefusal(
      'createOrganizationRole',
      { name: '', description: 'x'.repeat(1025) },
      invalid(['name'], ['description']),
    );
    const unknown = newId('OrganizationScope');
    await o.expectRefusal(
      'createOrganizationRole',
      { name: 'New', organizationScopeIds: [scope.id, unknown] },
      notFound(unknown),
    );
    const unknownScope = newId('Scope');
    await o.expectRefusal(
      'createOrganizationRole',
      { name: 'New', ...withScope, scopeIds: [unknownScope] },
      notFound(unknownScope),
    );
  });
});

describe('updateOrganizationRole', () => {
  test('raises OrganizationRole.Data.Updated only for real changes', async () => {
    const id = await o.createRole();
    let updated: unknown;
    const input = { id, name: 'Renamed', description: 'Described' };
    const raised = await raisedBy(async () => {
      ({ organizationRole: updated } = await mutate('updateOrganizationRole', input, roleFields));
    });
    expect(raised).toEqual([
      {
        type: 'OrganizationRole.Data.Updated',
        data: {
          ...(updated as object),
          changes: {
            name: { from: expect.any(String), to: 'Renamed' },
            description: { from: null, to: 'Described' },
          },
        },
      },
    ]);
    await o.expectNoOp('updateOrganizationRole', input);
  });

  test('refuses an unknown id, a taken name and invalid fields', async () => {
    const id = await o.createRole();
    const missing = newId('OrganizationRole');
    await o.expectRefusal('updateOrganizationRole', { id: missing, name: 'x' }, notFound(missing));
    await mutate('createOrganizationRole', { name: 'Held' });
    await o.expectRefusal('updateOrganizationRole', { id, name: 'Held' }, conflict('name'));
    await o.expectRefusal('updateOrganizationRole', { id, name: null }, invalid(['name']));
  });
});

describe('deleteOrganizationRole', () => {
  test('removes it everywhere and raises only its own event', async () => {
    const organizationId = await o.createOrganization();
    const [userId = ''] = await o.createUsers(1);
    const id = await o.createRole();
    const organizationRoleIds = [id];
    await mutate('addOrganizationUsers', { organizationId, userIds: [userId] });
    await mutate('assignOrganizationUserRoles', { organizationId, userId, organizationRoleIds });
    await mutate('createOrganizationInvitation', {
      organizationId,
      invitee: 'role@example.com',
      organizationRoleIds,
    });
    await mutate('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
    let deleted: unknown;
    const raised = await raisedBy(async () => {
      ({ organizationRole: deleted } = await mutate('deleteOrganizationRole', { id }, roleFields));
    });
    expect(raised).toEqual([{ type: 'OrganizationRole.Deleted', data: deleted }]);
    const where = { organizationRoleId: id };
    expect([
      await prisma.organizationUserRole.count({ where }),
      await prisma.organizationInvitationRole.count({ where }),
      await prisma.organizationJitRole.count({ where }),
      await prisma.organizationUser.count({ where: { organizationId } }),
      await prisma.organizationInvitation.count({ where: { organizationId } }),
    ]).toEqual([0, 0, 0, 1, 1]);
    await o.expectRefusal('deleteOrganizationRole', { id }, notFound(id));
  });
});

describe('organization scopes of a role', () => {
  test('are added, replaced and removed; events report the differences', async () => {
    const organizationRoleId = await o.createRole();
    const [first, second, third] = [
      await o.createScope(),
      await o.createScope(),
      await o.createScope(),
    ];
    const added = await raisedBy(async () => {
      await mutate('addOrganizationRoleScopes', {
        organizationRoleId,
        organizationScopeIds: [first.id],
      });
      expect(
        await mutate(
          'addOrganizationRoleScopes',
          { organizationRoleId, organizationScopeIds: [second.id, first.id] },
          listed,
        ),
      ).toMatchObject(holding([first.id, second.id]));
    });
    expect(added).toEqual([
      scopesUpdated(organizationRoleId, { addedScopes: [first] }),
      scopesUpdated(organizationRoleId, { addedScopes: [second] }),
    ]);
    const replacement = { organizationRoleId, organizationScopeIds: [third.id, second.id] };
    const replaced = await raisedBy(async () => {
      expect(await mutate('replaceOrganizationRoleScopes', replacement, listed)).toMatchObject(
        holding([second.id, third.id]),
      );
    });
    expect(replaced).toEqual([
      scopesUpdated(organizationRoleId, { addedScopes: [third], removedScopes: [first] }),
    ]);
    await o.expectNoOp('replaceOrganizationRoleScopes', replacement);
    await o.expectNoOp('addOrganizationRoleScopes', replacement);
    const removal = { organizationRoleId, organizationScopeId: third.id };
    const removed = await raisedBy(() => mutate('removeOrganizationRoleScope', removal));
    expect(removed).toEqual([scopesUpdated(organizationRoleId, { removedScopes: [third] })]);
    await o.expectRefusal('removeOrganizationRoleScope', removal, notFound(third.id));
  });

  test.each(['addOrganizationRoleScopes', 'replaceOrganizationRoleScopes'])(
    '%s refuses unknown roles, unknown scopes, and too many',
    async (mutation) => {
      const organizationRoleId = await o.createRole();
      const scope = await o.createScope();
      const missing = newId('OrganizationRole');
      await o.expectRefusal(
        mutation,
        { organizationRoleId: missing, organizationScopeIds: [scope.id] },
        notFound(missing),
      );
      const unknown = newId('OrganizationScope');
      await o.expectRefusal(
        mutation,
        { organizationRoleId, organizationScopeIds: [scope.id, unknown] },
        notFound(unknown),
      );
      const tooMany = Array.from({ length: 1001 }, (_, index) => `orgscope_${index}`);
      await o.expectRefusal(
        mutation,
        { organizationRoleId, organizationScopeIds: tooMany },
        invalid(['organizationScopeIds']),
      );
    },
  );

  test('cannot be removed from a role that is missing', async () => {
    const missing = newId('OrganizationRole');
    const scope = await o.createScope();
    await o.expectRefusal(
      'removeOrganizationRoleScope',
      { organizationRoleId: missing, organizationScopeId: scope.id },
      notFound(missing),
    );
  });
});

describe('resource scopes of a role', () => {
  test('are added and removed; events report the differences', async () => {
    const organizationRoleId = await o.createRole();
    const addition = { organizationRoleId, scopeIds: [otherResourceScope.id, resourceScope.id] };
    const added = await raisedBy(async () => {
      expect(await mutate('addOrganizationRoleResourceScopes', addition, listed)).toMatchObject(
        holding([], [resourceScope.id, otherResourceScope.id]),
      );
    });
    expect(added).toEqual([
      scopesUpdated(organizationRoleId, {
        addedResourceScopes: [otherResourceScope, resourceScope],
      }),
    ]);
    await o.expectNoOp('addOrganizationRoleResourceScopes', addition);
    const removal = { organizationRoleId, scopeId: resourceScope.id };
    const removed = await raisedBy(() => mutate('removeOrganizationRoleResourceScope', removal));
    expect(removed).toEqual([
      scopesUpdated(organizationRoleId, { removedResourceScopes: [resourceScope] }),
    ]);
    await o.expectRefusal(
      'removeOrganizationRoleResourceScope',
      removal,
      notFound(resourceScope.id),
    );
  });

  test('refuse an unknown role and an unknown scope', async () => {
    const organizationRoleId = await o.createRole();
    const missing = newId('OrganizationRole');
    const unknown = newId('Scope');
    await o.expectRefusal(
      'addOrganizationRoleResourceScopes',
      { organizationRoleId: missing, scopeIds: [resourceScope.id] },
      notFound(missing),
    );
    await o.expectRefusal(
      'addOrganizationRoleResourceScopes',
      { organizationRoleId, scopeIds: [resourceScope.id, unknown] },
      notFound(unknown),
    );
    await o.expectRefusal(
      'removeOrganizationRoleResourceScope',
      { organizationRoleId: missing, scopeId: resourceScope.id },
      notFound(missing),
    );
  });

  test('go with the scope or the resource, with events', async () => {
    const own = await directory.createResource(['one', 'two']);
    const [one, two] = (
      await prisma.scope.findMany({ where: { resourceId: own.id }, orderBy: { id: 'asc' } })
    ).map(({ id, name, resourceId }) => ({ id, name, resourceId }));
    const organizationRoleId = await o.createRole();
    await mutate('addOrganizationRoleResourceScopes', {
      organizationRoleId,
      scopeIds: [one?.id, two?.id],
    });
    expect(await raisedBy(() => mutate('deleteScope', { id: one?.id }))).toMatchObject([
      scopesUpdated(organizationRoleId, { removedResourceScopes: [one] }),
      { type: 'Scope.Deleted', data: { id: one?.id } },
    ]);
    expect(await raisedBy(() => mutate('deleteResource', { id: own.id }))).toMatchObject([
      scopesUpdated(organizationRoleId, { removedResourceScopes: [two] }),
      { type: 'Scope.Deleted', data: { id: two?.id } },
      { type: 'Resource.Deleted', data: { id: own.id } },
    ]);
  });
});

describe('organization scopes', () => {
  const scopeFields = 'organizationScope { id name description createdAt updatedAt }';

  test('are created, updated and deleted with their events', async () => {
    let created: unknown;
    const createdEvents = await raisedBy(async () => {
      ({ organizationScope: created } = await mutate(
        'createOrganizationScope',
        { name: 'members:invite', description: 'Invite' },
        scopeFields,
      ));
    });
    expect(createdEvents).toEqual([{ type: 'OrganizationScope.Created', data: created }]);
    const { id } = created as { id: string };

    let updated: unknown;
    const change = { id, name: 'members:ask', description: null };
    const updatedEvents = await raisedBy(async () => {
      ({ organizationScope: updated } = await mutate(
        'updateOrganizationScope',
        change,
        scopeFields,
      ));
    });
    expect(updatedEvents).toEqual([
      {
        type: 'OrganizationScope.Data.Updated',
        data: {
          ...(updated as object),
          changes: {
            name: { from: 'members:invite', to: 'members:ask' },
            description: { from: 'Invite', to: null },
          },
        },
      },
    ]);
    await o.expectNoOp('updateOrganizationScope', change);

    const roles = [await o.createRole(), await o.createRole()].sort();
    for (const organizationRoleId of roles) {
      await mutate('addOrganizationRoleScopes', { organizationRoleId, organizationScopeIds: [id] });
    }
    let deleted: unknown;
    const deletedEvents = await raisedBy(async () => {
      ({ organizationScope: deleted } = await mutate(
        'deleteOrganizationScope',
        { id },
        scopeFields,
      ));
    });
    expect(deletedEvents).toEqual([
      ...roles.map((role) => scopesUpdated(role, { removedScopes: [{ id, name: 'members:ask' }] })),
      { type: 'OrganizationScope.Deleted', data: deleted },
    ]);
    await o.expectRefusal('deleteOrganizationScope', { id }, notFound(id));
    await o.expectRefusal('updateOrganizationScope', { id, name: 'x' }, notFound(id));
  });

  test('have unique names that are scope tokens', async () => {
    const { id, name } = await o.createScope();
    const other = await o.createScope();
    for (const bad of ['', 'with space', 'quote"', 'x'.repeat(129)]) {
      await o.expectRefusal('createOrganizationScope', { name: bad }, invalid(['name']));
      await o.expectRefusal('updateOrganizationScope', { id, name: bad }, invalid(['name']));
    }
    await o.expectRefusal('createOrganizationScope', { name }, conflict('name'));
    await o.expectRefusal('updateOrganizationScope', { id: other.id, name }, conflict('name'));
  });
});
