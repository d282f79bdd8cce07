import { messages, type PGlite, protocol } from '@electric-sql/pglite';
import type { Sql } from './sql.ts';

const { serialize } = protocol;
const { DataRowMessage, ParameterDescriptionMessage, RowDescriptionMessage } = messages;

/** A statement that PostgreSQL has parsed. */
interface Prepared {
  /** The types of its parameters, by their numbers in `pg_type`. */
  readonly parameterTypes: readonly number[];
  readonly columns: readonly { readonly name: string; readonly dataTypeID: number }[];
}

const settingsName = 'signet-settings';

/**
 * Runs single statements on the embedded database, each prepared once. PGlite's own `query` parses and plans each time,
 * which takes ten times as long as to run: 1,650 µs of CPU for the exchange's statement against 150.
 *
 * @param settings What is set while such a statement is planned and run, as in `postgresql.conf`.
 */
export function embeddedSql(database: PGlite, settings: Readonly<Record<string, string>>): Sql {
  const prepared = new Map<string, Prepared>();
  const setAll = `SELECT ${Object.entries(settings)
    // Until the end of the statement's own transaction.
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(', ')}`;

  // All in one go, up to the next Sync: PGlite starts anew for each call.
  async function send(...parts: Uint8Array[]) {
    const { messages: answers } = await database.execProtocol(Buffer.concat(parts));
    return answers;
  }

  async function prepare(name: string, text: string): Promise<Prepared> {
    const answers = await send(
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    );
    const parameters = answers.find((each) => each instanceof ParameterDescriptionMessage);
    const row = answers.find((each) => each instanceof RowDescriptionMessage);
    return { parameterTypes: parameters?.dataTypeIDs ?? [], columns: row?.fields ?? [] };
  }

  async function find(name: string, text: string): Promise<Prepared> {
    const found = prepared.get(name) ?? (await prepare(name, text));
    prepared.set(name, found);
    return found;
  }

  async function run(name: string, text: string, values: readonly unknown[]) {
    await find(settingsName, setAll);
    const { parameterTypes, columns } = await find(name, text);
    const { serializers, parsers } = database;
    const answers = await send(
      serialize.bind({ statement: settingsName }),
      serialize.execute({}),
      serialize.bind({
        statement: name,
        values: values.map((value, i) =>
          value == null ? null : (serializers[parameterTypes[i] as number]?.(value) ?? `${value}`),
        ),
      }),
      serialize.execute({}),
      serialize.sync(),
    );
    const [, ...rows] = answers.filter((each) => each instanceof DataRowMessage);
    return rows.map(({ fields }) =>
      Object.fromEntries(
        columns.map(({ name: column, dataTypeID }, i) => {
          const field = fields[i] ?? null;
          return [
            column,
            field === null ? null : (parsers[dataTypeID]?.(field, dataTypeID) ?? field),
          ];
        }),
      ),
    );
  }

  return {
    async query<Row>(name: string, text: string, values: readonly unknown[]) {
      await database._checkReady();
      // As PGlite's own `query` waits: for an open transaction to end, and for a statement under way.
      const rows = await database._runExclusiveTransaction(() =>
        database._runExclusiveQuery(() => run(name, text, values)),
      );
      return rows as Row[];
    },
  };
}
