import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();

test('issues the admin application a token for the management API', async () => {
  expect(await service.managementToken()).toMatch(/^ey/);
});
