import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { listen, type Timeouts } from '../../src/http/listener.ts';
import { send } from '../support/operations/graphql.ts';
import { openRaw, type RawConnection } from '../support/peers/raw-http.ts';
import { connect as connectSubscriber, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';
import { lateBy } from '../support/wait.ts';

const short = { receive: 400, receiveCheck: 50, stall: 400 } satisfies Timeouts;

async function startListener() {
  const listener = await listen({ host: '127.0.0.1', port: 0 }, short);
  onTestFinished(() => listener.close());
  // It listens with several sockets; this server has the connections of all.
  const open = new Set<Socket>();
  let count = 0;
  listener.server.on('connection', (socket: Socket) => {
    count += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const connections = () => ({ ever: count, now: open.size });
  return { listener, connections, url: `http://127.0.0.1:${listener.port}` };
}

/** Writes a little again and again, until the other side has had enough. */
async function drip({ socket, closed }: RawConnection, text: string): Promise<void> {
  while (socket.writable) {
    socket.write(text);
    await lateBy(20);
  }
  await closed;
}

const idle = (url: string) => openRaw(url, '').closed;

describe('a connection ends', () => {
  test('that sends its body too slowly', async () => {
    const { listener, url } = await startListener();
    listener.answerWith((request, response) => request.resume().once('end', () => response.end()));
    const slow = openRaw(
      url,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    await drip(slow, '1\r\nx\r\n');
    expect(slow.received()).toContain('408 Request Timeout');
  });

  test('that sends its headers too slowly', async () => {
    const { url } = await startListener();
    const slow = openRaw(url, 'GET / HTTP/1.1\r\n');
    await drip(slow, 'x: y\r\n');
    expect(slow.received()).toContain('408 Request Timeout');
  });

  test('whose client does not read the answer', async () => {
    const { listener, connections, url } = await startListener();
    listener.answerWith((_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024)));
    const deaf: Socket = connect(listener.port, '127.0.0.1').pause();
    deaf.on('error', () => undefined);
    deaf.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(connections).toEqual({ ever: 1, now: 0 });
    deaf.destroy();
    expect(url).toBeDefined();
  });
});

test('a connection stays open while its answer is made', async () => {
  const { listener, url } = await startListener();
  const others: Promise<unknown>[] = [];
  listener.answerWith(async (_request, response) => {
    response.write('first');
    // One that came later is ended for doing nothing, and another one after that.
    others.push(
      idle(url)
        .then(() => idle(url))
        .then(() => response.end('last')),
    );
  });
  const answer = await (await fetch(url)).text();
  await Promise.all(others);
  expect(answer).toBe('firstlast');
});

test('streams without events stay open on both transports', async () => {
  const service = await startService({}, { timeouts: short });
  const at = { url: service.url, token: await service.managementToken() };
  const subscriber = subscribe(connectSubscriber(at));
  const stream = await fetch(`${at.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${at.token}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: 'subscription { events { name } }' }),
  });
  await idle(at.url);
  await idle(at.url);
  const create = 'mutation { createRole(input: { name: "still there" }) { __typename } }';
  let frames = '';
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader?.cancel());
  await send(at, create);
  while (!frames.includes('Role.Created')) frames += (await reader?.read())?.value ?? '';
  await subscriber.until(({ events }) => events.some(({ name }) => name === 'Role.Created'));
});

describe('an upgrade', async () => {
  const service = await startService();
  const upgrade = (path: string, to: string, more = '') =>
    openRaw(
      service.url,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close${more ? ', http2-settings' : ''}\r\nupgrade: ${to}\r\n${more}\r\n`,
    );

  test.each([
    ['/readyz', 200],
    ['/healthz', 200],
    ['/graphql?query={__typename}', 200],
    ['/nothing', 404],
  ])('to h2c is ignored: %s is answered normally', async (path, status) => {
    const { closed, received } = upgrade(
      path,
      'h2c',
      'http2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n',
    );
    await closed;
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test('to a WebSocket is accepted only at /graphql', async () => {
    const { closed, received } = upgrade('/readyz', 'websocket');
    await closed;
    expect(received()).toMatch(/^HTTP\/1.1 200 /);
    const socket = new WebSocket(
      `${service.url.replace('http', 'ws')}/graphql?x=y`,
      'graphql-transport-ws',
    );
    await once(socket, 'open');
    socket.terminate();
  });
});
