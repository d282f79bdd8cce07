import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { mountGraphQLWebSocket } from '../../src/http/subscriptions/web-socket.ts';
import { startService } from '../support/service.ts';

test('a stop ends while clients keep sending', async () => {
  const service = await startService();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      get(`${service.url}/readyz`, { agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      }).once('error', reject);
    });
  let answered = 0;
  const client = async () => {
    for (;;) {
      expect(await ask()).toBe(200);
      answered += 1;
    }
  };
  const clients = Promise.allSettled(Array.from({ length: 4 }, client));
  await expect.poll(() => answered).toBeGreaterThan(20);
  await service.app.stop();
  expect((await clients).map(({ status }) => status)).toEqual(
    Array.from({ length: 4 }, () => 'rejected'),
  );
  agent.destroy();
});

test('a stop ends despite an unused connection', async () => {
  const service = await startService();
  const unused = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(unused, 'connect');
  // The service has taken it when it answers a later one.
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  const closed = once(unused, 'close');
  await service.app.stop();
  await closed;
});

test('a service that is about to stop is not ready, and answers all the same', async () => {
  const service = await startService();
  const status = async (path: string) => (await fetch(`${service.url}${path}`)).status;
  expect(await status('/readyz')).toBe(200);
  service.app.retire();
  const ready = await fetch(`${service.url}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, 'stopping\n']);
  expect(await status('/healthz')).toBe(200);
  expect(await status('/oidc/jwks')).toBe(200);
});

test('a client that is refused during a stop, and resets the connection, does not end the process', async () => {
  const { app } = await startService();
  const server = createServer().listen(0);
  await once(server, 'listening');
  mountGraphQLWebSocket(server, app.services, {} as never, {} as never)();
  // `once` of node:events would listen for the error that nobody may have listened for.
  const taken = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(
    'GET /graphql HTTP/1.1\r\nHost: signet\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  const [answer] = await once(client, 'data');
  expect(String(answer)).toContain('503 Service Unavailable');
  const socket = await taken;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  client.resetAndDestroy();
  await closed;
  await new Promise((resolve) => server.close(resolve));
});
