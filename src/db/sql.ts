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

/** Text that is safe to query. PostgreSQL's text has no NUL character, so a text with one is null and finds nothing. */
export const textForQuery = (text: unknown): string | null =>
  typeof text === 'string' && !text.includes('\0') ? text : null;
