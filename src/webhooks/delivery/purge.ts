import type { Transaction } from '../../db/transaction.ts';
import type { Services } from '../../services.ts';
import { webhookConsumer } from './fan-out.ts';

const batchSize = 1000;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Deletes a batch of deliveries that are older than the event retention and have either ended or wait for a disabled
 * webhook. Also deletes the webhook periods that lie before the position of the fan-out.
 *
 * @returns Whether there may be more.
 */
export async function purgeDeliveries(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - config.eventRetentionDays * dayMs);
  const count = await tx.$executeRaw`
    DELETE FROM "Delivery" WHERE "id" IN (
      SELECT d."id" FROM "Delivery" d JOIN "Webhook" w ON w."id" = d."webhookId"
       WHERE d."createdAt" < ${before} AND (d."status" <> 'PENDING' OR NOT w."enabled")
       LIMIT ${batchSize})`;
  // Expired leases of dead nodes; a live node writes its own again.
  await tx.deliveryLease.deleteMany({ where: { until: { lt: clock.now() } } });
  await tx.$executeRaw`
    DELETE FROM "WebhookPeriod" p USING "EventConsumer" c
     WHERE c."name" = ${webhookConsumer} AND pg_snapshot_xmax(p."until") <= c."xid"`;
  return count === batchSize;
}
