import { byId, type Cases, takenName, tooMany } from './case.ts';

export const rolesCases: Cases = {
  createRole: {
    scope: 'roles:write',
    given: async (make) => ({ name: make.next('new'), scopeIds: [await make.scope()] }),
    invalid: [
      { name: ' ' },
      { description: 'x'.repeat(1025) },
      { scopeIds: tooMany('scope', 1001) },
    ],
    duplicate: takenName('role'),
  },
  updateRole: {
    scope: 'roles:write',
    given: async (make) => ({ id: await make.role(), name: make.next('changed') }),
    invalid: [{ name: '' }, { name: null }, { isDefault: null }],
    duplicate: takenName('role'),
  },
  deleteRole: byId('roles:write', (make) => make.role()),
  addRoleScopes: {
    scope: 'roles:write',
    given: async (make) => ({ roleId: await make.role(), scopeIds: [await make.scope()] }),
    invalid: [{ scopeIds: tooMany('scope', 1001) }],
  },
  removeRoleScope: {
    scope: 'roles:write',
    async given(make) {
      const scopeId = await make.scope();
      return { roleId: await make.role({ scopeIds: [scopeId] }), scopeId };
    },
  },
};
