import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { eventually, lateBy } from '../wait.ts';
import { noteHandles } from './handles.ts';
import { noteShared } from './shared.ts';

test('a server and its connections are left open until they close', async () => {
  const leftOpen = noteHandles();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The runner has timers of its own at times.
  expect(leftOpen()).toContain('1 TCPServerWrap');

  const accepted = once(server, 'connection');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = await accepted;
  await eventually(() => expect(leftOpen()).toContain('2 TCPSocketWrap'));

  near.destroy();
  far.destroy();
  server.close();
  await eventually(() => expect(leftOpen()).toEqual([]));
});

test('a timer is left open until it ends', async () => {
  const leftOpen = noteHandles();
  const late = lateBy(50);
  expect(leftOpen()).toEqual(['1 Timeout']);
  await late;
  await eventually(() => expect(leftOpen()).toEqual([]));
});

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
