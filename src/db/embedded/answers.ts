import type { MessagePort } from 'node:worker_threads';
import { messages, type PGlite, type QueryOptions, type Transaction } from '@electric-sql/pglite';
import { isDriverAdapterError } from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Answer, EmbeddedCalls, LookupSettings, Question, SentError } from './calls.ts';
import { embeddedSql } from './sql.ts';
import { Statements } from './statements.ts';

interface Open {
  readonly tx: Transaction;
  readonly client: Awaited<ReturnType<PrismaPGlite['connect']>>;
  readonly end: () => void;
  readonly ended: Promise<void>;
}

/** The calls on a database in this thread. */
export async function callsOn(database: PGlite, settings: LookupSettings): Promise<EmbeddedCalls> {
  const statements = new Statements(database);
  const inside = queryOf(database, statements);
  // Prisma's view of the database, or of one of its transactions: it asks for nothing but queries.
  const view = (query: Query) => new PrismaPGlite({ query } as unknown as PGlite).connect();
  const outside = await view(async (...given) => {
    await database._checkReady();
    return database._runExclusiveTransaction(() => inside(...given));
  });
  const lookups = embeddedSql(database, statements, settings);
  const open = new Map<number, Open>();
  let count = 0;
  const find = (transaction: number) => {
    const found = open.get(transaction);
    if (!found) throw new Error('The transaction is over.');
    return found;
  };
  const clientOf = (transaction: number | undefined) =>
    transaction === undefined ? outside : find(transaction).client;
  const take = (transaction: number) => {
    const found = find(transaction);
    open.delete(transaction);
    return found;
  };

  return {
    queryRaw: async (transaction, query) => clientOf(transaction).queryRaw(query),
    executeRaw: async (transaction, query) => clientOf(transaction).executeRaw(query),
    // The package's own starts a script without waiting for it, and does not report its failure.
    async executeScript(script) {
      // The script is one transaction, which may not build an index beside writers; and there are none here.
      await database.exec(script.replaceAll('INDEX CONCURRENTLY', 'INDEX'));
      await database._runExclusiveQuery(() => statements.forget());
    },
    // The adapter's own method does not report a failed COMMIT.
    begin: (isolation) =>
      new Promise((resolve, reject) => {
        const ended = database.transaction(async (tx) => {
          if (isolation) await tx.exec(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
          const over = Promise.withResolvers<void>();
          count += 1;
          open.set(count, { tx, client: await view(inside), end: over.resolve, ended });
          resolve(count);
          await over.promise;
        });
        ended.catch(reject);
      }),
    async commit(transaction) {
      const { end, ended } = take(transaction);
      end();
      await ended;
    },
    async rollback(transaction) {
      const { tx, end, ended } = take(transaction);
      await tx.rollback();
      end();
      await ended;
    },
    lookUp: (name, text, values) => lookups.query(name, text, values),
    ping: async () => undefined,
    close: () => database.close(),
  };
}

type Query = (text: string, values: unknown[], options: QueryOptions) => Promise<object>;

/** PGlite's `query`, as an open transaction's: rows as lists, and each statement parsed once. */
function queryOf(database: PGlite, statements: Statements): Query {
  return async (text, values, { parsers }) => {
    const { columns, rows, affectedRows } = await database._runExclusiveQuery(() =>
      statements.run(text, values),
    );
    const parse = columns.map(
      ({ dataTypeID }) => parsers?.[dataTypeID] ?? database.parsers[dataTypeID],
    );
    for (const row of rows)
      for (const [i, field] of row.entries())
        if (field !== null) row[i] = parse[i]?.(field, columns[i]?.dataTypeID) ?? field;
    return { fields: columns, rows, affectedRows };
  };
}

/** Answers the calls that come. */
export function answerCalls(port: MessagePort, calls: EmbeddedCalls): void {
  port.on('message', async ({ id, method, args }: Question) => {
    try {
      const result: unknown = await (calls[method] as (...given: unknown[]) => unknown)(...args);
      port.postMessage({ id, result } satisfies Answer);
    } catch (error) {
      port.postMessage({ id, error: toSend(error) } satisfies Answer);
    }
  });
}

function toSend(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined };
  const { message, stack } = error;
  if (isDriverAdapterError(error)) return { message, stack, cause: error.cause };
  if (!(error instanceof messages.DatabaseError)) return { message, stack };
  const { severity, code, detail, hint, position, where, table, column, constraint } = error;
  const fields = { severity, code, detail, hint, position, where, table, column, constraint };
  return { message, stack, fields };
}
