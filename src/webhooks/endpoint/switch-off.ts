import { lockRow } from '../../db/lock.ts';
import { transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import type { Services } from '../../services.ts';
import { beginPeriod } from './periods.ts';

/**
 * Disables a webhook and saves the reason. Its deliveries wait until it is enabled again.
 *
 * @param revision Disables the webhook only if this is still its revision.
 */
export async function switchOff(
  services: Services,
  id: string,
  reason: string,
  revision?: number,
): Promise<void> {
  const { database, clock, log } = services;
  try {
    await transaction(database, async (tx) => {
      await lockRow(tx, 'Webhook', id);
      const { count } = await tx.webhook.updateMany({
        where: { id, enabled: true, ...(revision === undefined ? {} : { revision }) },
        data: {
          enabled: false,
          disabledReason: reason,
          updatedAt: clock.now(),
          revision: { increment: 1 },
        },
      });
      if (count === 0) return;
      await beginPeriod(tx, id, null);
    });
  } catch (error) {
    // The webhook was deleted meanwhile.
    if (error instanceof NotFoundError) return;
    throw error;
  }
  log.warn({ webhookId: id, reason }, 'a webhook was switched off');
}
