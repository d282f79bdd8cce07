import { StartError } from '../../errors.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Obstacle } from '../connections/fitness.ts';
import { folded, runSql, type Sql } from '../sql.ts';
import { migrationState } from './migrate.ts';

/** The migration whose unique indexes two such names would break. */
const migration = '20261127140000_folded_case';

const maxNamed = 10;

/**
 * Finds user names, e-mail addresses and pending invitations to one organization that differ in case alone: a database
 * whose locale folds A to Z in its own way let them in. Undefined once it is migrated.
 *
 * @param sql Reads every user, which takes its time.
 */
export async function findClashes(prisma: PrismaClient, sql: Sql): Promise<Obstacle | undefined> {
  const { isEmpty, pending, unfinished } = await migrationState(prisma);
  // After a migration that failed, which the engine reports, there may be no such tables.
  if (isEmpty || unfinished.length > 0 || !pending.includes(migration)) return undefined;
  const clashes = await runSql<{ kind: string; names: string[] }>(sql, clashing);
  if (clashes.length === 0) return undefined;
  const named = clashes.slice(0, maxNamed).map(({ kind, names }) => `${kind} ${names.join(', ')}`);
  const more = clashes.length > maxNamed ? ['and more'] : [];
  return {
    message: `It holds names that differ in case alone, which count as one from this version on: ${[...named, ...more].join('; ')}.`,
    advice:
      'Rename or delete all but one of each with the version before, then start this one again.',
  };
}

/**
 * Checks that nothing clashes in a database to be migrated. The caller must hold the migrations' lock.
 *
 * @throws {StartError} with the names; see {@link findClashes}.
 */
export async function assertNoClashes(prisma: PrismaClient, sql: Sql): Promise<void> {
  const clashes = await findClashes(prisma, sql);
  if (!clashes) return;
  throw new StartError(
    `the database cannot be migrated, and nothing was changed: ${clashes.message} ${clashes.advice}`,
  );
}

const among = (table: Prisma.Sql, kind: Prisma.Sql, name: Prisma.Sql, condition: Prisma.Sql) =>
  Prisma.sql`
    SELECT ${kind} AS "kind", array_agg(${name} ORDER BY ${name} COLLATE "C") AS "names"
      FROM ${table} WHERE ${condition} GROUP BY 1, ${folded(name)} HAVING count(*) > 1`;

const amongUsers = (kind: Prisma.Sql, name: Prisma.Sql) =>
  among(Prisma.sql`"User"`, kind, name, Prisma.sql`${name} IS NOT NULL`);

const clashing = Prisma.sql`
  SELECT "kind", "names" FROM (
    ${amongUsers(Prisma.sql`'user names'`, Prisma.sql`"username"`)}
    UNION ALL
    ${amongUsers(Prisma.sql`'e-mail addresses'`, Prisma.sql`"primaryEmail"`)}
    UNION ALL
    ${among(
      Prisma.sql`"OrganizationInvitation"`,
      Prisma.sql`'pending invitations to ' || "organizationId" || ' of'`,
      Prisma.sql`"invitee"`,
      Prisma.sql`"status" = 'PENDING'`,
    )}
  ) c
   ORDER BY "kind" COLLATE "C" DESC, "names"
   LIMIT ${maxNamed + 1}`;
