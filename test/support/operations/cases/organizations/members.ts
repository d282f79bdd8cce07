import { type Case, type Cases, m2m, tooMany } from '../case.ts';

const members: Case = {
  scope: 'organizations:write',
  given: async (make) => ({
    organizationId: await make.organization(),
    userIds: [await make.user(), await make.user()],
  }),
  invalid: [{ userIds: tooMany('user', 5001) }],
};

const applicationMembers: Case = {
  scope: 'organizations:write',
  given: async (make) => ({
    organizationId: await make.organization(),
    applicationIds: [await make.application()],
  }),
  invalid: [{ applicationIds: tooMany('app', 5001) }],
};

const memberRoles: Case = {
  scope: 'organizations:write',
  given: async (make) => ({
    ...(await make.member()),
    organizationRoleIds: [await make.organizationRole()],
  }),
  invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
};

const applicationMemberRoles: Case = {
  scope: 'organizations:write',
  given: async (make) => ({
    ...(await make.applicationMember()),
    organizationRoleIds: [await make.organizationRole(m2m)],
  }),
  invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
};

export const organizationMembersCases: Cases = {
  addOrganizationUsers: members,
  replaceOrganizationUsers: members,
  removeOrganizationUser: { scope: 'organizations:write', given: (make) => make.member() },
  addOrganizationApplications: applicationMembers,
  replaceOrganizationApplications: applicationMembers,
  removeOrganizationApplication: {
    scope: 'organizations:write',
    given: (make) => make.applicationMember(),
  },
  assignOrganizationUserRoles: memberRoles,
  replaceOrganizationUserRoles: memberRoles,
  removeOrganizationUserRole: {
    scope: 'organizations:write',
    async given(make) {
      const [member, organizationRoleId] = [await make.member(), await make.organizationRole()];
      await make.done('assignOrganizationUserRoles', {
        ...member,
        organizationRoleIds: [organizationRoleId],
      });
      return { ...member, organizationRoleId };
    },
  },
  assignOrganizationApplicationRoles: applicationMemberRoles,
  replaceOrganizationApplicationRoles: applicationMemberRoles,
  removeOrganizationApplicationRole: {
    scope: 'organizations:write',
    async given(make) {
      const member = await make.applicationMember();
      const organizationRoleId = await make.organizationRole(m2m);
      await make.done('assignOrganizationApplicationRoles', {
        ...member,
        organizationRoleIds: [organizationRoleId],
      });
      return { ...member, organizationRoleId };
    },
  },
};
