import type { PrismaClient } from '../../../src/generated/prisma/client.ts';

// Tables that background work writes at any time, and the list of migrations.
const notLooked = [
  'EventConsumer',
  'Delivery',
  'DeliveryAttempt',
  'DeliveryLease',
  'Message',
  'MinuteCount',
  '_prisma_migrations',
];

/** Makes a function that returns a digest of all rows, to find out whether a request wrote anything. */
export async function createFingerprint(prisma: PrismaClient): Promise<() => Promise<unknown>> {
  const tables = (
    await prisma.$queryRaw<{ name: string }[]>`
      SELECT table_name AS "name" FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
  )
    .map(({ name }) => name)
    .filter((name) => !notLooked.includes(name));
  const digests = tables.map(
    (name) =>
      `SELECT '${name}' AS "table", count(*)::int AS "rows", md5(string_agg(t::text, ' ' ORDER BY t::text)) AS "digest" FROM "${name}" t`,
  );
  return () => prisma.$queryRawUnsafe(digests.join(' UNION ALL '));
}
