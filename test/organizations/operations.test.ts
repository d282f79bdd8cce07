import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { conflict, invalid, membership, notFound, startOrganizations } from './fixture.ts';

const o = await startOrganizations();
const { prisma, directory, mutate, raisedBy } = o;

const fields = 'organization { id name description customData requiresFactor createdAt updatedAt }';

describe('createOrganization', () => {
  test('creates an organization and raises Organization.Created with its record', async () => {
    let created: unknown;
    const raised = await raisedBy(async () => {
      const input = { name: ' Acme ', description: 'Makes things', customData: { plan: 'pro' } };
      ({ organization: created } = await mutate('createOrganization', input, fields));
    });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^org_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      name: 'Acme',
      description: 'Makes things',
      customData: { plan: 'pro' },
    });
    expect(raised).toEqual([{ type: 'Organization.Created', data: created }]);
  });

  test('accepts a name that another organization has', async () => {
    const first = await mutate('createOrganization', { name: 'Twins' }, fields);
    const second = await mutate('createOrganization', { name: 'Twins' }, fields);
    expect(second['organization']).not.toEqual(first['organization']);
  });

  test.each([
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(129) }, ['name']],
    [{ name: 'x', description: 'x'.repeat(1025) }, ['description']],
    [{ name: 'x', customData: { text: 'x'.repeat(65_536) } }, ['customData']],
  ])('refuses a field that breaks its rule: %#', async (input, path) => {
    await o.expectRefusal('createOrganization', input, invalid(path));
  });

  test('reports all faults at once', async () => {
    const input = { name: '', description: 'x'.repeat(1025) };
    await o.expectRefusal('createOrganization', input, invalid(['name'], ['description']));
  });
});

describe('updateOrganization', () => {
  test('changes given fields, clears null ones, and reports changes', async () => {
    const { organization } = await mutate(
      'createOrganization',
      { name: 'Before', description: 'Old', customData: { kept: 'not' } },
      fields,
    );
    const { id, createdAt } = organization as { id: string; createdAt: string };
    const input = { id, name: 'After', description: null, customData: { kept: 'now' } };
    let updated: unknown;
    const raised = await raisedBy(async () => {
      ({ organization: updated } = await mutate('updateOrganization', input, fields));
    });
    expect(updated).toMatchObject({ ...input, createdAt });
    expect(raised).toEqual([
      {
        type: 'Organization.Data.Updated',
        data: {
          ...(updated as object),
          changes: {
            name: { from: 'Before', to: 'After' },
            description: { from: 'Old', to: null },
            customData: { from: { kept: 'not' }, to: { kept: 'now' } },
          },
        },
      },
    ]);
    await o.expectNoOp('updateOrganization', input);
    await o.expectNoOp('updateOrganization', { id });
    const cleared = await mutate('updateOrganization', { id, customData: null }, fields);
    expect(cleared).toMatchObject({ organization: { name: 'After', customData: {} } });
  });

  test('refuses an unknown id and invalid fields', async () => {
    const id = newId('Organization');
    await o.expectRefusal('updateOrganization', { id, name: 'x' }, notFound(id));
    const known = await o.createOrganization();
    await o.expectRefusal('updateOrganization', { id: known, name: null }, invalid(['name']));
    await o.expectRefusal('updateOrganization', { id: known, name: '' }, invalid(['name']));
  });
});

describe('deleteOrganization', () => {
  test('deletes all its parts; the membership event comes first', async () => {
    const organizationId = await o.createOrganization();
    const userIds = await o.createUsers(2);
    const application = (await directory.createClient()).id;
    const [role, machineRole] = [await o.createRole(), await o.createRole('MACHINE_TO_MACHINE')];
    await mutate('addOrganizationUsers', { organizationId, userIds });
    await mutate('addOrganizationApplications', { organizationId, applicationIds: [application] });
    await mutate('assignOrganizationUserRoles', {
      organizationId,
      userId: userIds[0],
      organizationRoleIds: [role],
    });
    await mutate('assignOrganizationApplicationRoles', {
      organizationId,
      applicationId: application,
      organizationRoleIds: [machineRole],
    });
    await mutate('createOrganizationInvitation', {
      organizationId,
      invitee: 'gone@example.com',
      organizationRoleIds: [role],
    });
    await mutate('addOrganizationEmailDomain', { organizationId, domain: 'example.com' });
    await mutate('replaceOrganizationJitRoles', { organizationId, organizationRoleIds: [role] });

    let deleted: unknown;
    const raised = await raisedBy(async () => {
      ({ organization: deleted } = await mutate(
        'deleteOrganization',
        { id: organizationId },
        'organization { id name members(first: 1) { totalCount edges { node { user { id } } } } }',
      ));
    });
    expect(deleted).toMatchObject({
      id: organizationId,
      members: { totalCount: 2, edges: [{ node: { user: { id: userIds[0] } } }] },
    });
    expect(raised).toMatchObject([
      membership(organizationId, { removedUserIds: userIds, removedApplicationIds: [application] }),
      { type: 'OrganizationInvitation.Deleted', data: { invitee: 'gone@example.com' } },
      { type: 'Organization.Deleted', data: { id: organizationId } },
    ]);
    const where = { organizationId };
    expect([
      await prisma.organizationUser.count({ where }),
      await prisma.organizationApplication.count({ where }),
      await prisma.organizationUserRole.count({ where }),
      await prisma.organizationApplicationRole.count({ where }),
      await prisma.organizationInvitation.count({ where }),
      await prisma.organizationEmailDomain.count({ where }),
      await prisma.organizationJitRole.count({ where }),
    ]).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(await prisma.user.count({ where: { id: { in: userIds } } })).toBe(2);
    await o.expectRefusal('deleteOrganization', { id: organizationId }, notFound(organizationId));
  });

  test('without members raises only its own event', async () => {
    const id = await o.createOrganization();
    expect(await raisedBy(() => mutate('deleteOrganization', { id }))).toMatchObject([
      { type: 'Organization.Deleted', data: { id } },
    ]);
  });

  test('reports more than a thousand members in several events', async () => {
    const id = await o.createOrganization();
    const userIds = await o.createUsers(1001);
    await mutate('addOrganizationUsers', { organizationId: id, userIds });
    const all = [...userIds].sort();
    expect(await raisedBy(() => mutate('deleteOrganization', { id }))).toMatchObject([
      membership(id, { removedUserIds: all.slice(0, 1000) }),
      membership(id, { removedUserIds: all.slice(1000) }),
      { type: 'Organization.Deleted', data: { id } },
    ]);
  });
});

describe('e-mail domains', () => {
  const listed =
    'organization { emailDomains(first: 10) { totalCount edges { node { domain } } } }';
  const having = (...domains: string[]) => ({
    organization: {
      emailDomains: {
        totalCount: domains.length,
        edges: domains.map((domain) => ({ node: { domain } })),
      },
    },
  });

  test('are added and removed ignoring case', async () => {
    const organizationId = await o.createOrganization();
    const raised = await raisedBy(async () => {
      expect(
        await mutate(
          'addOrganizationEmailDomain',
          { organizationId, domain: 'Example.COM' },
          listed,
        ),
      ).toMatchObject(having('example.com'));
      expect(
        await mutate(
          'addOrganizationEmailDomain',
          { organizationId, domain: 'a.example.org' },
          listed,
        ),
      ).toMatchObject(having('a.example.org', 'example.com'));
      expect(
        await mutate(
          'removeOrganizationEmailDomain',
          { organizationId, domain: 'EXAMPLE.com' },
          listed,
        ),
      ).toMatchObject(having('a.example.org'));
    });
    const changeOf = (from: string[], to: string[]) => ({
      type: 'Organization.Settings.Updated',
      data: { organizationId, changes: { emailDomains: { from, to } } },
    });
    expect(raised).toEqual([
      changeOf([], ['example.com']),
      changeOf(['example.com'], ['a.example.org', 'example.com']),
      changeOf(['a.example.org', 'example.com'], ['a.example.org']),
    ]);
  });

  test('are unique within an organization only', async () => {
    const organizationId = await o.createOrganization();
    await mutate('addOrganizationEmailDomain', { organizationId, domain: 'example.com' });
    await o.expectRefusal(
      'addOrganizationEmailDomain',
      { organizationId, domain: 'EXAMPLE.com' },
      conflict('domain'),
    );
    const other = await o.createOrganization();
    await mutate('addOrganizationEmailDomain', { organizationId: other, domain: 'example.com' });
  });

  test.each(['', 'example', '@example.com', 'a..b', '-a.com', 'exa mple.com', 'a@b.com'])(
    'must be domain names: %j',
    async (domain) => {
      const organizationId = await o.createOrganization();
      await o.expectRefusal(
        'addOrganizationEmailDomain',
        { organizationId, domain },
        invalid(['domain']),
      );
    },
  );

  test('need an existing organization, and a removal an existing domain', async () => {
    const missing = newId('Organization');
    for (const mutation of ['addOrganizationEmailDomain', 'removeOrganizationEmailDomain']) {
      await o.expectRefusal(
        mutation,
        { organizationId: missing, domain: 'example.com' },
        notFound(missing),
      );
    }
    const organizationId = await o.createOrganization();
    await o.expectRefusal(
      'removeOrganizationEmailDomain',
      { organizationId, domain: 'example.com' },
      notFound('example.com'),
    );
  });
});

describe('replaceOrganizationJitRoles', () => {
  const listed = 'organization { jitRoles(first: 10) { totalCount edges { node { id } } } }';

  test('replaces the earlier roles', async () => {
    const organizationId = await o.createOrganization();
    const [first, second, third] = [
      await o.createRole(),
      await o.createRole(),
      await o.createRole(),
    ];
    await mutate('replaceOrganizationJitRoles', {
      organizationId,
      organizationRoleIds: [first, second],
    });
    const organizationRoleIds = [third, second];
    const raised = await raisedBy(async () => {
      expect(
        await mutate(
          'replaceOrganizationJitRoles',
          { organizationId, organizationRoleIds },
          listed,
        ),
      ).toMatchObject({
        organization: {
          jitRoles: { totalCount: 2, edges: [{ node: { id: second } }, { node: { id: third } }] },
        },
      });
    });
    expect(raised).toEqual([
      {
        type: 'Organization.Settings.Updated',
        data: {
          organizationId,
          changes: { jitRoleIds: { from: [first, second], to: [second, third] } },
        },
      },
    ]);
    await o.expectNoOp('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
  });

  test('refuses roles for applications, unknown roles and an unknown organization', async () => {
    const organizationId = await o.createOrganization();
    const machineRole = await o.createRole('MACHINE_TO_MACHINE');
    await o.expectRefusal(
      'replaceOrganizationJitRoles',
      { organizationId, organizationRoleIds: [machineRole] },
      invalid(['organizationRoleIds', '0']),
    );
    const stranger = newId('OrganizationRole');
    await o.expectRefusal(
      'replaceOrganizationJitRoles',
      { organizationId, organizationRoleIds: [stranger] },
      notFound(stranger),
    );
    const missing = newId('Organization');
    await o.expectRefusal(
      'replaceOrganizationJitRoles',
      { organizationId: missing, organizationRoleIds: [] },
      notFound(missing),
    );
  });
});
