import type { Maker } from '../maker.ts';
import { byId, type Cases, tooLong, tooMany } from './case.ts';

const organizationProvider = async (make: Maker) => ({
  organizationId: await make.organization(),
  identityProviderId: await make.identityProvider(),
});

const wrongFields = [
  { name: '' },
  { name: tooLong },
  { issuer: 'nowhere' },
  { issuer: 'http://127.0.0.1:9/?tenant=1' },
  { issuer: 'http://user:password@127.0.0.1:9' },
  { issuer: 'http://127.0.0.1:9/.well-known/openid-configuration' },
  { clientId: '' },
  { clientSecret: '' },
  { scopes: ['two words'] },
  { emailDomains: ['no domain'] },
  { emailDomains: tooMany('a', 101) },
];

const takenDomain = async (make: Maker) => {
  const domain = `${make.next('taken').replace('_', '-')}.example.com`;
  await make.identityProvider({ emailDomains: [domain] });
  return { replace: { emailDomains: [domain.toUpperCase()] }, path: 'emailDomains' };
};

export const identityProvidersCases: Cases = {
  createIdentityProvider: {
    scope: 'experience:write',
    given: async (make) => ({
      name: make.next('provider'),
      kind: 'ENTERPRISE',
      issuer: 'http://127.0.0.1:9',
      clientId: 'signet',
      clientSecret: 'a secret',
      scopes: ['openid', 'email'],
      emailDomains: [`${make.next('company').replace('_', '-')}.example.com`],
      enabled: true,
    }),
    invalid: wrongFields,
    duplicate: takenDomain,
  },
  updateIdentityProvider: {
    scope: 'experience:write',
    given: async (make) => ({
      id: await make.identityProvider(),
      name: 'Changed',
      emailDomains: [`${make.next('changed').replace('_', '-')}.example.com`],
    }),
    invalid: [...wrongFields, { redirectUriRegistered: false }],
    duplicate: takenDomain,
  },
  deleteIdentityProvider: byId('experience:write', (make) => make.identityProvider()),
  addOrganizationIdentityProvider: {
    scope: 'organizations:write',
    scopesBeside: ['experience:read'],
    given: organizationProvider,
    async duplicate(make, { organizationId }) {
      const identityProviderId = await make.identityProvider();
      const key = { organizationId, identityProviderId };
      await make.done('addOrganizationIdentityProvider', key);
      return { replace: { identityProviderId }, path: 'identityProviderId' };
    },
  },
  removeOrganizationIdentityProvider: {
    scope: 'organizations:write',
    scopesBeside: ['experience:read'],
    async given(make) {
      const key = await organizationProvider(make);
      await make.done('addOrganizationIdentityProvider', key);
      return key;
    },
  },
  deleteUserIdentity: {
    scope: 'users:write',
    async given(make, { createIdentity }) {
      const userId = await make.user();
      const { id } = await createIdentity(userId, await make.identityProvider());
      return { userId, identityId: id };
    },
  },
};
