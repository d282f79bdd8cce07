import type { Transaction } from '../../db/transaction.ts';

/**
 * Begins a new period of a webhook: from now on, in the order of commits, it gets these types of events. Call it in the
 * transaction that creates, enables or disables the webhook or changes its types, with the webhook's row locked.
 *
 * @param events The types that it gets from now on. Empty: all; null: it is disabled.
 */
export async function beginPeriod(
  tx: Transaction,
  webhookId: string,
  events: readonly string[] | null,
): Promise<void> {
  // The same snapshot ends the last period and begins this one. With two snapshots, an event between them would belong
  // to neither.
  const [row] = await tx.$queryRaw<{ snapshot: string }[]>`
    SELECT pg_current_snapshot()::text AS "snapshot"`;
  if (!row) throw new Error('A statement without FROM gave no row.');
  await tx.$executeRaw`
    UPDATE "WebhookPeriod" SET "until" = ${row.snapshot}::pg_snapshot
     WHERE "webhookId" = ${webhookId} AND "until" IS NULL`;
  if (!events) return;
  await tx.$executeRaw`
    INSERT INTO "WebhookPeriod" ("webhookId", "events", "since")
    VALUES (${webhookId}, ${[...events]}, ${row.snapshot}::pg_snapshot)`;
}
