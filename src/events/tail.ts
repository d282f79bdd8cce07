import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { addGauge, counterOf } from '../metrics/metrics.ts';
import { CursorExpired } from './consumers.ts';
import { countNext, type LoggedEvent, readEnd, readNext, type SettledEnd } from './log.ts';
import { comparePositions, type EventPosition } from './position.ts';

/** Follows the log; one for each process. */
export interface Tail {
  /**
   * Hands every later event to the listener, in batches, in the log's order, each once. A listener must return at once
   * and do its work later.
   */
  subscribe(listener: (events: readonly LoggedEvent[]) => void): () => void;
  /** Resolves when it has read to this position; also when it stops, or the log breaks. */
  reached(wanted: EventPosition): Promise<void>;
  /**
   * Calls the listener when the log no longer holds the last event that was handed out: the database went back to a
   * backup, or to a standby that was behind. What has happened since is handed to nobody; the tail goes on from the
   * log's end.
   */
  onBreak(listener: () => void): () => void;
  /** Calls the listener when new events have settled, for code that reads the log itself. */
  onSettled(listener: () => void): () => void;
  /** Waits for a running read to end and stops reading. */
  stop(): Promise<void>;
}

const batchSize = 500;
/** The pause between reads when hints keep coming. The events that settle meanwhile make one batch. */
const restMs = 2;
/** The pause while nobody listens to the events themselves. */
const idleRestMs = 20;
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
  const breakListeners = new Set<() => void>();
  let position = await readEnd(database.prisma);
  let behindSince: Date | undefined;
  let isStopped = false;
  let isHinted = false;
  let breaks = 0;
  let moves: (() => void)[] = [];
  let wake = () => {};

  addGauge(metrics, 'signet_event_log_lag_seconds', (gauge) => {
    const lagMs = behindSince ? clock.now().getTime() - behindSince.getTime() : 0;
    gauge.set(Math.max(0, lagMs) / 1000);
  });
  const read = counterOf(metrics, 'signet_event_log_read_total');

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
          moved();
        }
        const isFull = count === batchSize;
        behindSince = isFull ? last?.occurredAt : unsettledSince;
        // The open transaction may record no event, and then its end gives no hint. So the waits start short.
        waitMs = unsettledSince && !last ? Math.min(waitMs * 2, longestUnsettledMs) : unsettledMs;
        if (!isFull) await rest(unsettledSince ? waitMs : pollMs);
      } catch (error) {
        if (isStopped) return;
        if (error instanceof CursorExpired && (await goOnFromEnd())) continue;
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

  function moved(): void {
    const waiting = moves;
    moves = [];
    for (const resolve of waiting) resolve();
  }

  async function goOnFromEnd(): Promise<boolean> {
    try {
      position = await readEnd(database.prisma);
    } catch {
      return false;
    }
    log.warn(
      'the event log lacks events that it held before: subscribers read on from their cursors',
    );
    breaks += 1;
    for (const listener of breakListeners) listener();
    for (const listener of settledListeners) listener();
    moved();
    return true;
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
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async reached(wanted) {
      const breaksBefore = breaks;
      while (!isStopped && breaks === breaksBefore && comparePositions(position, wanted) < 0)
        await new Promise<void>((resolve) => moves.push(resolve));
    },
    onBreak(listener) {
      breakListeners.add(listener);
      return () => void breakListeners.delete(listener);
    },
    onSettled(listener) {
      settledListeners.add(listener);
      return () => void settledListeners.delete(listener);
    },
    async stop() {
      isStopped = true;
      stopListening();
      wake();
      moved();
      await following;
    },
  };
}
