import { type Cases, webhookSecret } from './case.ts';

export const messagesCases: Cases = {
  setEmailSender: {
    scope: 'experience:write',
    given: async () => ({ smtp: { host: '8.8.8.8', port: 9, from: 'Acme <a@example.com>' } }),
    invalid: [
      { smtp: null },
      { smtp: { host: 'two words', from: 'a@example.com' } },
      { smtp: { host: '8.8.8.8', from: 'nobody' } },
      { smtp: { host: '8.8.8.8', port: 0, from: 'a@example.com' } },
      { smtp: { host: '8.8.8.8', from: 'a@example.com', username: 'alone' } },
      { http: { url: 'nowhere', secret: webhookSecret }, smtp: null },
    ],
  },
  setSmsSender: {
    scope: 'experience:write',
    given: async () => ({ http: { url: 'https://127.0.0.1/', secret: webhookSecret } }),
    invalid: [
      { http: { url: 'ftp://example.com', secret: webhookSecret } },
      { http: { url: 'https://127.0.0.1/', secret: 'whsec_short' } },
    ],
  },
  removeEmailSender: { scope: 'experience:write', given: async () => ({}) },
  removeSmsSender: { scope: 'experience:write', given: async () => ({}) },
  sendTestMessage: {
    scope: 'experience:write',
    given: async () => ({ channel: 'EMAIL', recipient: 'a@example.com' }),
    invalid: [{ recipient: 'nobody' }],
  },
};
