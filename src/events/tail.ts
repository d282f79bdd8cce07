import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { type EventPosition, type LoggedEvent, readEnd, readNext } from './log.ts';

/** The one place in a process that follows the log. */
export interface Tail {
  /** How far it has read: what it hands out next lies behind this place. */
  readonly position: EventPosition;
  /**
   * Hands every event from here on to the listener, in the log's order, in batches, once each. A listener does not
   * wait: it takes note and returns.
   */
  subscribe(listener: (events: readonly LoggedEvent[]) => void): () => void;
  /** Tells the listener that the log goes on, for those who read it themselves. */
  onSettled(listener: () => void): () => void;
  /** Lets a read under way end, and reads no more. */
  stop(): Promise<void>;
}

const batchSize = 500;
/** Between reads where hints come all the time: what settles meanwhile comes in one batch. */
const restMs = 2;
/** The first wait for a transaction that is still open; each next one is twice as long, up to the longest. */
const unsettledMs = 4;
const longestUnsettledMs = 1_000;
const retryMs = 1_000;

/** Starts to follow the log from its present end. */
export async function startTail(services: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
}): Promise<Tail> {
  const { database, clock, log, metrics } = services;
  const { pollMs } = database.hints;
  const listeners = new Set<(events: readonly LoggedEvent[]) => void>();
  const settledListeners = new Set<() => void>();
  let position = await readEnd(database.prisma);
  let behindSince: Date | undefined;
  let isStopped = false;
  let isHinted = false;
  let wake = () => {};

  new Gauge({
    name: 'signet_event_log_lag_seconds',
    help: 'Age of the oldest event that is committed and not yet handed out by this process, in seconds.',
    registers: [metrics],
    collect() {
      const lagMs = behindSince ? clock.now().getTime() - behindSince.getTime() : 0;
      this.set(Math.max(0, lagMs) / 1000);
    },
  });
  const read = new Counter({
    name: 'signet_event_log_read_total',
    help: 'Events read from the log by this process.',
    registers: [metrics],
  });

  async function follow(): Promise<void> {
    let waitMs = unsettledMs;
    while (!isStopped) {
      isHinted = false;
      try {
        const { events, unsettledSince } = await readNext(database.prisma, position, batchSize);
        const last = events.at(-1);
        if (last) {
          position = last.position;
          read.inc(events.length);
          for (const listener of listeners) listener(events);
          for (const listener of settledListeners) listener();
        }
        const isFull = events.length === batchSize;
        behindSince = isFull ? last?.occurredAt : unsettledSince;
        // The transaction that holds the line may raise no event, and then it gives no hint when it ends.
        waitMs = unsettledSince && !last ? Math.min(waitMs * 2, longestUnsettledMs) : unsettledMs;
        if (!isFull) await rest(unsettledSince ? waitMs : pollMs);
      } catch (error) {
        if (isStopped) return;
        log.error({ err: error }, 'the event log could not be read');
        behindSince ??= clock.now();
        await rest(retryMs);
      }
    }
  }

  async function rest(milliseconds: number): Promise<void> {
    await delay(restMs);
    if (isHinted || isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const stopListening = database.hints.listen(() => {
    isHinted = true;
    wake();
  });
  const following = follow();
  return {
    get position() {
      return position;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onSettled(listener) {
      settledListeners.add(listener);
      return () => void settledListeners.delete(listener);
    },
    async stop() {
      isStopped = true;
      stopListening();
      wake();
      await following;
    },
  };
}
