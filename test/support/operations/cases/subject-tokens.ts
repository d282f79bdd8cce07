import { byId, type Cases, inAYear, m2m, tooLarge, tooLong, tooMany } from './case.ts';

export const subjectTokensCases: Cases = {
  createSubjectToken: {
    scope: 'users:write',
    given: async (make) => ({
      userId: await make.user(),
      applicationId: await make.application({
        ...m2m,
        allowTokenExchange: true,
        allowImpersonation: true,
      }),
      reason: 'A ticket',
      context: { ticket: 7 },
    }),
    invalid: [{ reason: ' ' }, { reason: 'x'.repeat(1025) }, { context: tooLarge }],
  },
  createPersonalAccessToken: {
    scope: 'users:write',
    async given(make) {
      const indicator = `https://${make.next('orders').replace('_', '-')}.example.com/api`;
      await make.done('createResource', { name: 'Orders', indicator });
      return {
        userId: await make.user(),
        name: make.next('token'),
        scopes: ['read'],
        resource: indicator,
        expiresAt: inAYear(),
      };
    },
    invalid: [
      { name: '' },
      { name: tooLong },
      { scopes: ['two words'] },
      { scopes: tooMany('scope', 101) },
      { resource: 'orders' },
      { resource: 'https://orders.example.com/#part' },
      { resource: 'https://none.example.com' },
      { expiresAt: '2020-01-01T00:00:00.000Z' },
    ],
    async duplicate(make, { userId }) {
      const name = make.next('taken');
      await make.done('createPersonalAccessToken', { userId, name, expiresAt: inAYear() });
      return { replace: { name }, path: 'name' };
    },
  },
  deletePersonalAccessToken: byId('users:write', async (make) => {
    const { personalAccessToken } = await make.done('createPersonalAccessToken', {
      userId: await make.user(),
      name: make.next('token'),
      expiresAt: inAYear(),
    });
    return personalAccessToken.id;
  }),
};
