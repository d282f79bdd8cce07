import { byId, type Case, type Cases, tooLarge, tooLong, tooMany } from './case.ts';

const userRoles: Case = {
  scope: 'users:write',
  given: async (make) => ({ userId: await make.user(), roleIds: [await make.role()] }),
  invalid: [{ roleIds: tooMany('role', 101) }],
};

export const usersCases: Cases = {
  createUser: {
    scope: 'users:write',
    given: async (make) => ({ username: make.next('new'), name: 'New', password: 'long enough' }),
    invalid: [
      { username: '1 2' },
      { primaryEmail: 'nowhere' },
      { primaryPhone: '12' },
      { name: tooLong },
      { avatar: 'ftp://example.com' },
      { password: 'short' },
      { customData: tooLarge },
      { profile: tooLarge },
    ],
    async duplicate(make) {
      const username = make.next('taken');
      await make.user({ username });
      return { replace: { username: username.toUpperCase() }, path: 'username' };
    },
  },
  updateUser: {
    scope: 'users:write',
    given: async (make) => ({ id: await make.user(), name: 'Changed' }),
    invalid: [{ avatar: 'nothing' }, { primaryPhone: '+49' }, { username: '' }],
    async duplicate(make) {
      const primaryEmail = `${make.next('taken')}@example.com`;
      await make.user({ primaryEmail });
      return { replace: { primaryEmail: primaryEmail.toUpperCase() }, path: 'primaryEmail' };
    },
  },
  updateUserCustomData: {
    scope: 'users:write',
    given: async (make) => ({ id: await make.user(), customData: { plan: 'free' } }),
    invalid: [{ customData: tooLarge }],
  },
  updateUserProfile: {
    scope: 'users:write',
    given: async (make) => ({ id: await make.user(), profile: { locale: 'de' } }),
    invalid: [{ profile: tooLarge }, { profile: { birthdate: 5 } }, { profile: { givenName: [] } }],
  },
  updateUserPassword: {
    scope: 'users:write',
    given: async (make) => ({ id: await make.user(), password: 'long enough' }),
    invalid: [{ password: 'short' }],
  },
  updateUserSuspensionStatus: {
    scope: 'users:write',
    given: async (make) => ({ id: await make.user(), isSuspended: true }),
  },
  deleteUser: byId('users:write', (make) => make.user()),
  signOutUser: byId('users:write', (make) => make.user()),
  importUsers: {
    scope: 'users:write',
    given: async (make) => ({
      users: [{ username: make.next('imported'), roleIds: [await make.role()] }],
    }),
    invalid: [{ users: Array.from({ length: 1001 }, () => ({})) }],
  },
  assignUserRoles: userRoles,
  replaceUserRoles: userRoles,
  removeUserRole: {
    scope: 'users:write',
    async given(make) {
      const [userId, roleId] = [await make.user(), await make.role()];
      await make.done('assignUserRoles', { userId, roleIds: [roleId] });
      return { userId, roleId };
    },
  },
  endUserSession: {
    scope: 'users:write',
    async given(make, { createSession }) {
      const userId = await make.user();
      return { userId, sessionId: (await createSession(userId)).id };
    },
  },
  revokeUserGrant: {
    scope: 'users:write',
    async given(make, { createGrant }) {
      const userId = await make.user();
      const applicationId = await make.application({ type: 'SPA', isThirdParty: true });
      return { userId, grantId: (await createGrant(userId, applicationId)).id };
    },
  },
  deleteUserFactor: {
    scope: 'users:write',
    async given(make, { createFactor }) {
      const userId = await make.user();
      return { userId, factorId: (await createFactor(userId)).id };
    },
  },
  unlockIdentifier: {
    scope: 'users:write',
    given: async () => ({ type: 'USERNAME', value: 'Ada' }),
    invalid: [{ value: ' ' }, { value: 'x'.repeat(321) }],
  },
  createOneTimeToken: {
    scope: 'users:write',
    given: async (make) => ({
      email: `${make.next('new')}@example.com`,
      context: { from: 'a test' },
    }),
    invalid: [
      { email: 'nowhere' },
      { expiresInSeconds: 0 },
      { expiresInSeconds: 604_801 },
      { context: tooLarge },
    ],
  },
};
