import { addGauge, counterOf, histogramOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import { isDue, isLeased, nextDeliveryAt } from './queue.ts';

/** Registers the metrics of webhooks. */
export function registerMetrics(services: Services, inFlight: () => number) {
  const { metrics, database, clock } = services;
  addGauge(metrics, 'signet_webhook_deliveries_in_flight', (gauge) => gauge.set(inFlight()));
  addGauge(metrics, 'signet_webhook_deliveries_due', async (gauge) => {
    const [row] = await database.prisma.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) AS "count" FROM "Delivery" d JOIN "Webhook" w ON w."id" = d."webhookId" AND w."enabled"
       WHERE ${isDue(clock.now())} AND NOT ${isLeased(clock.now())}`;
    gauge.set(Number(row?.count ?? 0));
  });
  addGauge(metrics, 'signet_webhook_deliveries_oldest_seconds', async (gauge) => {
    const now = clock.now().getTime();
    const dueAt = (await nextDeliveryAt(database.prisma))?.getTime() ?? now;
    gauge.set(Math.max(0, now - dueAt) / 1000);
  });
  return {
    attempts: counterOf(metrics, 'signet_webhook_attempts_total'),
    durations: histogramOf(metrics, 'signet_webhook_attempt_duration_seconds'),
  };
}

/** The counters of deliveries. */
export type DeliveryMetrics = ReturnType<typeof registerMetrics>;
