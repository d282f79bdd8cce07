import { Counter, Gauge } from 'prom-client';
import type { Services } from '../services.ts';

/** The counters of sent messages. */
export interface MessageMetrics {
  readonly attempts: Counter<'channel' | 'outcome'>;
}

/** Registers the metrics of messages. */
export function registerMessageMetrics(services: Services): MessageMetrics {
  const { metrics, database, clock } = services;
  const registers = [metrics];
  new Gauge({
    name: 'signet_messages_due',
    help: 'Messages that are due and not yet sent, over all nodes.',
    labelNames: ['channel'],
    registers,
    async collect() {
      this.reset();
      const rows = await database.prisma.message.groupBy({
        by: ['channel'],
        where: { nextAttemptAt: { lte: clock.now() } },
        _count: true,
      });
      for (const { channel, _count } of rows) this.set({ channel }, _count);
    },
  });
  return {
    attempts: new Counter({
      name: 'signet_message_attempts_total',
      help: 'Attempts to send a message, by outcome.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
  };
}
