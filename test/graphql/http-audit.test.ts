import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();

describe('GraphQL over HTTP', () => {
  // The audits send `{ __typename }` and the like, for which no token is needed.
  for (const audit of serverAudits({ url: `${service.url}/graphql` })) {
    test(audit.name, async () => {
      const result = await audit.fn();
      const reason = 'reason' in result ? result.reason : '';
      // A MUST that fails is an error; a SHOULD is a warning, a MAY a notice.
      expect(result.status, reason).not.toBe('error');
      if (audit.name.startsWith('MUST')) expect(result.status, reason).toBe('ok');
    });
  }
});
