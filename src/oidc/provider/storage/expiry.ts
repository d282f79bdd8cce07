import { Prisma } from '../../../generated/prisma/client.ts';
import { repeat } from '../../../scheduler.ts';
import type { Services } from '../../../services.ts';

const intervalMs = 60_000;
// Small batches: a backlog must not hold locks, or delay a vacuum, for long.
const batchSize = 5_000;

const tables = [
  'OidcRecord',
  'RevokedToken',
  'Session',
  'OneTimeToken',
  'SetupToken',
  'ConsoleSession',
  'AttemptCount',
  'SendingCount',
  'AddressCount',
] as const satisfies Prisma.ModelName[];

/**
 * Deletes expired rows: sessions, codes, refresh tokens and the like, the list of revoked access tokens, and counts
 * whose window has ended.
 *
 * @returns The number of rows.
 */
export async function deleteExpired({
  database,
  clock,
}: Pick<Services, 'database' | 'clock'>): Promise<number> {
  const now = clock.now().toISOString();
  let total = 0;
  for (const table of tables) {
    const name = Prisma.raw(`"${table}"`);
    for (let deleted = batchSize; deleted === batchSize; total += deleted) {
      deleted = await database.prisma.$executeRaw`
        DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM ${name} WHERE "expiresAt" <= ${now}::timestamptz LIMIT ${batchSize}))`;
    }
  }
  return total;
}

/**
 * Deletes expired rows every minute. Several nodes may do so at once.
 *
 * @returns A function that stops it; it resolves when no deletion is running.
 */
export const followExpiry = (services: Services): (() => Promise<void>) =>
  repeat(
    intervalMs,
    async () => void (await deleteExpired(services)),
    (error) => services.log.warn({ err: error }, 'what has expired could not be deleted'),
  );
