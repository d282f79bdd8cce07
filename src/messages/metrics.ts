import { addGauge, counterOf } from '../metrics/metrics.ts';
import type { Services } from '../services.ts';
import { channels } from './queue.ts';

/** Registers the metrics of messages. */
export function registerMessageMetrics(services: Services) {
  const { metrics, database, clock } = services;
  const readDue = async () => {
    const now = clock.now();
    const found = await database.prisma.message.groupBy({
      by: ['channel'],
      where: { nextAttemptAt: { lte: now } },
      _count: true,
      _min: { nextAttemptAt: true },
    });
    return channels.map((channel) => {
      const due = found.find((one) => one.channel === channel);
      const since = due?._min.nextAttemptAt ?? now;
      return {
        channel,
        count: due?._count ?? 0,
        oldestSeconds: (now.getTime() - since.getTime()) / 1000,
      };
    });
  };
  addGauge(metrics, 'signet_messages_due', async (gauge) => {
    for (const { channel, count } of await readDue()) gauge.set({ channel }, count);
  });
  addGauge(metrics, 'signet_messages_oldest_seconds', async (gauge) => {
    for (const { channel, oldestSeconds } of await readDue()) gauge.set({ channel }, oldestSeconds);
  });
  return { attempts: counterOf(metrics, 'signet_message_attempts_total') };
}

/** The counters of sent messages. */
export type MessageMetrics = ReturnType<typeof registerMessageMetrics>;
