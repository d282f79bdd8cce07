import type { PrismaClient } from '../../../src/generated/prisma/client.ts';

// Tables that background work writes at any time, and the list of migrations.
const notLooked = [
  'AddressCount',
  'EventConsumer',
  'Delivery',
  'DeliveryAttempt',
  'DeliveryLease',
  'HourCount',
  'Message',
  'MinuteCount',
  'Node',
  'RefusalCount',
  'SecretUse',
  '_prisma_migrations',
];

const countLast = `max("xmin"::text::bigint)::text`;
// Deliveries note whether they failed, at any time, in the rows of webhooks.
const ofWebhooks = `md5(string_agg((to_jsonb(w) - '{failingSince,lastFailureAt}'::text[])::text, '' ORDER BY "id"))`;

/**
 * Makes a function whose result is another one after any commit that wrote a row, to find out whether a request wrote
 * anything. A row's xmin is the transaction that wrote it.
 */
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
      `SELECT '${name}' AS "table", count(*)::int AS "rows",
              ${name === 'Webhook' ? ofWebhooks : countLast} AS "last" FROM "${name}" w${
                name === 'Event' ? ` WHERE "type" NOT IN ('SignIn.Failed', 'Token.Refused')` : ''
              }`,
  );
  return () => prisma.$queryRawUnsafe(digests.join(' UNION ALL '));
}
