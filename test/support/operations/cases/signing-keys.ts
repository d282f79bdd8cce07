import { byId, type Cases, inAYear } from './case.ts';

export const signingKeysCases: Cases = {
  rotateSigningKey: { scope: 'all', given: async () => ({}) },
  // When a key is made by itself.
  updateServiceSettings: {
    scope: 'applications:write',
    opensAll: true,
    given: async (make) => ({ signingKeyRotationDays: Number(make.next('').slice(1)) }),
    invalid: [
      { signingKeyRotationDays: 0 },
      { signingKeyRotationDays: -1 },
      { signingKeyRotationDays: 3651 },
      { clientRegistration: { metadataHosts: ['app.example.com:443'] } },
    ],
  },
  createRegistrationToken: {
    scope: 'applications:write',
    given: async () => ({ expiresAt: inAYear(), maxUses: 3 }),
    invalid: [{ expiresAt: '2020-01-01T00:00:00.000Z' }, { maxUses: 0 }, { maxUses: 1_001 }],
  },
  deleteRegistrationToken: byId(
    'applications:write',
    async (make) =>
      (await make.done('createRegistrationToken', { expiresAt: inAYear() })).registrationToken.id,
  ),
  deleteSigningKey: byId(
    'all',
    async (make) => (await make.done('rotateSigningKey', {})).retiredSigningKey.id,
  ),
};
