/** Runs one statement. */
type Run = (statement: string) => Promise<Record<string, unknown>[]>;

/** The types of the seeded events: of each twenty, so many. */
const types = [
  ['PostSignIn', 14],
  ['User.Data.Updated', 4],
  ['User.SuspensionStatus.Updated', 1],
  ['User.Created', 1],
] as const;

const typeNames = types
  .flatMap(([name, count]) => Array.from({ length: count }, () => `'${name}'`))
  .join(', ');

const days = 80;
const batchSize = 100_000;

// A user as events show it.
const userRecord = `jsonb_build_object(
  'id', u."id", 'username', u."username", 'primaryEmail', u."primaryEmail", 'primaryPhone', u."primaryPhone",
  'isEmailVerified', u."isEmailVerified", 'isPhoneVerified', u."isPhoneVerified", 'name', u."name",
  'avatar', u."avatar", 'profile', u."profile", 'customData', u."customData", 'isSuspended', u."isSuspended",
  'hasPassword', u."passwordDigest" IS NOT NULL, 'lastSignInAt', u."lastSignInAt", 'createdAt', u."createdAt",
  'updatedAt', u."updatedAt")`;

/**
 * Fills the event log with events of the users in the temporary table `seeded_user`, evenly over the last days that a
 * log keeps, the oldest first.
 */
export async function seedEvents(
  run: Run,
  { count, userCount, tell }: { count: number; userCount: number; tell: (what: string) => void },
): Promise<void> {
  const [application] = await run(`SELECT "id" FROM "Application" ORDER BY "id" LIMIT 1`);
  const clientId = application?.['id'] ? `'${application['id']}'` : 'NULL::text';
  for (let from = 1; from <= count; from += batchSize) {
    const to = Math.min(from + batchSize - 1, count);
    await run(`
      INSERT INTO "Event" ("id", "type", "subjectId", "actor", "actorId", "data", "occurredAt")
      SELECT pg_temp.type_id('evt', e."at", md5(e.i::text || 'event' || random())), e."type", u."id",
             jsonb_build_object('type', 'USER', 'id', u."id", 'clientId', ${clientId}), u."id",
             CASE e."type"
               WHEN 'PostSignIn' THEN jsonb_build_object(
                 'user', ${userRecord}, 'applicationId', ${clientId}, 'sessionId', NULL,
                 'ip', '203.0.113.' || e.i % 250, 'userAgent', 'Mozilla/5.0 (X11; Linux x86_64)')
               WHEN 'User.Data.Updated' THEN ${userRecord} || jsonb_build_object('changes', jsonb_build_object(
                 'name', jsonb_build_object('from', split_part(u."name", ' ', 1), 'to', u."name")))
               WHEN 'User.SuspensionStatus.Updated' THEN ${userRecord} || jsonb_build_object('changes',
                 jsonb_build_object('isSuspended', jsonb_build_object(
                   'from', NOT u."isSuspended", 'to', u."isSuspended")))
               ELSE ${userRecord}
             END,
             e."at"
        FROM (SELECT i, (ARRAY[${typeNames}])[1 + i % 20] AS "type",
                     date_trunc('milliseconds', now() - interval '${days} days' * (1 - i::float8 / ${count})) AS "at"
                FROM generate_series(${from}::bigint, ${to}) i) e
        JOIN seeded_user s ON s."i" = 1 + (e.i * 7919) % ${userCount}
        JOIN "User" u ON u."id" = s."id"
       ORDER BY e.i`);
    tell(`${to} of ${count} events`);
  }
}
