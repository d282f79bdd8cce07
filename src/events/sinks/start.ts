import type { Services } from '../../services.ts';
import type { Tail } from '../tail.ts';
import { forwardEvents, sinkName } from './forward.ts';

/**
 * Starts handing events to the configured sink.
 *
 * @returns A function that stops it.
 */
export async function startSink(services: Services, tail: Tail): Promise<() => Promise<void>> {
  const { config, database, log } = services;
  const { eventSinkUrl: url } = config;
  if (url) {
    const { connectNats } = await import('./nats.ts');
    return forwardEvents(services, tail, () => connectNats(url));
  }
  // The position of a sink that is no longer configured would block the purge of the log for ever.
  const { count } = await database.prisma.eventConsumer.deleteMany({ where: { name: sinkName } });
  if (count > 0)
    log.info('no event sink is configured: how far the last one had come is forgotten');
  return async () => undefined;
}
