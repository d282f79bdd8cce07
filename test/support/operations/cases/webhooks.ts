import { byId, type Cases } from './case.ts';

export const webhooksCases: Cases = {
  createWebhook: {
    scope: 'webhooks:write',
    scopesBeside: ['events:read'],
    given: async () => ({ name: 'New', url: 'https://127.0.0.1/hook', enabled: false }),
    invalid: [
      { name: '' },
      { url: 'ftp://example.com' },
      { maxInFlight: 0 },
      { query: '{ nothing }' },
    ],
  },
  updateWebhook: {
    scope: 'webhooks:write',
    scopesBeside: ['events:read'],
    given: async (make) => ({ id: await make.webhook(), name: 'Changed' }),
    invalid: [{ name: '' }, { url: 'nowhere' }],
  },
  deleteWebhook: byId('webhooks:write', (make) => make.webhook()),
  rotateWebhookSecret: byId('webhooks:write', (make) => make.webhook()),
  testWebhook: byId('webhooks:write', (make) => make.webhook()),
  redeliver: {
    scope: 'webhooks:write',
    async given(make) {
      const id = await make.webhook();
      return { deliveryId: (await make.done('testWebhook', { id })).delivery.id };
    },
  },
  replayEvents: {
    scope: 'webhooks:write',
    given: async (make) => ({ webhookId: await make.webhook(), since: '2001-01-01T00:00:00Z' }),
    invalid: [{ after: 'nonsense' }],
  },
};
