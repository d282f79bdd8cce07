import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import {
  countNext,
  type EventPosition,
  type LoggedEvent,
  readEnd,
  readNext,
  type SettledEnd,
} from './log.ts';

/** Follows the log; one for each process. */
export interface Tail {
  /** The position that it has read to. The next events come after it. */
  readonly position: EventPosition;
  /**
   * Hands every later event to the listener, in batches, in the log's order, each once. A listener must return at once
   * and do its work later.
   */
  subscribe(listener: (events: readonly LoggedEvent[]) => void): () => void;
  /** Calls the listener when new events have settled, for code that reads the log itself. */
  onSettled(listener: () => void): () => void;
  /** Waits for a running read to end and stops reading. */
  stop(): Promise<void>;
}

const batchSize = 500;
/** The pause between reads when hints keep coming. The events that settle meanwhile make one batch. */
const restMs = 2;
/** The pause while nobody listens to the events themselves. */
const idleRestMs = 10;
/** The first wait for an open transaction. Each further wait is twice as long, up to `longestUnsettledMs`. */
const unsettledMs = 4;
const longestUnsettledMs = 1_000;
const retryMs = 1_000;

/** Starts following the log from its current end. */
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
    help: 'Age of the oldest committed event that this process has not handed out yet, in seconds.',
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
        const { events, count, last, unsettledSince } = await readOn();
        if (last) {
          position = last.position;
          read.inc(count);
          for (const listener of listeners) listener(events);
          for (const listener of settledListeners) listener();
        }
        const isFull = count === batchSize;
        behindSince = isFull ? last?.occurredAt : unsettledSince;
        // The open transaction may record no event, and then its end gives no hint. So the waits start short.
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

  async function readOn(): Promise<SettledEnd & { readonly events: readonly LoggedEvent[] }> {
    if (listeners.size === 0) {
      const found = await countNext(database, position, batchSize);
      // Whoever began to listen meanwhile gets the events.
      if (listeners.size === 0) return { ...found, events: [] };
    }
    const { events, unsettledSince } = await readNext(database.prisma, position, batchSize);
    return { events, count: events.length, last: events.at(-1), unsettledSince };
  }

  async function rest(milliseconds: number): Promise<void> {
    await delay(listeners.size > 0 ? restMs : idleRestMs);
    if (isHinted || isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const stopListening = database.hints.listen('log', () => {
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
