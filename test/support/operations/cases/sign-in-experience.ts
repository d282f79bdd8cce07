import type { Cases } from './case.ts';

export const signInExperienceCases: Cases = {
  updateSignInExperience: {
    scope: 'experience:write',
    given: async (make) => ({ branding: { productName: make.next('Product') } }),
    invalid: [
      { signInIdentifiers: [] },
      { signUpIdentifiers: [] },
      { passwordPolicy: { minLength: 7 } },
      { passwordPolicy: { blocklist: [' '] } },
      { codePolicy: { ttlSeconds: 601 } },
      { lockoutPolicy: { maxAttempts: 101 } },
      { sessionPolicy: { idleSeconds: 0 } },
      { branding: { primaryColor: 'red; }' } },
      { branding: { logoUrl: 'javascript:alert(1)' } },
      { branding: { productName: '' } },
    ],
  },
};
