import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Distribution, type Taker } from '../../src/workers/distribution.ts';

let server: Server;
const accepted: Socket[] = [];
beforeAll(async () => {
  server = createServer({ pauseOnConnect: true }, (socket) => void accepted.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => void server.close());

/** Connections as a server accepts them. */
async function connections(count: number): Promise<Socket[]> {
  const { port } = server.address() as { port: number };
  accepted.length = 0;
  const clients = Array.from({ length: count }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  onTestFinished(() => {
    for (const socket of [...clients, ...accepted]) socket.destroy();
  });
  await expect.poll(() => accepted.length).toBe(count);
  return [...accepted];
}

class Worker implements Taker {
  readonly got: { readonly id: number; readonly socket: Socket }[] = [];
  send(id: number, socket: Socket): void {
    this.got.push({ id, socket });
  }
}

function start(longestMs = 500) {
  const here: { readonly socket: Socket; readonly hasTakers: boolean }[] = [];
  const distribution = new Distribution({
    longestMs,
    answerHere: (socket, hasTakers) => here.push({ socket, hasTakers }),
  });
  const take = (worker: Worker, open: number) => {
    const { id } = worker.got.at(-1) ?? { id: 0 };
    distribution.taken(worker, id, open);
  };
  return { distribution, here, take };
}

test('the worker with the fewest connections gets the next', async () => {
  const { distribution, take } = start();
  const [busy, idle] = [new Worker(), new Worker()];
  distribution.add(busy);
  distribution.add(idle);
  distribution.opened(busy, 10);
  for (const socket of await connections(3)) {
    distribution.give(socket);
    take(idle, idle.got.length);
  }
  expect([busy.got.length, idle.got.length]).toEqual([0, 3]);
});

test('this process closes its copy once the worker has the connection', async () => {
  const { distribution, take } = start();
  const worker = new Worker();
  distribution.add(worker);
  const [socket] = (await connections(1)) as [Socket];
  distribution.give(socket);
  expect(socket.destroyed).toBe(false);
  take(worker, 1);
  expect(socket.destroyed).toBe(true);
});

test('what a worker did not take before it died goes to another, before what came later', async () => {
  const { distribution, take } = start();
  const [dying, other] = [new Worker(), new Worker()];
  distribution.add(dying);
  const [first, second] = (await connections(2)) as [Socket, Socket];
  distribution.give(first);
  distribution.give(second);
  expect(dying.got.map(({ socket }) => socket)).toEqual([first]);
  distribution.add(other);
  distribution.opened(other, 5);
  distribution.remove(dying);
  take(other, 6);
  take(other, 7);
  expect(other.got.map(({ socket }) => socket).sort()).toEqual([second, first].sort());
  expect(new Set(other.got.map(({ socket }) => socket))).toEqual(new Set([first, second]));
});

test('without a worker a connection is answered here at once', async () => {
  const { distribution, here } = start();
  const [socket] = (await connections(1)) as [Socket];
  distribution.give(socket);
  expect(here).toEqual([{ socket, hasTakers: false }]);
});

test('what no worker takes in time is answered here', async () => {
  const sockets = await connections(3);
  vi.useFakeTimers();
  try {
    const { distribution, here } = start(500);
    const worker = new Worker();
    distribution.add(worker);
    for (const socket of sockets) distribution.give(socket);
    vi.advanceTimersByTime(450);
    expect(here).toEqual([]);
    vi.advanceTimersByTime(50);
    expect(here).toEqual(sockets.slice(1).map((socket) => ({ socket, hasTakers: true })));
    distribution.stop();
  } finally {
    vi.useRealTimers();
  }
});
