import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createProcessDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { lateBy } from '../support/wait.ts';

const database = await createProcessDatabase();
const secret = 'the right secret, which is long enough';

/** A port that was free a moment ago: who probes has to know it before the service says it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Asks for several paths at once until it is told to end, and returns the statuses. */
async function probe(url: string, end: Promise<unknown>): Promise<Set<number>> {
  let isOver = false;
  void end.finally(() => {
    isOver = true;
  });
  const statuses = new Set<number>();
  const paths = [
    '/readyz',
    '/healthz',
    '/metrics',
    '/graphql?query={__typename}',
    '/api/users',
    '/x',
  ];
  const one = async (path: string) => {
    while (!isOver) {
      // Nobody listens at first.
      const answer = await fetch(`${url}${path}`).catch(() => undefined);
      await answer?.text();
      if (answer) statuses.add(answer.status);
      else await lateBy(10);
    }
  };
  await Promise.all(paths.map(one));
  return statuses;
}

test('a start under constant probes answers 503, then normally', async () => {
  for (const round of [1, 2]) {
    const port = await freePort();
    const node = startProcess({ ...database, SIGNET_SECRET: secret, PORT: String(port) });
    const statuses = await probe(`http://127.0.0.1:${port}`, node.ready);
    const at = await node.ready;
    expect(statuses.difference(new Set([200, 401, 404, 503])), `start ${round}`).toEqual(new Set());
    expect(statuses).toContain(503);
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
  }
});

test('refuses a SIGNET_SECRET that does not fit its keys', async () => {
  const wrong = { ...database, SIGNET_SECRET: 'another secret, which is as long as that' };
  const { ended, stderr, stdout } = startProcess(wrong);
  expect(await ended).toBe(1);
  expect(stdout()).toBe('');
  expect(stderr()).toMatch(/^[^\n]*SIGNET_SECRET[^\n]*\n$/);
});
