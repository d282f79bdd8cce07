import type { Maker } from '../maker.ts';
import type { Case, Cases } from './case.ts';

const reads = ['resources', 'organizations', 'applications', 'webhooks', 'experience'];

const ofDocument = {
  scope: 'roles:write',
  scopesBeside: reads.map((area) => `${area}:read`),
  given: async (make: Maker) => ({
    document: JSON.stringify({ signet: 1, roles: [{ name: make.next('configured') }] }),
  }),
  invalid: [{ document: '{' }, { document: `signet: 1\n#${'x'.repeat(2 ** 20)}` }],
} satisfies Case;

export const configurationCases: Cases = {
  planConfiguration: ofDocument,
  applyConfiguration: ofDocument,
};
