import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import {
  conflict,
  invalid,
  membership,
  notAllowed,
  notFound,
  startOrganizations,
} from '../organizations/fixture.ts';

const o = await startOrganizations();
const { prisma, directory, mutate, raisedBy, service } = o;
const dayMs = 24 * 60 * 60 * 1000;

const fields = `organizationInvitation {
  id invitee status expiresAt createdAt updatedAt organization { id } acceptedUser { id }
  roles(first: 10) { totalCount edges { node { id } } }
}`;
const inDays = (days: number) =>
  new Date(service.clock.now().getTime() + days * dayMs).toISOString();

async function invite(input: Record<string, unknown>): Promise<string> {
  const created = await mutate(
    'createOrganizationInvitation',
    input,
    'organizationInvitation { id }',
  );
  return (created['organizationInvitation'] as { id: string }).id;
}
const answer = (input: object) => mutate('updateOrganizationInvitationStatus', input, fields);

async function statusOf(id: string): Promise<unknown> {
  const data = await o.query('query ($id: ID!) { organizationInvitation(id: $id) { status } }', {
    id,
  });
  return (data['organizationInvitation'] as { status: string }).status;
}

let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `person.${addresses}@example.com`;
};

describe('createOrganizationInvitation', () => {
  test('creates a pending invitation with roles', async () => {
    const organizationId = await o.createOrganization();
    const roles = [await o.createRole(), await o.createRole()].sort();
    const expiresAt = inDays(2);
    const raised = await raisedBy(async () => {
      const invitee = 'New.Person@example.com';
      const input = { organizationId, invitee, expiresAt, organizationRoleIds: roles };
      expect(await mutate('createOrganizationInvitation', input, fields)).toMatchObject({
        organizationInvitation: {
          id: expect.stringMatching(/^inv_/),
          invitee,
          status: 'PENDING',
          expiresAt,
          organization: { id: organizationId },
          acceptedUser: null,
          roles: { totalCount: 2, edges: roles.map((id) => ({ node: { id } })) },
        },
      });
    });
    expect(raised).toMatchObject([
      { type: 'OrganizationInvitation.Created', data: { organizationRoleIds: roles } },
    ]);
  });

  test('lasts seven days by default', async () => {
    const organizationId = await o.createOrganization();
    const { organizationInvitation } = await mutate(
      'createOrganizationInvitation',
      { organizationId, invitee: newAddress() },
      fields,
    );
    const { createdAt, expiresAt } = organizationInvitation as Record<string, string>;
    expect(Date.parse(expiresAt ?? '') - Date.parse(createdAt ?? '')).toBe(7 * dayMs);
  });

  test('is refused while another for the address is pending', async () => {
    const organizationId = await o.createOrganization();
    const invitee = newAddress();
    const first = await invite({ organizationId, invitee, expiresAt: inDays(1) });
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId, invitee: invitee.toUpperCase() },
      conflict('invitee'),
    );
    await invite({ organizationId: await o.createOrganization(), invitee });

    await answer({ id: first, status: 'REVOKED' });
    const second = await invite({ organizationId, invitee, expiresAt: inDays(1) });
    await o.passTime(dayMs);
    await invite({ organizationId, invitee });
    expect(await statusOf(first)).toBe('REVOKED');
    expect(await statusOf(second)).toBe('EXPIRED');
  });

  test('refuses invalid fields and unknown ids', async () => {
    const organizationId = await o.createOrganization();
    const invitee = newAddress();
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId, invitee: 'nobody' },
      invalid(['invitee']),
    );
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId, invitee, expiresAt: service.clock.now().toISOString() },
      invalid(['expiresAt']),
    );
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId, invitee, organizationRoleIds: [await o.createRole('MACHINE_TO_MACHINE')] },
      invalid(['organizationRoleIds', '0']),
    );
    const role = newId('OrganizationRole');
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId, invitee, organizationRoleIds: [role] },
      notFound(role),
    );
    const missing = newId('Organization');
    await o.expectRefusal(
      'createOrganizationInvitation',
      { organizationId: missing, invitee },
      notFound(missing),
    );
  });
});

const memberRoles = (
  organizationId: string,
  userId: string,
  addedOrganizationRoleIds: readonly string[],
) => ({
  type: 'Organization.MemberRoles.Updated',
  data: {
    organizationId,
    userId,
    applicationId: null,
    addedOrganizationRoleIds,
    removedOrganizationRoleIds: [],
  },
});

describe('updateOrganizationInvitationStatus', () => {
  test('acceptance makes the invitee a member with the roles', async () => {
    const organizationId = await o.createOrganization();
    const role = await o.createRole();
    const user = await directory.createUser({ primaryEmail: 'Accepting@Example.com' });
    const id = await invite({
      organizationId,
      invitee: 'accepting@example.COM',
      organizationRoleIds: [role],
    });
    const raised = await raisedBy(async () => {
      expect(await answer({ id, status: 'ACCEPTED', acceptedUserId: user.id })).toMatchObject({
        organizationInvitation: { id, status: 'ACCEPTED', acceptedUser: { id: user.id } },
      });
    });
    expect(raised).toMatchObject([
      membership(organizationId, { addedUserIds: [user.id] }),
      memberRoles(organizationId, user.id, [role]),
      { type: 'OrganizationInvitation.Data.Updated', data: { id, status: 'ACCEPTED' } },
    ]);
    expect(await prisma.organizationUserRole.findMany({ where: { organizationId } })).toEqual([
      { organizationId, userId: user.id, organizationRoleId: role, setterScopes: ['all'] },
    ]);
  });

  test('acceptance by a member adds the roles that they lack', async () => {
    const organizationId = await o.createOrganization();
    const [held, added] = [await o.createRole(), await o.createRole()];
    const user = await directory.createUser({ primaryEmail: newAddress() });
    await mutate('addOrganizationUsers', { organizationId, userIds: [user.id] });
    await mutate('assignOrganizationUserRoles', {
      organizationId,
      userId: user.id,
      organizationRoleIds: [held],
    });
    const id = await invite({
      organizationId,
      invitee: user.primaryEmail,
      organizationRoleIds: [held, added],
    });
    const raised = await raisedBy(() =>
      answer({ id, status: 'ACCEPTED', acceptedUserId: user.id }),
    );
    expect(raised).toMatchObject([
      memberRoles(organizationId, user.id, [added]),
      { type: 'OrganizationInvitation.Data.Updated' },
    ]);
    expect(await prisma.organizationUserRole.count({ where: { organizationId } })).toBe(2);
  });

  test('revocation lets nobody in', async () => {
    const organizationId = await o.createOrganization();
    const user = await directory.createUser({ primaryEmail: newAddress() });
    const id = await invite({ organizationId, invitee: user.primaryEmail });
    expect(await raisedBy(() => answer({ id, status: 'REVOKED' }))).toMatchObject([
      { type: 'OrganizationInvitation.Data.Updated', data: { id, status: 'REVOKED' } },
    ]);
    expect(await statusOf(id)).toBe('REVOKED');
    await o.expectRefusal(
      'updateOrganizationInvitationStatus',
      { id, status: 'ACCEPTED', acceptedUserId: user.id },
      notAllowed,
    );
  });

  test.each(['ACCEPTED', 'REVOKED'])('refuses %s once the invitation has ended', async (status) => {
    const organizationId = await o.createOrganization();
    const user = await directory.createUser({ primaryEmail: newAddress() });
    const acceptedUserId = status === 'ACCEPTED' ? user.id : null;
    const id = await invite({ organizationId, invitee: user.primaryEmail, expiresAt: inDays(1) });
    const input = { id, status, acceptedUserId };

    await o.passTime(dayMs);
    expect(await statusOf(id)).toBe('EXPIRED');
    await o.expectRefusal('updateOrganizationInvitationStatus', input, notAllowed);

    const accepted = await invite({ organizationId, invitee: user.primaryEmail });
    await answer({ id: accepted, status: 'ACCEPTED', acceptedUserId: user.id });
    await o.expectRefusal(
      'updateOrganizationInvitationStatus',
      { ...input, id: accepted },
      notAllowed,
    );
  });

  test('refuses users without the address, and unknown users', async () => {
    const organizationId = await o.createOrganization();
    const id = await invite({ organizationId, invitee: newAddress() });
    const other = await directory.createUser({ primaryEmail: newAddress() });
    const without = await directory.createUser();
    const input = { id, status: 'ACCEPTED' };
    for (const { id: acceptedUserId } of [other, without]) {
      await o.expectRefusal(
        'updateOrganizationInvitationStatus',
        { ...input, acceptedUserId },
        notAllowed,
      );
    }
    const stranger = newId('User');
    await o.expectRefusal(
      'updateOrganizationInvitationStatus',
      { ...input, acceptedUserId: stranger },
      notFound(stranger),
    );
  });

  test('refuses other states and unknown invitations', async () => {
    const organizationId = await o.createOrganization();
    const id = await invite({ organizationId, invitee: newAddress() });
    const user = await directory.createUser();
    for (const [input, ...paths] of [
      [{ status: 'PENDING' }, ['status']],
      [{ status: 'EXPIRED' }, ['status']],
      [{ status: 'ACCEPTED' }, ['acceptedUserId']],
      [{ status: 'REVOKED', acceptedUserId: user.id }, ['acceptedUserId']],
      [{ status: 'PENDING', acceptedUserId: user.id }, ['status'], ['acceptedUserId']],
    ] as [object, ...string[][]][]) {
      await o.expectRefusal(
        'updateOrganizationInvitationStatus',
        { id, ...input },
        invalid(...paths),
      );
    }
    const missing = newId('OrganizationInvitation');
    await o.expectRefusal(
      'updateOrganizationInvitationStatus',
      { id: missing, status: 'REVOKED' },
      notFound(missing),
    );
  });
});

describe('deleteOrganizationInvitation', () => {
  test('returns the last state and keeps the membership', async () => {
    const organizationId = await o.createOrganization();
    const role = await o.createRole();
    const user = await directory.createUser({ primaryEmail: newAddress() });
    const invitee = user.primaryEmail;
    const id = await invite({ organizationId, invitee, organizationRoleIds: [role] });
    await answer({ id, status: 'ACCEPTED', acceptedUserId: user.id });
    const raised = await raisedBy(async () => {
      expect(await mutate('deleteOrganizationInvitation', { id }, fields)).toMatchObject({
        organizationInvitation: {
          id,
          status: 'ACCEPTED',
          acceptedUser: { id: user.id },
          roles: { totalCount: 1, edges: [{ node: { id: role } }] },
        },
      });
    });
    expect(raised).toMatchObject([
      { type: 'OrganizationInvitation.Deleted', data: { id, organizationRoleIds: [role] } },
    ]);
    expect(await prisma.organizationUser.count({ where: { organizationId } })).toBe(1);
    await o.expectRefusal('deleteOrganizationInvitation', { id }, notFound(id));
  });
});

test('lists show and filter by the current status', async () => {
  const organizationId = await o.createOrganization();
  const short = await invite({ organizationId, invitee: newAddress(), expiresAt: inDays(1) });
  const long = await invite({ organizationId, invitee: newAddress(), expiresAt: inDays(9) });
  const list = async (status: string) => {
    const data = await o.query(
      `query ($filter: OrganizationInvitationFilter) {
        organizationInvitations(filter: $filter) { totalCount edges { node { id status } } }
      }`,
      { filter: { organizationId, status } },
    );
    return data['organizationInvitations'];
  };
  const listing = (status: string, ...ids: string[]) => ({
    totalCount: ids.length,
    edges: ids.map((id) => ({ node: { id, status } })),
  });
  expect(await list('PENDING')).toEqual(listing('PENDING', long, short));
  expect(await list('EXPIRED')).toEqual(listing('EXPIRED'));
  await o.passTime(dayMs);
  expect(await list('PENDING')).toEqual(listing('PENDING', long));
  expect(await list('EXPIRED')).toEqual(listing('EXPIRED', short));
});
