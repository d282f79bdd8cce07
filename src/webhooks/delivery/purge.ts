import type { Transaction } from '../../db/transaction.ts';
import type { Services } from '../../services.ts';
import { webhookConsumer } from './fan-out.ts';

const batchSize = 1000;
const dayMs = 24 * 60 * 60 * 1000;

/**
 * Deletes some of the deliveries that are older than events are kept: those that have ended, and those that wait
 * for a webhook which is off. Forgets when webhooks were on, as far as the log has been read.
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
  // Those of nodes that are no more, and those that will be made again.
  await tx.deliveryLease.deleteMany({ where: { until: { lt: clock.now() } } });
  await tx.$executeRaw`
    DELETE FROM "WebhookPeriod" p USING "EventConsumer" c
     WHERE c."name" = ${webhookConsumer} AND pg_snapshot_xmax(p."until") <= c."xid"`;
  return count === batchSize;
}
