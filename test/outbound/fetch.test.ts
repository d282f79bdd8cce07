import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createRawServer } from 'node:net';
import { expect, test } from 'vitest';
import { AddressRefused } from '../../src/outbound/address.ts';
import { AnswerTooLong, createAgent, maxReceivedBytes } from '../../src/outbound/agent.ts';
import { post } from '../../src/outbound/attempt.ts';
import { guardedFetch } from '../../src/outbound/fetch.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { patienceMs } from '../support/peers/patience.ts';

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

function openAgent(allowPrivate: boolean, timeoutMs = patienceMs) {
  const agent = createAgent({ allowPrivate, resolveHost: async () => ['10.0.0.1'], timeoutMs });
  closeAtEnd(() => agent.destroy());
  return agent;
}
const open = (allowPrivate: boolean, timeoutMs = patienceMs) =>
  guardedFetch(openAgent(allowPrivate, timeoutMs), { timeoutMs });

test('reads an answer', async () => {
  const response = await open(true)(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a=b' });
  expect([response.status, response.headers.get('x-method')]).toEqual([200, 'POST']);
  expect(await response.text()).toBe('hello');
});

test('follows no redirect', async () => {
  expect((await open(true)(`http://127.0.0.1:${port}/moved`)).status).toBe(302);
});

test('refuses a huge answer', async () => {
  await expect(open(true)(`http://127.0.0.1:${port}/huge`)).rejects.toThrow(/256 KiB/);
});

test('gives up without an answer', async () => {
  await expect(open(true, 1000)(`http://127.0.0.1:${port}/silent`)).rejects.toThrow(/timeout/i);
});

test.each(['127.0.0.1', '[::1]', 'inside.example'])(
  'refuses %s, which is private',
  async (host) => {
    await expect(open(false)(`http://${host}:${port}/`)).rejects.toThrow(AddressRefused);
  },
);

/** Answers each request with these bytes, again and again until the other side has had enough. */
async function startEndless(first: string, again: string) {
  const endless = createRawServer((socket) => {
    const more = again.repeat(100);
    const pour = () => {
      while (socket.writable && socket.write(more));
    };
    socket.on('error', () => undefined);
    socket.on('drain', pour);
    socket.once('data', () => {
      socket.write(first);
      pour();
    });
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  closeAtEnd(async () => void endless.close());
  return `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`;
}

const endlessAnswers: [string, string, string][] = [
  ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
  [
    'chunks that are nearly empty',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    `1;${'x'.repeat(1000)}\r\n.\r\n`,
  ],
];

test.each(endlessAnswers)('%s end after all bytes received', async (_name, first, again) => {
  const url = await startEndless(first, again);
  const agent = openAgent(true);
  const timeoutMs = patienceMs;
  const failure = await guardedFetch(agent, { timeoutMs })(url).catch((error) => error);
  expect([failure, failure.cause].some((cause) => cause instanceof AnswerTooLong)).toBe(true);
  const body = Buffer.from('{}');
  const { signal } = new AbortController();
  const result = await post(agent, { url, headers: {}, body, timeoutMs, signal });
  expect(result.error).toContain(`${maxReceivedBytes / 1024} KiB`);
});

test('a connection that is used again has the whole budget again', async () => {
  const fetchAgain = open(true);
  const large = createServer((_request, response) => void response.end('x'.repeat(200_000)));
  let connections = 0;
  large.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => large.listen(0, '127.0.0.1', resolve));
  closeAtEnd(async () => {
    large.closeAllConnections();
    large.close();
  });
  const url = `http://127.0.0.1:${(large.address() as AddressInfo).port}/`;
  for (let sent = 0; sent < 12; sent += 1)
    expect((await (await fetchAgain(url)).text()).length).toBe(200_000);
  expect(connections * maxReceivedBytes).toBeLessThan(12 * 200_000);
});
