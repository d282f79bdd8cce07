import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startService } from '../../support/service.ts';

const init = (token: string) =>
  JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });

function open(url: string, localAddress = '127.0.0.1', headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    localAddress,
    headers,
  });
  onTestFinished(() => socket.terminate());
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve);
    socket.on('error', () => undefined);
  });
  return { socket, closed };
}

async function opened(...at: Parameters<typeof open>) {
  const connection = open(...at);
  await once(connection.socket, 'open');
  return connection;
}

async function known(token: string, ...at: Parameters<typeof open>) {
  const connection = await opened(...at);
  connection.socket.send(init(token));
  const [message] = await once(connection.socket, 'message');
  expect(String(message)).toContain('connection_ack');
  return connection;
}

const refused = async (...at: Parameters<typeof open>) => {
  const { socket } = open(...at);
  const [, response] = await once(socket, 'unexpected-response');
  return response.statusCode as number;
};

describe('connections without a token', () => {
  test('make room for others, the oldest first', async () => {
    const service = await startService({ MAX_CONNECTIONS: '3' });
    // A PostgreSQL takes a hundred connections.
    onTestFinished(service.stop);
    const token = await service.managementToken();
    const first = await opened(service.url);
    await opened(service.url);
    await opened(service.url);
    await known(token, service.url);
    expect(await first.closed).toBe(1013);
  });

  test('make no room when all have one', async () => {
    const service = await startService({ MAX_CONNECTIONS: '2' });
    // A PostgreSQL takes a hundred connections.
    onTestFinished(service.stop);
    const token = await service.managementToken();
    const all = [await known(token, service.url), await known(token, service.url)];
    expect(await refused(service.url)).toBe(503);
    for (const { socket } of all) expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  test('are ended first at the address with the most', async () => {
    const service = await startService({ MAX_CONNECTIONS: '4' });
    // A PostgreSQL takes a hundred connections.
    onTestFinished(service.stop);
    const quiet = await opened(service.url, '127.0.0.1');
    const loud = await opened(service.url, '127.0.0.2');
    for (let n = 0; n < 2; n += 1) await opened(service.url, '127.0.0.2');
    await opened(service.url, '127.0.0.2');
    expect(await loud.closed).toBe(1013);
    await opened(service.url, '127.0.0.3');
    expect(quiet.socket.readyState).toBe(WebSocket.OPEN);
  });

  test('may send a token, and little more', async () => {
    const service = await startService();
    // A PostgreSQL takes a hundred connections.
    onTestFinished(service.stop);
    const { socket, closed } = await opened(service.url);
    socket.send('x'.repeat(20 * 1024));
    expect(await closed).toBe(1009);
  });

  test('may send more after it', async () => {
    const service = await startService();
    // A PostgreSQL takes a hundred connections.
    onTestFinished(service.stop);
    const token = await service.managementToken();
    const { socket } = await known(token, service.url);
    const query = '{ __typename }';
    const payload = { query, variables: { x: 'x'.repeat(1024 * 1024) } };
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    const [message] = await once(socket, 'message');
    expect(String(message)).toContain('"__typename":"Query"');
  });
});
