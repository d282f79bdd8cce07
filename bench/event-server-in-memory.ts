import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { newId } from '../src/ids.ts';
import { serveBench, sharedNow } from './event-source.ts';

// The best case of graphql-ws: its own server on a source in memory, without rights to check.

const schema = buildSchema(`
  scalar JSON
  type Query { nothing: String }
  type Event { id: ID! cursor: String! name: String! data: JSON! }
  type Subscription { events(after: String): Event! }
`);

interface Event {
  readonly id: string;
  readonly cursor: string;
  readonly name: string;
  readonly data: unknown;
}

/** The events that wait for one subscriber. */
class Queue implements AsyncIterableIterator<{ events: Event }> {
  readonly #events: Event[] = [];
  #taker: ((result: IteratorResult<{ events: Event }>) => void) | undefined;

  push(event: Event): void {
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker) taker({ done: false, value: { events: event } });
    else this.#events.push(event);
  }

  next(): Promise<IteratorResult<{ events: Event }>> {
    const event = this.#events.shift();
    if (event) return Promise.resolve({ done: false, value: { events: event } });
    return new Promise((resolve) => {
      this.#taker = resolve;
    });
  }

  async return(): Promise<IteratorResult<{ events: Event }>> {
    queues.delete(this);
    this.#taker?.({ done: true, value: undefined });
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const queues = new Set<Queue>();
const server = createServer();
const sockets = new WebSocketServer({ server, path: '/graphql', perMessageDeflate: false });
useServer(
  {
    schema,
    roots: {
      subscription: {
        events() {
          const queue = new Queue();
          queues.add(queue);
          return queue;
        },
      },
    },
  },
  sockets,
  // No pings: on a small machine a burst to 1,000 subscribers may take longer than the wait for a pong.
  0,
);
let written = 0;
serveBench({
  end: async () => '',
  subscribers: async () => queues.size,
  async write(events) {
    const committedAt = sharedNow();
    for (const { type, data } of events) {
      written += 1;
      const cursor = Buffer.from(`${written}.${written}`).toString('base64url');
      const event = { id: newId('Event'), cursor, name: type, data };
      for (const queue of queues) queue.push(event);
    }
    return committedAt;
  },
});
process.once('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ result: { url: `http://127.0.0.1:${port}` } });
});
