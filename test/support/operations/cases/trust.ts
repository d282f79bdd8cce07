import type { Maker } from '../maker.ts';
import { byId, type Cases, tooLong } from './case.ts';

const wrongIssuer = [
  { name: '' },
  { name: tooLong },
  { issuer: 'nowhere' },
  { jwksUri: 'nowhere' },
  { jwksUri: 'http://user:password@127.0.0.1:9' },
  { claimRules: [] },
  { claimRules: [{ claim: '', equals: 'x' }] },
  { claimRules: [{ claim: 'sub', equals: '' }] },
  { claimRules: Array.from({ length: 21 }, (_, i) => ({ claim: `c${i}`, equals: 'x' })) },
  { maxLifetimeSeconds: 0 },
  { maxLifetimeSeconds: 3_601 },
];

const wrongConnection = [{ issuer: 'nowhere' }, { clientId: '' }, { scopes: ['two words'] }];

const takenIssuer = async (make: Maker, { applicationId }: { applicationId?: unknown }) => {
  const issuer = `https://${make.next('taken').replace('_', '-')}.example.com`;
  await make.crossAppConnection({ issuer, ...(applicationId ? { applicationId } : {}) });
  return { replace: { issuer }, path: 'issuer' };
};

/** The applications of the connections that are changed. */
const owners = new Map<unknown, unknown>();

export const trustCases: Cases = {
  createTrustedIssuer: {
    scope: 'applications:write',
    given: async (make) => ({
      name: make.next('issuer'),
      issuer: 'http://127.0.0.1:9',
      jwksUri: 'http://127.0.0.1:9/jwks',
      kind: 'WORKLOAD',
      claimRules: [{ claim: 'sub', equals: 'repo:acme/shop' }],
      applicationId: await make.application(),
      maxLifetimeSeconds: 600,
      requireJti: false,
    }),
    invalid: wrongIssuer,
  },
  updateTrustedIssuer: {
    scope: 'applications:write',
    given: async (make) => ({
      id: await make.trustedIssuer(),
      name: 'Changed',
      applicationId: await make.application(),
    }),
    invalid: wrongIssuer,
  },
  deleteTrustedIssuer: byId('applications:write', (make) => make.trustedIssuer()),
  createCrossAppConnection: {
    scope: 'applications:write',
    given: async (make) => ({
      applicationId: await make.application(),
      issuer: `https://${make.next('other').replace('_', '-')}.example.com`,
      clientId: 'wiki',
      scopes: ['read'],
    }),
    invalid: wrongConnection,
    duplicate: takenIssuer,
  },
  updateCrossAppConnection: {
    scope: 'applications:write',
    async given(make) {
      const applicationId = await make.application();
      const id = await make.crossAppConnection({ applicationId });
      owners.set(id, applicationId);
      return { id, clientId: 'changed' };
    },
    invalid: wrongConnection,
    duplicate: (make, { id }) => takenIssuer(make, { applicationId: owners.get(id) }),
  },
  deleteCrossAppConnection: byId('applications:write', (make) => make.crossAppConnection()),
};
