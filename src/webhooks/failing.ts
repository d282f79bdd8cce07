import type { Services } from '../auth/context.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { beginPeriod } from './periods.ts';
import type { RecordedAttempt } from './queue.ts';
import { failureLimitMs } from './schedule.ts';

/**
 * Remembers since when a webhook has had failures alone, and switches it off after five days of them. Tests do
 * not count.
 */
export async function noteFailures(
  services: Services,
  attempts: readonly Pick<RecordedAttempt, 'webhookId' | 'status' | 'isTest' | 'at'>[],
): Promise<void> {
  const { database, clock } = services;
  const counted = attempts.filter(({ isTest }) => !isTest);
  const succeeded = new Set(
    counted.filter(({ status }) => status === 'SUCCEEDED').map(({ webhookId }) => webhookId),
  );
  const failed = new Set(
    counted.map(({ webhookId }) => webhookId).filter((id) => !succeeded.has(id)),
  );
  if (succeeded.size > 0) {
    await database.prisma.webhook.updateMany({
      where: { id: { in: [...succeeded] }, failingSince: { not: null } },
      data: { failingSince: null },
    });
  }
  if (failed.size === 0) return;
  const now = clock.now();
  await database.prisma.webhook.updateMany({
    where: { id: { in: [...failed] }, failingSince: null },
    data: { failingSince: now },
  });
  const given = await database.prisma.webhook.findMany({
    where: {
      id: { in: [...failed] },
      enabled: true,
      failingSince: { lte: new Date(now.getTime() - failureLimitMs) },
    },
    select: { id: true },
  });
  for (const { id } of given) {
    await switchOff(services, id, 'Every attempt of the last five days failed.');
  }
}

/** Switches a webhook off, saying why; its deliveries wait until it is switched on again. */
export async function switchOff(services: Services, id: string, reason: string): Promise<void> {
  const { database, clock, log } = services;
  try {
    await transaction(database, async (tx) => {
      await lockRow(tx, 'Webhook', id);
      const { count } = await tx.webhook.updateMany({
        where: { id, enabled: true },
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
    // Deleted meanwhile.
    if (error instanceof NotFoundError) return;
    throw error;
  }
  log.warn({ webhookId: id, reason }, 'a webhook was switched off');
}
