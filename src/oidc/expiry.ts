import type { Services } from '../auth/context.ts';
import { Prisma } from '../generated/prisma/client.ts';

const intervalMs = 60_000;
// Short statements: a backlog must not hold locks, or a vacuum, for long.
const batchSize = 5_000;

/**
 * Deletes what has expired: sessions, codes, refresh tokens and the like, and the list of access tokens that were
 * revoked before their time.
 *
 * @returns How many rows.
 */
export async function deleteExpired({
  database,
  clock,
}: Pick<Services, 'database' | 'clock'>): Promise<number> {
  const now = clock.now().toISOString();
  let total = 0;
  for (const table of ['OidcRecord', 'RevokedToken'] as const) {
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
 * Deletes every minute what has expired. Nodes that do it at the same time do no harm to each other.
 *
 * @returns Stops it; resolves when nothing of it is under way any more.
 */
export function followExpiry(services: Services): () => Promise<void> {
  const { log } = services;
  let underWay = Promise.resolve();

  async function follow() {
    try {
      await deleteExpired(services);
    } catch (error) {
      log.warn({ err: error }, 'what has expired could not be deleted');
    }
  }

  const timer = setInterval(() => {
    underWay = underWay.then(follow);
  }, intervalMs);
  return () => {
    clearInterval(timer);
    return underWay;
  };
}
