import type { Socket } from 'node:net';
import type { Accepted } from '../http/listener.ts';
import type { Snapshot, ToPrimary, ToWorker } from './messages.ts';

/** How often a worker tells how many connections it has, in milliseconds. */
const tellMs = 1_000;

/** What the primary process tells a worker to do. */
interface Orders {
  /** Do the background work from now on. */
  background(): void;
  /** Say that it is not ready any more. */
  retire(): void;
  /** Stop: it is told so, or the primary process is gone. */
  stop(): void;
}

/** A worker's side of the channel to the primary process. */
export interface Channel {
  readonly begin: Extract<ToWorker, { type: 'begin' }>;
  readonly accepted: Accepted;
  /** Reads the metrics of all workers, in Prometheus' text format. */
  readAllMetrics(): Promise<string>;
  /** Follows orders, those that came before included. */
  follow(orders: Orders): void;
  /** Says that it answers requests from now on. */
  ready(readMetrics: () => Promise<Snapshot>): void;
}

/** Connects a worker to the primary process, which has forked it. */
export async function connectToPrimary(): Promise<Channel> {
  const open = new Set<Socket>();
  const asked = new Map<number, (text: string) => void>();
  const began = Promise.withResolvers<Channel['begin']>();
  const orders = Promise.withResolvers<Orders>();
  let take: ((socket: Socket) => void) | undefined;
  let readMetrics: (() => Promise<Snapshot>) | undefined;
  let count = 0;
  let toldOpen = 0;

  function tell(message: ToPrimary): void {
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  }

  function connected(id: number, socket: Socket | undefined): void {
    if (socket && take) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      take(socket);
    }
    toldOpen = open.size;
    tell({ type: 'taken', id, open: open.size });
  }

  process.on('message', (message: ToWorker, socket?: unknown) => {
    switch (message.type) {
      case 'begin':
        began.resolve(message);
        return;
      case 'connection':
        // The client may have gone meanwhile, and then there is none.
        connected(message.id, socket as Socket | undefined);
        return;
      case 'metrics':
        void readMetrics?.().then((metrics) => tell({ type: 'metrics', id: message.id, metrics }));
        return;
      case 'all-metrics':
        asked.get(message.id)?.(message.text);
        asked.delete(message.id);
        return;
      default:
        void orders.promise.then((all) => all[message.type]());
    }
  });
  process.once('disconnect', () => void orders.promise.then(({ stop }) => stop()));
  const timer = setInterval(() => {
    if (open.size === toldOpen) return;
    toldOpen = open.size;
    tell({ type: 'open', open: open.size });
  }, tellMs);
  timer.unref();

  const begin = await began.promise;
  return {
    begin,
    accepted: {
      port: begin.port,
      onConnection(taker) {
        take = taker;
      },
    },
    readAllMetrics: () =>
      new Promise((resolve) => {
        count += 1;
        asked.set(count, resolve);
        tell({ type: 'all-metrics', id: count });
      }),
    follow: orders.resolve,
    ready(read) {
      readMetrics = read;
      tell({ type: 'ready' });
    },
  };
}
