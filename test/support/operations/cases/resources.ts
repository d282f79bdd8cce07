import { byId, type Cases } from './case.ts';

export const resourcesCases: Cases = {
  createResource: {
    scope: 'resources:write',
    given: async (make) => ({
      name: 'New',
      indicator: `https://${make.next('new').replace('_', '-')}.example.com`,
    }),
    invalid: [{ name: '' }, { indicator: 'relative' }, { accessTokenTtlSeconds: 0 }],
    async duplicate(make) {
      const indicator = `https://${make.next('taken').replace('_', '-')}.example.com`;
      await make.done('createResource', { name: 'Taken', indicator });
      return { replace: { indicator }, path: 'indicator' };
    },
  },
  updateResource: {
    scope: 'resources:write',
    given: async (make) => ({ id: await make.resource(), name: 'Changed' }),
    invalid: [{ name: '' }, { accessTokenTtlSeconds: 2_592_001 }],
  },
  deleteResource: byId('resources:write', (make) => make.resource()),
  createScope: {
    scope: 'resources:write',
    given: async (make) => ({ resourceId: await make.resource(), name: make.next('new') }),
    invalid: [{ name: 'two words' }, { description: 'x'.repeat(1025) }],
    async duplicate(make, { resourceId }) {
      const name = make.next('taken');
      await make.scope({ resourceId, name });
      return { replace: { name }, path: 'name' };
    },
  },
  updateScope: {
    scope: 'resources:write',
    given: async (make) => ({ id: await make.scope(), name: make.next('changed') }),
    invalid: [{ name: 'two words' }, { name: null }],
    async duplicate(make) {
      const [resourceId, name] = [await make.resource(), make.next('taken')];
      await make.scope({ resourceId, name });
      return { replace: { id: await make.scope({ resourceId }), name }, path: 'name' };
    },
  },
  deleteScope: byId('resources:write', (make) => make.scope()),
};
