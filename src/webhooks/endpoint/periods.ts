import type { Transaction } from '../../db/transaction.ts';

/**
 * Says from when on, by the order of commits, a webhook takes which events: those committed from now on. Called in
 * the transaction that creates the webhook, switches it on or off, or changes what it takes, with its row locked.
 *
 * @param events The types it takes from now on, empty for all; null where it is off.
 */
export async function beginPeriod(
  tx: Transaction,
  webhookId: string,
  events: readonly string[] | null,
): Promise<void> {
  // One snapshot ends the period before and begins this one: an event in between would belong to neither.
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
