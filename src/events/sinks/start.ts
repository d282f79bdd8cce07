import type { Services } from '../../services.ts';
import type { Tail } from '../tail.ts';
import { forwardEvents, sinkName } from './forward.ts';

/**
 * Starts to hand events on to the sink that the configuration names.
 *
 * @returns Stops.
 */
export async function startSink(services: Services, tail: Tail): Promise<() => Promise<void>> {
  const { config, database, log } = services;
  const { eventSinkUrl: url } = config;
  if (url) {
    const { connectNats } = await import('./nats.ts');
    return forwardEvents(services, tail, () => connectNats(url));
  }
  // A sink that is configured no more would keep the log from ever being purged.
  const { count } = await database.prisma.eventConsumer.deleteMany({ where: { name: sinkName } });
  if (count > 0)
    log.info('no event sink is configured: how far the last one had come is forgotten');
  return async () => undefined;
}
