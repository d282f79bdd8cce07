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
  // Short, for the embedded database parses a text of more than 10,000 characters each time: twice the work.
  const digests = tables.map((name) => {
    const last = name === 'Webhook' ? ofWebhooks : 'max(xmin::text::int8)::text';
    const which = /^Event(_\d+)?$/.test(name)
      ? ` WHERE "type" NOT IN ('SignIn.Failed', 'Token.Refused')`
      : '';
    return `SELECT '${name}', count(*)::int, ${last} FROM "${name}" w${which}`;
  });
  const text = `SELECT * FROM (${digests.join(' UNION ALL ')}) AS d ("table", "rows", "last")`;
  return () => prisma.$queryRawUnsafe(text);
}
