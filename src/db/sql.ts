/** A connection-less way to run one statement, the same over PostgreSQL and over the embedded database. */
export interface Sql {
  /**
   * Runs one statement and returns its rows.
   *
   * @param name Names the statement: PostgreSQL prepares it once a connection under this name.
   * @param text The statement, with `$1`, `$2`, … for the values.
   */
  query<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
}
