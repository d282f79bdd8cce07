import { lockRow } from '../../db/lock.ts';
import { untold } from '../../db/told.ts';
import { transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import { bySignet, recordChange } from '../../events/record.ts';
import type { Services } from '../../services.ts';
import { webhooks } from './payload.ts';
import { beginPeriod } from './periods.ts';

/**
 * Disables a webhook and saves the reason. Its deliveries wait until it is enabled again. Raises `Webhook.Data.Updated`
 * by `SYSTEM`, if the webhook was enabled.
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
      const before = await tx.webhook.findFirst({ where: { id, enabled: true, revision } });
      if (!before) return untold(undefined);
      const told = await recordChange(tx, { ...bySignet, clock }, webhooks, before, {
        enabled: false,
        disabledReason: reason,
      });
      await beginPeriod(tx, id, null);
      return told.with(undefined);
    });
  } catch (error) {
    // The webhook was deleted meanwhile.
    if (error instanceof NotFoundError) return;
    throw error;
  }
  log.warn({ webhookId: id, reason }, 'a webhook was switched off');
}
