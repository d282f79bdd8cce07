import { byId, type Cases, tooLarge, tooMany } from '../case.ts';

export const organizationsCases: Cases = {
  createOrganization: {
    scope: 'organizations:write',
    given: async () => ({ name: 'New', customData: { seats: 3 } }),
    invalid: [{ name: '' }, { description: 'x'.repeat(1025) }, { customData: tooLarge }],
  },
  updateOrganization: {
    scope: 'organizations:write',
    given: async (make) => ({ id: await make.organization(), name: make.next('changed') }),
    invalid: [{ name: '' }, { name: null }],
  },
  deleteOrganization: byId('organizations:write', (make) => make.organization()),
  addOrganizationEmailDomain: {
    scope: 'organizations:write',
    given: async (make) => ({ organizationId: await make.organization(), domain: 'example.com' }),
    invalid: [{ domain: 'no domain' }],
    async duplicate(make, { organizationId }) {
      await make.done('addOrganizationEmailDomain', {
        organizationId,
        domain: 'taken.example.com',
      });
      return { replace: { domain: 'TAKEN.example.com' }, path: 'domain' };
    },
  },
  removeOrganizationEmailDomain: {
    scope: 'organizations:write',
    async given(make) {
      const key = { organizationId: await make.organization(), domain: 'example.com' };
      await make.done('addOrganizationEmailDomain', key);
      return key;
    },
    missing: { domain: 'other.example.com' },
  },
  replaceOrganizationJitRoles: {
    scope: 'organizations:write',
    given: async (make) => ({
      organizationId: await make.organization(),
      organizationRoleIds: [await make.organizationRole()],
    }),
    invalid: [{ organizationRoleIds: tooMany('orgrole', 101) }],
  },
};
