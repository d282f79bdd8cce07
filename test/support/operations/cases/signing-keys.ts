import { byId, type Cases } from './case.ts';

export const signingKeysCases: Cases = {
  rotateSigningKey: { scope: 'all', given: async () => ({}) },
  deleteSigningKey: byId(
    'all',
    async (make) => (await make.done('rotateSigningKey', {})).retiredSigningKey.id,
  ),
};
