import { Agent, get } from 'node:http';
import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

test('a stop ends though clients go on sending on the connections they have', async () => {
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
