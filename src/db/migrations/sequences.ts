import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../database.ts';
import { lockName } from '../lock.ts';
import { quietTransaction } from '../transaction.ts';

/** A sequence whose next number a row of its table has, or a row after it. */
interface Behind {
  readonly sequence: string;
  /** The greatest number in the table. */
  readonly last: bigint;
}

/**
 * Lifts the sequences that are behind their tables. Logical replication copies rows and leaves sequences where they
 * were, so that after a move by it every new row would fail.
 *
 * @returns The names of those that were lifted.
 * @see https://www.postgresql.org/docs/current/logical-replication-restrictions.html
 */
export async function liftSequences(
  database: Pick<Database, 'prisma' | 'hints' | 'lend'>,
): Promise<readonly string[]> {
  const owned = await readOwned(database.prisma);
  if ((await readBehind(database.prisma, owned)).length === 0) return [];
  return quietTransaction(database, async (tx) => {
    // Of nodes that start together, a later one would set back what an earlier one has lifted and used.
    await lockName(tx, 'signet:bootstrap');
    const behind = await readBehind(tx, owned);
    for (const { sequence, last } of behind) {
      await tx.$executeRaw`SELECT setval(quote_ident(${sequence})::regclass, ${last}::bigint)`;
    }
    return behind.map(({ sequence }) => sequence);
  });
}

interface Owned {
  readonly sequence: string;
  readonly table: string;
  readonly column: string;
}

type Queries = Pick<Database['prisma'], '$queryRaw'>;

/** The sequences that number the rows of Signet's tables. What others keep in the schema may not be its to read. */
const readOwned = (prisma: Queries) =>
  prisma.$queryRaw<Owned[]>`
    SELECT s."relname" AS "sequence", t."relname" AS "table", a."attname" AS "column"
      FROM pg_class s
      JOIN pg_depend d ON d."objid" = s."oid" AND d."classid" = 'pg_class'::regclass
       AND d."refclassid" = 'pg_class'::regclass AND d."deptype" IN ('a', 'i')
      JOIN pg_class t ON t."oid" = d."refobjid"
      JOIN pg_attribute a ON a."attrelid" = t."oid" AND a."attnum" = d."refobjsubid"
     WHERE s."relkind" = 'S' AND s."relnamespace" = 'public'::regnamespace
       AND t."relname" = ANY (${Object.values(Prisma.ModelName)}::text[])`;

function readBehind(prisma: Queries, owned: readonly Owned[]): Promise<Behind[]> {
  const named = (name: string) => Prisma.raw(`"${name}"`);
  const each = owned.map(
    ({ sequence, table, column }) => Prisma.sql`
      SELECT ${sequence} AS "sequence", m."last"
        FROM ${named(sequence)} s, (SELECT max(${named(column)}) FROM ${named(table)}) AS m ("last")
       WHERE m."last" >= s."last_value" + s."is_called"::int`,
  );
  return prisma.$queryRaw<Behind[]>(Prisma.join(each, ' UNION ALL '));
}
