import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { aroundHere } from '../around.ts';
import { createSharedStatement } from '../batch.ts';
import type { Database } from '../database.ts';
import { createStatementNames, type Sql } from '../sql.ts';
import { sqlOf, type Transaction } from '../transaction.ts';
import {
  type FoundRow,
  NotByDriver,
  type RowsQuery,
  type RowsStatement,
  statementOf,
} from './statement.ts';

/** Reads the rows of a table with queries of Prisma's shape. */
export interface Rows<Row> {
  findMany(query: RowsQuery): Promise<Row[]>;
  /** The columns that it selects must be all, or the id among them. */
  findUnique(query: RowsQuery & { readonly where: { readonly id: string } }): Promise<Row | null>;
  count(query: { readonly where: object }): Promise<number>;
}

type Delegate<Row> = {
  readonly [Method in keyof Rows<Row>]: (query: object) => ReturnType<Rows<Row>[Method]>;
};

/**
 * The rows of a model. The driver reads them in one statement, relations and all, which takes less CPU than Prisma's own.
 * Prisma reads what no statement is made for, such as the rows that a filter by others leaves.
 */
export const rowsOf = <Row>(
  { prisma, sql }: Pick<Database, 'prisma' | 'sql'>,
  model: Prisma.ModelName,
): Rows<Row> =>
  readingBy(prisma, sql, model, async ({ id, statement }) => {
    // What a transaction has written is seen on its own connection alone.
    if (aroundHere()) return (await run(sql, statement))[0] ?? null;
    return lookUp(sql, { id, statement });
  });

/** Like {@link rowsOf}, each look-up by itself: for rows that a transaction has locked or written. */
export function rowsIn<Row>(
  client: Transaction | PrismaClient,
  model: Prisma.ModelName,
): Rows<Row> {
  const sql = sqlOf(client);
  return readingBy(
    client,
    sql,
    model,
    async ({ statement }) => (await run(sql, statement))[0] ?? null,
  );
}

function readingBy<Row>(
  prisma: object,
  sql: Sql,
  model: Prisma.ModelName,
  find: (lookup: Lookup) => Promise<FoundRow | null>,
): Rows<Row> {
  const byPrisma = () => {
    const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
    // The compiler cannot see through a name that is worked out.
    return (prisma as Record<string, Delegate<Row>>)[name] as Delegate<Row>;
  };
  return {
    async findMany(query) {
      const statement = byDriver(model, query);
      return statement ? ((await run(sql, statement)) as Row[]) : byPrisma().findMany(query);
    },
    async findUnique({ where: { id }, ...rest }) {
      const statement = byDriver(model, { ...rest, where: { id: { in: [id] } } });
      if (!statement) return byPrisma().findUnique({ ...rest, where: { id } });
      return (await find({ id, statement })) as Row | null;
    },
    count: (query) => byPrisma().count(query),
  };
}

interface Lookup {
  readonly id: string;
  readonly statement: RowsStatement;
}

/** Finds rows by their ids, with the same columns and relations. */
async function findAll(sql: Sql, lookups: readonly Lookup[]): Promise<(FoundRow | null)[]> {
  const { statement } = lookups[0] as Lookup;
  // The ids are the last value of the statement.
  const values = [...statement.values.slice(0, -1), lookups.map(({ id }) => id)];
  const rows = await run(sql, { ...statement, values });
  const found = new Map(rows.map((row) => [row['id'], row]));
  return lookups.map(({ id }) => found.get(id) ?? null);
}

const mostShapes = 100;
const shapes = new Map<string, (sql: Sql, lookup: Lookup) => Promise<FoundRow | null>>();

/**
 * Finds a row by its id. One statement finds those that are asked for at once, with the same columns and relations. Those
 * with others have their own: what is slow or fails for some is none of the others' concern.
 */
function lookUp(sql: Sql, lookup: Lookup): Promise<FoundRow | null> {
  const { text, values } = lookup.statement;
  const shape = JSON.stringify([text, values.slice(0, -1)]);
  let find = shapes.get(shape);
  if (!find) {
    const [oldest] = shapes.keys();
    if (shapes.size === mostShapes && oldest !== undefined) shapes.delete(oldest);
    find = createSharedStatement(findAll);
    shapes.set(shape, find);
  }
  return find(sql, lookup);
}

async function run(sql: Sql, { text, values, read }: RowsStatement): Promise<FoundRow[]> {
  return (await sql.query<FoundRow>(nameOf(text), text, values)).map(read);
}

const nameOf = createStatementNames('rows', 50);

function byDriver(model: string, query: RowsQuery): RowsStatement | undefined {
  try {
    return statementOf(model, query);
  } catch (error) {
    if (error instanceof NotByDriver) return undefined;
    throw error;
  }
}
