import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { AddressRefused } from '../../src/outbound/address.ts';
import { createAgent } from '../../src/outbound/agent.ts';
import { guardedFetch } from '../../src/outbound/fetch.ts';
import { closeAtEnd } from '../support/cleanup.ts';

const server = createServer((request, response) => {
  if (request.url === '/moved') return void response.writeHead(302, { location: '/' }).end();
  if (request.url === '/huge') return void response.end('x'.repeat(300_000));
  if (request.url === '/silent') return undefined;
  return void response.writeHead(200, { 'x-method': request.method }).end('hello');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
closeAtEnd(async () => {
  server.closeAllConnections();
  server.close();
});

function open(allowPrivate: boolean) {
  const agent = createAgent({
    allowPrivate,
    resolveHost: async () => ['10.0.0.1'],
    timeoutMs: 1000,
  });
  closeAtEnd(() => agent.destroy());
  return guardedFetch(agent, { timeoutMs: 1000 });
}

test('reads an answer', async () => {
  const response = await open(true)(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a=b' });
  expect([response.status, response.headers.get('x-method')]).toEqual([200, 'POST']);
  expect(await response.text()).toBe('hello');
});

test('follows no redirect', async () => {
  expect((await open(true)(`http://127.0.0.1:${port}/moved`)).status).toBe(302);
});

test.each([
  ['a huge answer', '/huge', /256 KiB/],
  ['no answer', '/silent', /timeout/i],
])('refuses %s', async (_name, path, reason) => {
  await expect(open(true)(`http://127.0.0.1:${port}${path}`)).rejects.toThrow(reason);
});

test.each(['127.0.0.1', '[::1]', 'inside.example'])(
  'refuses %s, which is private',
  async (host) => {
    await expect(open(false)(`http://${host}:${port}/`)).rejects.toThrow(AddressRefused);
  },
);
