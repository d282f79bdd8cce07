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
