import { byId, type Cases } from '../case.ts';

export const organizationInvitationsCases: Cases = {
  createOrganizationInvitation: {
    scope: 'organizations:write',
    given: async (make) => ({
      organizationId: await make.organization(),
      invitee: `${make.next('new')}@example.com`,
      organizationRoleIds: [await make.organizationRole()],
    }),
    invalid: [{ invitee: 'nobody' }, { expiresAt: '2001-01-01T00:00:00Z' }],
    async duplicate(make, { organizationId }) {
      const invitee = `${make.next('taken')}@example.com`;
      await make.invitation({ organizationId, invitee });
      return { replace: { invitee: invitee.toUpperCase() }, path: 'invitee' };
    },
  },
  updateOrganizationInvitationStatus: {
    scope: 'organizations:write',
    async given(make) {
      const invitee = `${make.next('invitee')}@example.com`;
      const acceptedUserId = await make.user({ primaryEmail: invitee });
      return { id: await make.invitation({ invitee }), status: 'ACCEPTED', acceptedUserId };
    },
    invalid: [{ status: 'PENDING' }, { acceptedUserId: null }],
  },
  deleteOrganizationInvitation: byId('organizations:write', (make) => make.invitation()),
};
