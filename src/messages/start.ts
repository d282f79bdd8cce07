import { Dispatcher } from '../dispatch/dispatcher.ts';
import { createAgent } from '../outbound/agent.ts';
import type { Services } from '../services.ts';
import { registerMessageMetrics } from './metrics.ts';
import { messageWork } from './work.ts';

/**
 * Starts sending queued messages.
 *
 * @returns A function that stops it. Running attempts end within seconds or are put back.
 */
export function startMessages(services: Services): () => Promise<void> {
  const { config, resolveHost } = services;
  const agent = createAgent({
    allowPrivate: config.allowPrivateWebhooks,
    resolveHost,
    timeoutMs: config.webhookTimeoutMs,
  });
  const metrics = registerMessageMetrics(services);
  const dispatcher = new Dispatcher(services, messageWork(services, agent, metrics));
  dispatcher.wake();
  return async () => {
    await dispatcher.stop();
    await agent.destroy();
  };
}
