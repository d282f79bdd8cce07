import { setTimeout as delay } from 'node:timers/promises';
import { addGauge, counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import { readConsumer, registerConsumer, writeConsumer } from '../consumers.ts';
import { type LoggedEvent, readNext } from '../log.ts';
import type { EventPosition } from '../position.ts';
import type { Tail } from '../tail.ts';
import { type Sink, SinkRefusal } from './sink.ts';

/** The name of the consumer whose position says how far the sink has come. */
export const sinkName = 'sink';

const batchSize = 100;
const retryMs = 1_000;
/** How often the position is saved during a batch. */
const noteMs = 1_000;
/** How long an event that is too large for the sink is tried before the later ones go on without it. */
const putAsideMs = 60_000;
/** How often a refusal that lasts is logged. */
const tellMs = 60_000;

/**
 * Hands every event to a sink, in order and at least once. One process at a time does so and continues where the last
 * one stopped; the very first begins with new events. What the sink refuses is tried again until it is taken, except
 * for an event that stays too large: after a minute it is left out, and so at once are later ones that are as large,
 * until one of its size is taken.
 *
 * @param connect Connects to the sink. It is retried until it succeeds.
 * @returns A function that stops it and saves the position reached.
 */
export async function forwardEvents(
  services: Services,
  tail: Pick<Tail, 'onSettled'>,
  connect: () => Promise<Sink>,
): Promise<() => Promise<void>> {
  const { database, clock, log, metrics } = services;
  const { prisma } = database;
  const stopping = new AbortController();
  const stopped = stopping.signal;
  let behindSince: Date | undefined;
  let wake = () => {};

  /** The event that is refused, for what reason, and since when for this reason. */
  let refused:
    | (Pick<SinkRefusal, 'reason'> & { readonly id: string; readonly since: number })
    | undefined;
  let told: { readonly message: string; readonly at: number } | undefined;
  /** The size of the smallest message that was put aside. */
  let tooLarge = Number.POSITIVE_INFINITY;

  const published = counterOf(metrics, 'signet_sink_published_total');
  const refusals = counterOf(metrics, 'signet_sink_refusals_total');
  const leftOut = counterOf(metrics, 'signet_sink_put_aside_total');
  addGauge(metrics, 'signet_sink_lag_seconds', (gauge) =>
    gauge.set(behindSince ? (clock.now().getTime() - behindSince.getTime()) / 1000 : 0),
  );

  // Saved before the service answers requests, so that no event is missed.
  await registerConsumer(prisma, sinkName);

  const pause = (milliseconds: number, signal: AbortSignal) =>
    delay(milliseconds, undefined, { signal }).catch(() => undefined);

  function tell(refusal: SinkRefusal, { id, type }: LoggedEvent): void {
    const { message, reason, subject, bytes } = refusal;
    const now = clock.now().getTime();
    if (told?.message === message && now - told.at < tellMs) return;
    told = { message, at: now };
    const fields = { err: refusal, reason, subject, bytes, eventId: id, eventType: type };
    log.warn(fields, 'the event sink refuses an event');
  }

  /** Whether the event is put aside, since it was refused as too large for long enough. */
  function isPutAside({ reason, subject, bytes }: SinkRefusal, event: LoggedEvent): boolean {
    const now = clock.now().getTime();
    if (refused?.id !== event.id || refused.reason !== reason) {
      refused = { id: event.id, reason, since: now };
    }
    if (reason !== 'too_large') return false;
    if (bytes < tooLarge && now - refused.since < putAsideMs) return false;
    tooLarge = Math.min(tooLarge, bytes);
    leftOut.inc();
    log.error(
      { eventId: event.id, eventType: event.type, subject, bytes },
      'an event that is too large for the event sink is put aside; it stays in the log of events',
    );
    return true;
  }

  /** Tries until the sink has taken an event, or it is put aside. Whether either came. */
  async function hand(
    sink: Sink,
    event: LoggedEvent,
    signal: AbortSignal,
    beforeWaiting: () => Promise<void>,
  ): Promise<boolean> {
    while (!signal.aborted) {
      try {
        const bytes = await sink.publish(event);
        published.inc();
        if (bytes >= tooLarge) tooLarge = Number.POSITIVE_INFINITY;
        told = undefined;
        return true;
      } catch (error) {
        if (!(error instanceof SinkRefusal)) throw error;
        refusals.inc({ reason: error.reason });
        tell(error, event);
        if (isPutAside(error, event)) return true;
        await beforeWaiting();
        await pause(retryMs, signal);
      }
    }
    return false;
  }

  async function forward(sink: Sink, signal: AbortSignal): Promise<void> {
    let position: EventPosition = await readConsumer(prisma, sinkName);
    while (!signal.aborted) {
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { events } = await readNext(prisma, position, batchSize);
      let reached: EventPosition | undefined;
      let notedAt = clock.now().getTime();
      const note = async () => {
        if (!reached) return;
        await writeConsumer(prisma, sinkName, reached);
        position = reached;
        reached = undefined;
        notedAt = clock.now().getTime();
      };
      try {
        for (const event of events) {
          behindSince = event.occurredAt;
          if (!(await hand(sink, event, signal, note))) break;
          reached = event.position;
          if (signal.aborted) break;
          // Saves the position during slow batches. Otherwise processes that are killed again and again would all begin
          // with the same events.
          if (clock.now().getTime() - notedAt >= noteMs) await note();
        }
        behindSince = undefined;
      } finally {
        await note();
      }
      if (events.length === 0) await Promise.race([news, pause(database.hints.pollMs, signal)]);
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let sink: Sink | undefined;
      try {
        sink = await connect();
        log.info('the event sink is connected');
        await forward(sink, signal);
      } catch (error) {
        log.warn({ err: error }, 'the event sink does not take events');
        await pause(retryMs, signal);
      } finally {
        await sink?.close();
      }
    }
  }

  const stopListening = tail.onSettled(() => wake());
  const running = database.exclusively('signet:sink', stopped, run);
  return async () => {
    stopListening();
    stopping.abort();
    wake();
    await running;
  };
}
