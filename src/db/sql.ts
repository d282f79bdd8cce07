import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';

/** Runs single statements, on PostgreSQL and on the embedded database alike. */
export interface Sql {
  /**
   * Runs one statement and returns its rows.
   *
   * @param name The statement's name: PostgreSQL prepares it once on each connection.
   * @param text The statement, with `$1`, `$2`, … for the values.
   */
  query<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
}

/** Runs statements through Prisma, for a database without a driver pool. */
export const prismaSql = (prisma: Pick<PrismaClient, '$queryRawUnsafe'>): Sql => ({
  query: (_name, text, values) => prisma.$queryRawUnsafe(text, ...values),
});

const pools = new WeakMap<object, Sql>();

/** Lets {@link clientSql} run the statements of a client by the driver. */
export const runByDriver = (prisma: PrismaClient, pool: Sql): void => void pools.set(prisma, pool);

/** Runs statements on the connections of a client of Prisma's, by the driver if there is one. */
export const clientSql = (prisma: Pick<PrismaClient, '$queryRawUnsafe'>): Sql =>
  pools.get(prisma) ?? prismaSql(prisma);

/**
 * Runs a statement that is planned each time, for the tables as they are now. 64-bit integers may come as text.
 */
export const runSql = <Row>(sql: Sql, { text, values }: Prisma.Sql): Promise<Row[]> =>
  sql.query<Row>('', text, values);

/**
 * Runs a statement of one shape that PostgreSQL prepares once on each connection. 64-bit integers may come as text.
 *
 * @param name Names it among all statements.
 */
export const runPrepared = <Row>(
  sql: Sql,
  name: string,
  { text, values }: Prisma.Sql,
): Promise<Row[]> => sql.query<Row>(name, text, values);

const oftenEnough = 20;
const mostCounted = 1_000;

/**
 * Makes names by which statements are prepared. Each connection keeps what it prepares, so only what is run again and
 * again gets one.
 *
 * @param prefix The names begin so; nothing else may use it.
 * @param most How many statements get a name at most.
 * @returns Gives a statement's name; empty for one that is seldom run.
 */
export function createStatementNames(prefix: string, most: number): (text: string) => string {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size === most) return name ?? '';
    const count = (counts.get(text) ?? 0) + 1;
    if (count === oftenEnough) {
      names.set(text, `${prefix}-${names.size + 1}`);
      counts.delete(text);
    } else {
      if (counts.size === mostCounted) counts.clear();
      counts.set(text, count);
    }
    return '';
  };
}

/**
 * SQL for a table `q` with a row for each of the questions that share a statement, and their places as `n`. The planner
 * cannot see how many they are, and expects one: so the plan is made once and looks each up by an index.
 *
 * @param columns The columns of `q`, all texts. The statement's values are an array for each.
 * @param first The place of the first array among the values.
 */
export const askedTogether = (columns: readonly string[], first = 1): string => `
  (SELECT * FROM unnest(${columns.map((_, i) => `(SELECT $${first + i}::text[])::text[]`)}) WITH ORDINALITY
    LIMIT (SELECT 2147483647)) AS q(${columns}, n)`;

/**
 * Makes a text safe to query. PostgreSQL's text cannot hold a NUL character or half of a surrogate pair: a text with
 * one becomes null, which finds nothing.
 */
export const textForQuery = (text: unknown): string | null =>
  typeof text === 'string' && !text.includes('\0') && text.isWellFormed() ? text : null;

/**
 * A text in the form in which texts are compared without case, for columns and values alike. The collation makes it the
 * same in every database: by itself, lower() goes by the database's locale, where a Turkish one keeps ILKIN and ilkin
 * apart. Indexes have this expression, so the two must not differ.
 */
export const folded = (text: Prisma.Sql): Prisma.Sql => Prisma.sql`lower(${text} COLLATE "C")`;

/** The SQLSTATE behind a database error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  // The cause of an error of Prisma's adapter is a plain object.
  for (let cause = error; typeof cause === 'object' && cause; cause = (cause as Error).cause) {
    const { code, originalCode, meta } = cause as {
      code?: unknown;
      originalCode?: unknown;
      meta?: { code?: unknown; driverAdapterError?: { cause?: { originalCode?: unknown } } };
    };
    const state =
      originalCode ?? meta?.driverAdapterError?.cause?.originalCode ?? meta?.code ?? code;
    if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && !/^P\d/.test(state))
      return state;
  }
  return undefined;
}
