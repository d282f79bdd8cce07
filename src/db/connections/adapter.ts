import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapter, SqlQuery, SqlQueryable } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { createStatementNames } from '../sql.ts';

/** The type `timestamp with time zone` */
const timestamptz = 1184;

/**
 * Prisma's adapter for PostgreSQL, with offsets. Its own writes an instant without one, and drops the one that it reads:
 * in a session whose zone is not UTC, both are hours off.
 */
export class OffsetAdapter extends PrismaPg {
  constructor(pool: pg.Pool) {
    super(pool, { statementNameGenerator: ({ sql }) => (isOfOneShape(sql) ? nameOf(sql) : '') });
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const begin = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => writeOffsets(await begin(isolation));
    return writeOffsets(adapter);
  }
}

const nameOf = createStatementNames('prisma', 100);

/**
 * Whether Prisma has made a statement, and no list: it names tables with their schema, as ours do not. A list is planned
 * for the values that it filters by, and so is what we wrote for tables as they are.
 */
const isOfOneShape = (sql: string): boolean =>
  sql.includes('"public"."') && !/ (?:ORDER BY|IN) /.test(sql);

function writeOffsets<Queryable extends SqlQueryable>(queryable: Queryable): Queryable {
  const queryRaw = queryable.queryRaw.bind(queryable);
  const executeRaw = queryable.executeRaw.bind(queryable);
  return Object.assign(queryable, {
    queryRaw: (query) => queryRaw(withOffsets(query)),
    executeRaw: (query) => executeRaw(withOffsets(query)),
  } satisfies Pick<SqlDriverAdapter, 'queryRaw' | 'executeRaw'>);
}

const withoutZone = new Set(['DATE', 'TIME', 'TIMETZ']);

/** The query with its instants as text with an offset, which the adapter sends as it is. */
function withOffsets(query: SqlQuery): SqlQuery {
  const args = [...query.args];
  const argTypes = [...query.argTypes];
  for (const [i, type] of argTypes.entries()) {
    if (type.scalarType !== 'datetime' || withoutZone.has(type.dbType ?? '')) continue;
    const arg = args[i];
    args[i] = Array.isArray(arg) ? arg.map(withOffset) : withOffset(arg);
    argTypes[i] = { ...type, scalarType: 'string' };
  }
  return { ...query, args, argTypes };
}

const withOffset = (value: unknown): unknown =>
  value === null || value === undefined ? value : new Date(value as string | Date).toISOString();

/** A statement of Prisma's adapter, which brings its own parsers. */
type Statement = pg.QueryConfig & { readonly types?: pg.CustomTypesConfig };

/** The statement, with a parser that heeds the offset of an instant. */
export function readsOffsets<Config extends Statement>(config: Config): Config {
  const { types } = config;
  if (!types) return config;
  const getTypeParser = (oid: number, format: 'text') => {
    const own = types.getTypeParser(oid, format) as (text: string) => unknown;
    return oid === timestamptz ? (text: string) => own(inUtc(text)) : own;
  };
  return { ...config, types: { ...types, getTypeParser } };
}

/** The same instant as PostgreSQL writes it in UTC. Offsets of the nineteenth century have seconds. */
export function inUtc(text: string): string {
  if (text.endsWith('+00')) return text;
  const [, local, sign, hours, minutes = '0', seconds = '0'] =
    /^(.*\d)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/.exec(text) ?? [];
  if (local === undefined) return text;
  const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  const at = Date.parse(`${local.replace(' ', 'T')}Z`) - (sign === '-' ? -offset : offset);
  return Number.isNaN(at) ? text : new Date(at).toISOString().replace('T', ' ').replace('Z', '+00');
}
