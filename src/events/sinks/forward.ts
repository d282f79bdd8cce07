import { setTimeout as delay } from 'node:timers/promises';
import { addGauge, counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import { readConsumer, registerConsumer, writeConsumer } from '../consumers.ts';
import { readNext } from '../log.ts';
import type { EventPosition } from '../position.ts';
import type { Tail } from '../tail.ts';
import type { Sink } from './sink.ts';

/** The name of the consumer whose position says how far the sink has come. */
export const sinkName = 'sink';

const batchSize = 100;
const retryMs = 1_000;
/** How often the position is saved during a batch. */
const noteMs = 1_000;

/**
 * Hands every event to a sink, in order and at least once. One process at a time does so and continues where the last
 * one stopped; the very first begins with new events.
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

  const published = counterOf(metrics, 'signet_sink_published_total');
  addGauge(metrics, 'signet_sink_lag_seconds', (gauge) =>
    gauge.set(behindSince ? (clock.now().getTime() - behindSince.getTime()) / 1000 : 0),
  );

  // Saved before the service answers requests, so that no event is missed.
  await registerConsumer(prisma, sinkName);

  const pause = (milliseconds: number, signal: AbortSignal) =>
    delay(milliseconds, undefined, { signal }).catch(() => undefined);

  async function forward(sink: Sink, signal: AbortSignal): Promise<void> {
    let position: EventPosition = await readConsumer(prisma, sinkName);
    while (!signal.aborted) {
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { events } = await readNext(prisma, position, batchSize);
      let reached: EventPosition | undefined;
      let notedAt = clock.now().getTime();
      try {
        for (const event of events) {
          behindSince = event.occurredAt;
          await sink.publish(event);
          reached = event.position;
          published.inc();
          if (signal.aborted) break;
          // Saves the position during slow batches. Otherwise processes that are killed again and again would all begin
          // with the same events.
          if (clock.now().getTime() - notedAt < noteMs) continue;
          await writeConsumer(prisma, sinkName, reached);
          notedAt = clock.now().getTime();
        }
        behindSince = undefined;
      } finally {
        if (reached) {
          await writeConsumer(prisma, sinkName, reached);
          position = reached;
        }
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
