import { Counter, Gauge } from 'prom-client';
import type { Services } from '../../services.ts';
import { isDue, isLeased } from './queue.ts';

/** The counters of deliveries. */
export interface DeliveryMetrics {
  readonly attempts: Counter<'outcome'>;
}

/** Registers the metrics of webhooks. */
export function registerMetrics(services: Services, inFlight: () => number): DeliveryMetrics {
  const { metrics, database, clock } = services;
  const registers = [metrics];
  new Gauge({
    name: 'signet_webhook_deliveries_in_flight',
    help: 'Deliveries that this node is posting.',
    registers,
    collect() {
      this.set(inFlight());
    },
  });
  new Gauge({
    name: 'signet_webhook_deliveries_due',
    help: 'Deliveries that are due and not yet posted, over all nodes.',
    registers,
    async collect() {
      const [row] = await database.prisma.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) AS "count" FROM "Delivery" d JOIN "Webhook" w ON w."id" = d."webhookId" AND w."enabled"
         WHERE ${isDue(clock.now())} AND NOT ${isLeased(clock.now())}`;
      this.set(Number(row?.count ?? 0));
    },
  });
  return {
    attempts: new Counter({
      name: 'signet_webhook_attempts_total',
      help: 'Attempts to deliver, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
