import { byId, type Case, type Cases, m2m, tooMany } from './case.ts';

const applicationRoles: Case = {
  scope: 'applications:write',
  given: async (make) => ({
    applicationId: await make.application(),
    roleIds: [await make.role(m2m)],
  }),
  invalid: [{ roleIds: tooMany('role', 101) }],
};

export const applicationsCases: Cases = {
  createApplication: {
    scope: 'applications:write',
    given: async () => ({ name: 'New', type: 'TRADITIONAL' }),
    invalid: [
      { name: '' },
      { redirectUris: ['nowhere'] },
      { corsAllowedOrigins: ['https://a.example.com/path'] },
    ],
  },
  updateApplication: {
    scope: 'applications:write',
    given: async (make) => ({ id: await make.application(), name: 'Changed' }),
    invalid: [{ name: '' }, { exchangeResources: ['relative'] }],
  },
  deleteApplication: byId('applications:write', (make) => make.application()),
  createApplicationSecret: {
    scope: 'applications:write',
    given: async (make) => ({ applicationId: await make.application(), name: make.next('new') }),
    invalid: [{ name: '' }, { expiresAt: '2001-01-01T00:00:00Z' }],
    async duplicate(make, { applicationId }) {
      const name = make.next('taken');
      await make.done('createApplicationSecret', { applicationId, name });
      return { replace: { name }, path: 'name' };
    },
  },
  deleteApplicationSecret: byId('applications:write', async (make) => {
    const applicationId = await make.application();
    return (await make.done('createApplicationSecret', { applicationId, name: 'Second' }))
      .applicationSecret.id;
  }),
  assignApplicationRoles: applicationRoles,
  replaceApplicationRoles: applicationRoles,
  removeApplicationRole: {
    scope: 'applications:write',
    async given(make) {
      const [applicationId, roleId] = [await make.application(), await make.role(m2m)];
      await make.done('assignApplicationRoles', { applicationId, roleIds: [roleId] });
      return { applicationId, roleId };
    },
  },
};
