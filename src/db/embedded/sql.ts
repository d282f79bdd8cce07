import type { PGlite } from '@electric-sql/pglite';
import type { Sql } from '../sql.ts';
import type { Statements } from './statements.ts';

/**
 * Runs the statements of the token path.
 *
 * @param settings What is set while such a statement is planned and run, as in `postgresql.conf`.
 */
export function embeddedSql(
  database: PGlite,
  statements: Statements,
  settings: Readonly<Record<string, string>>,
): Sql {
  const setAll = `SELECT ${Object.entries(settings)
    // Until the end of the message, as SET LOCAL.
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`;

  async function run(text: string, values: readonly unknown[]) {
    const { columns, rows } = await statements.run(text, values, setAll);
    const { parsers } = database;
    return rows.map((fields) => {
      const row: Record<string, unknown> = {};
      for (const [i, { name: column, dataTypeID }] of columns.entries()) {
        const field = fields[i] ?? null;
        row[column] = field === null ? null : (parsers[dataTypeID]?.(field, dataTypeID) ?? field);
      }
      return row;
    });
  }

  return {
    async query<Row>(_name: string, text: string, values: readonly unknown[]) {
      await database._checkReady();
      // Waits like PGlite's own `query`: for an open transaction and for a running statement.
      const rows = await database._runExclusiveTransaction(() =>
        database._runExclusiveQuery(() => run(text, values)),
      );
      return rows as Row[];
    },
  };
}
