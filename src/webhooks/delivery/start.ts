import { setTimeout as delay } from 'node:timers/promises';
import type { GraphQLSchema } from 'graphql';
import { Dispatcher, restMs } from '../../dispatch/dispatcher.ts';
import { createLoop } from '../../dispatch/loop.ts';
import { registerConsumer } from '../../events/consumers.ts';
import type { Tail } from '../../events/tail.ts';
import { createAgent } from '../../outbound/agent.ts';
import type { Services } from '../../services.ts';
import { Creators } from '../endpoint/creators.ts';
import { DeliveryAttempts } from './attempt.ts';
import { OutcomeNotes } from './failing.ts';
import { fanOut, webhookConsumer } from './fan-out.ts';
import { registerMetrics } from './metrics.ts';
import { deliveryWork } from './work.ts';

/**
 * Starts making deliveries of the log's events and posting them.
 *
 * @returns A function that stops it. Running attempts end within seconds or are put back.
 */
export async function startDeliveries(
  services: Services,
  schema: GraphQLSchema,
  tail: Pick<Tail, 'onSettled'>,
): Promise<() => Promise<void>> {
  const { config, resolveHost, database } = services;
  await registerConsumer(database.prisma, webhookConsumer);
  const agent = createAgent({
    allowPrivate: config.allowPrivateWebhooks,
    resolveHost,
    timeoutMs: config.webhookTimeoutMs,
  });
  const creators = new Creators(services);
  const attempts = new DeliveryAttempts(services, { schema, agent, creators });
  const notes = new OutcomeNotes(services);
  const metrics = registerMetrics(services, () => dispatcher.inFlight);
  const dispatcher = new Dispatcher(
    services,
    deliveryWork(services, { attempts, creators, notes, metrics }),
  );
  const stopMaking = startMaking(services, tail, (webhookIds) => dispatcher.wake(webhookIds));
  dispatcher.wake();
  return async () => {
    await Promise.all([stopMaking(), dispatcher.stop()]);
    await notes.stop();
    await agent.destroy();
  };
}

/** The pause while there is no webhook: one that is added meanwhile waits for so long. */
const idleRestMs = 100;

/**
 * Starts making deliveries of events as they settle.
 *
 * @param onMade Called with the webhooks that got deliveries.
 * @returns A function that stops it.
 */
function startMaking(
  services: Services,
  tail: Pick<Tail, 'onSettled'>,
  onMade: (webhookIds: readonly string[]) => void,
): () => Promise<void> {
  let isStopping = false;
  const loop = createLoop(
    async () => {
      let hasMore = true;
      let isWanted = true;
      while (hasMore && !isStopping) {
        const made = await fanOut(services);
        if (made.webhookIds.length > 0) onMade(made.webhookIds);
        ({ hasMore, isWanted } = made);
      }
      await delay(isWanted ? restMs : idleRestMs);
    },
    (error) => services.log.error({ err: error }, 'deliveries could not be made'),
  );
  const poll = setInterval(() => loop.wake(), services.database.hints.pollMs);
  const stopFollowing = tail.onSettled(() => loop.wake());
  loop.wake();
  return async () => {
    isStopping = true;
    clearInterval(poll);
    stopFollowing();
    await loop.stop();
  };
}
