import { byId, type Case, type Cases, takenName, tooMany } from '../case.ts';

const organizationRoleScopes: Case = {
  scope: 'organizations:write',
  given: async (make) => ({
    organizationRoleId: await make.organizationRole(),
    organizationScopeIds: [await make.organizationScope()],
  }),
  invalid: [{ organizationScopeIds: tooMany('orgscope', 1001) }],
};

export const organizationRolesCases: Cases = {
  createOrganizationRole: {
    scope: 'organizations:write',
    given: async (make) => ({
      name: make.next('new'),
      organizationScopeIds: [await make.organizationScope()],
      scopeIds: [await make.scope()],
    }),
    invalid: [{ name: '' }, { description: 'x'.repeat(1025) }],
    duplicate: takenName('organizationRole'),
  },
  updateOrganizationRole: {
    scope: 'organizations:write',
    given: async (make) => ({ id: await make.organizationRole(), name: make.next('changed') }),
    invalid: [{ name: '' }, { name: null }],
    duplicate: takenName('organizationRole'),
  },
  deleteOrganizationRole: byId('organizations:write', (make) => make.organizationRole()),
  createOrganizationScope: {
    scope: 'organizations:write',
    given: async (make) => ({ name: make.next('new') }),
    invalid: [{ name: 'two words' }],
    duplicate: takenName('organizationScope'),
  },
  updateOrganizationScope: {
    scope: 'organizations:write',
    given: async (make) => ({ id: await make.organizationScope(), name: make.next('changed') }),
    invalid: [{ name: 'two words' }, { name: null }],
    duplicate: takenName('organizationScope'),
  },
  deleteOrganizationScope: byId('organizations:write', (make) => make.organizationScope()),
  addOrganizationRoleScopes: organizationRoleScopes,
  replaceOrganizationRoleScopes: organizationRoleScopes,
  removeOrganizationRoleScope: {
    scope: 'organizations:write',
    async given(make) {
      const organizationScopeId = await make.organizationScope();
      const organizationRoleId = await make.organizationRole({
        organizationScopeIds: [organizationScopeId],
      });
      return { organizationRoleId, organizationScopeId };
    },
  },
  addOrganizationRoleResourceScopes: {
    scope: 'organizations:write',
    given: async (make) => ({
      organizationRoleId: await make.organizationRole(),
      scopeIds: [await make.scope()],
    }),
    invalid: [{ scopeIds: tooMany('scope', 1001) }],
  },
  removeOrganizationRoleResourceScope: {
    scope: 'organizations:write',
    async given(make) {
      const scopeId = await make.scope();
      return {
        organizationRoleId: await make.organizationRole({ scopeIds: [scopeId] }),
        scopeId,
      };
    },
  },
};
