import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';

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

/** Runs statements by Prisma, where there is no driver of our own. */
export const prismaSql = (prisma: Pick<PrismaClient, '$queryRawUnsafe'>): Sql => ({
  query: (_name, text, values) => prisma.$queryRawUnsafe(text, ...values),
});

/**
 * Runs a statement that is planned each time, for the tables as they are then. 64-bit integers may come as text.
 */
export const runSql = <Row>(sql: Sql, { text, values }: Prisma.Sql): Promise<Row[]> =>
  sql.query<Row>('', text, values);

/** Text that is safe to query. PostgreSQL's text has no NUL character, so a text with one is null and finds nothing. */
export const textForQuery = (text: unknown): string | null =>
  typeof text === 'string' && !text.includes('\0') ? text : null;
