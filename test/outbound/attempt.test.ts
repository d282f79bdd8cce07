import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/outbound/agent.ts';
import { AttemptAborted, post } from '../../src/outbound/attempt.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { patienceMs } from '../support/peers/patience.ts';
import { lateBy } from '../support/wait.ts';

const server = createServer((request, response) => {
  if (request.url === '/silent') return;
  response.writeHead(200);
  if (request.url === '/half') response.write('half');
  else response.end('whole');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
closeAtEnd(async () => {
  server.closeAllConnections();
  server.close();
});

function open(resolveHost = async () => ['127.0.0.1'] as readonly string[]) {
  const agent = createAgent({ allowPrivate: true, resolveHost, timeoutMs: patienceMs });
  closeAtEnd(() => agent.destroy());
  return (url: string, signal: AbortSignal, timeoutMs = patienceMs) =>
    post(agent, { url, headers: {}, body: Buffer.from('{}'), timeoutMs, signal });
}
/** Finds no name, for longer than the attempts here take. */
const slowly = async (): Promise<never> => {
  await lateBy(2000);
  throw new Error('not found');
};

test('leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  const result = await open()(`http://localhost:${port}/`, signal);
  expect(result).toMatchObject({ outcome: 'succeeded', responseBody: 'whole', error: null });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(['/silent', '/half'])(
  'is ended by the signal, with its connection (%s)',
  async (path) => {
    const control = new AbortController();
    const asked = once(server, 'request');
    const ended = open()(`http://127.0.0.1:${port}${path}`, control.signal);
    const [{ socket }] = await asked;
    // Not by `once`, which fails on the reset of the connection.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    control.abort();
    await expect(ended).rejects.toThrow(AttemptAborted);
    await closed;
  },
);

test('is ended by the signal while the name is looked up', async () => {
  const control = new AbortController();
  const ended = open(slowly)(`http://inside.example:${port}/`, control.signal);
  control.abort();
  await expect(ended).rejects.toThrow(AttemptAborted);
});

test('posts nothing after the signal', async () => {
  await expect(open()(`http://127.0.0.1:${port}/`, AbortSignal.abort())).rejects.toThrow(
    AttemptAborted,
  );
});

test('takes no longer than allowed although a name is not found in time', async () => {
  const { signal } = new AbortController();
  const result = await open(slowly)(`http://inside.example:${port}/`, signal, 300);
  expect(result).toMatchObject({ outcome: 'timeout', error: 'no answer within 0.3 s' });
});

test('posts nothing once the connection is there, if it has ended before', async () => {
  const control = new AbortController();
  const found = Promise.withResolvers<readonly string[]>();
  const send = open(() => found.promise);
  let requests = 0;
  server.on('request', () => {
    requests += 1;
  });
  const ended = send(`http://inside.example:${port}/`, control.signal);
  control.abort();
  await expect(ended).rejects.toThrow(AttemptAborted);
  found.resolve(['127.0.0.1']);
  await send(`http://inside.example:${port}/`, new AbortController().signal);
  expect(requests).toBe(1);
});
