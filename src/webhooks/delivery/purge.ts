import { createPurge, type Purge, purgeAll } from '../../db/purge.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { purging } from '../../scheduler.ts';
import type { Services } from '../../services.ts';
import { webhookConsumer } from './fan-out.ts';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Deletes deliveries that are older than the event retention and have either ended or wait for a disabled webhook. Also
 * deletes the webhook periods that lie before the position of the fan-out.
 */
export const purgeDeliveries = (services: Pick<Services, 'clock' | 'config' | 'log'>): Purge =>
  purgeAll([
    createPurge(services, {
      table: 'Delivery',
      column: 'createdAt',
      keptMs: services.config.eventRetentionDays * dayMs,
      where: Prisma.sql`(r."status" <> 'PENDING' OR NOT EXISTS (
        SELECT 1 FROM "Webhook" w WHERE w."id" = r."webhookId" AND w."enabled"))`,
    }),
    // The leases of dead nodes. A live node writes its own again.
    createPurge(services, { table: 'DeliveryLease', column: 'until' }),
    async (tx) => {
      await tx.$executeRaw`
        DELETE FROM "WebhookPeriod" p USING "EventConsumer" c
         WHERE c."name" = ${webhookConsumer} AND pg_snapshot_xmax(p."until") <= c."xid"`;
      return false;
    },
  ]);

/** The jobs of this part. */
export const jobs = purging('deliveries', purgeDeliveries);
