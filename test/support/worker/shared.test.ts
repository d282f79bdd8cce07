import http from 'node:http';
import { expect, test, vi } from 'vitest';
import { noteShared } from './shared.ts';

test('what files share is given back', () => {
  const giveBack = noteShared();
  const own = globalThis.fetch;
  const agent = http.globalAgent;
  const path = process.env['PATH'];
  globalThis.fetch = () => Promise.reject(new Error('not here'));
  http.globalAgent = new http.Agent();
  process.env['PATH'] = 'elsewhere';
  process.env['SIGNET_ONLY_HERE'] = 'yes';
  vi.stubEnv('SIGNET_STUBBED', 'yes');
  vi.useFakeTimers();

  giveBack();
  expect(globalThis.fetch).toBe(own);
  expect(http.globalAgent).toBe(agent);
  expect(process.env['PATH']).toBe(path);
  expect(process.env).not.toHaveProperty('SIGNET_ONLY_HERE');
  expect(process.env).not.toHaveProperty('SIGNET_STUBBED');
  expect(vi.isFakeTimers()).toBe(false);
});
