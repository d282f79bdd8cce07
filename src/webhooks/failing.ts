import type { Services } from '../auth/context.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { beginPeriod } from './periods.ts';
import type { RecordedAttempt } from './queue.ts';
import { failureGapMs, failureLimitMs } from './schedule.ts';

// How exactly it is known when the last failure was: not every failure is worth a write.
const graspMs = 60 * 60 * 1000;

/**
 * Remembers since when a webhook has had failures alone, and switches it off after five days of them. A long time
 * without any attempt is not one of failures.
 *
 * @param attempts Those that do not tell how the endpoint does are left out.
 */
export async function noteFailures(
  services: Services,
  attempts: readonly Pick<RecordedAttempt, 'webhookId' | 'status' | 'tellsOfEndpoint'>[],
): Promise<void> {
  const { database, clock } = services;
  const counted = attempts.filter(({ tellsOfEndpoint }) => tellsOfEndpoint);
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
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
  await database.prisma.$executeRaw`
    UPDATE "Webhook"
       SET "failingSince" = CASE WHEN "lastFailureAt" > ${before(failureGapMs)}
                                 THEN coalesce("failingSince", ${now}) ELSE ${now} END,
           "lastFailureAt" = ${now}
     WHERE "id" = ANY(${[...failed]})
       AND ("failingSince" IS NULL OR "lastFailureAt" IS NULL OR "lastFailureAt" <= ${before(graspMs)})`;
  const given = await database.prisma.webhook.findMany({
    where: {
      id: { in: [...failed] },
      enabled: true,
      failingSince: { lte: before(failureLimitMs) },
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
