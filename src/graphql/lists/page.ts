import type { ObjectRef, OutputType } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { ManagementScope } from '../../auth/scopes.ts';
import { textForQuery } from '../../db/sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isInKnownYears, outsideKnownYears } from '../../input.ts';
import {
  assertAllowed,
  builder,
  defaultPageSize,
  type Graph,
  limits,
  type SchemaTypes,
} from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { requestError } from '../request-error.ts';
import { withColumns } from './columns.ts';

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which way a list is ordered.',
  values: {
    ASC: { description: 'Smallest, earliest, or first in the alphabet first.' },
    DESC: { description: 'Largest, latest, or last in the alphabet first.' },
  } as const,
});

interface OrderField<Column, Nullable> {
  readonly field: Column;
  readonly nullable: Nullable;
  readonly description: string;
}

/** The orders that a list offers: for each value of `<Type>OrderField` the column, and whether it can be null. */
export type OrderFields<Row> = Readonly<
  Record<
    string,
    {
      [Column in keyof Row & string]: OrderField<Column, null extends Row[Column] ? true : false>;
    }[keyof Row & string]
  >
>;

/** Newest first: the default order of a list. Ids begin with the time of their creation. */
const newestFirst: ListOrder = { field: 'id', nullable: false, direction: 'desc' };

/** Makes a list's `orderBy` input, `<Type>Order`, and the reader of its value. */
export function orderInput(
  typename: string,
  fields: Readonly<Record<string, OrderField<string, boolean>>>,
) {
  const fieldEnum = builder.enumType(`${typename}OrderField`, {
    description: 'What to order the list by.',
    values: Object.fromEntries(
      Object.entries(fields).map(([value, { description }]) => [value, { description }]),
    ),
  });
  const input = builder.inputType(`${typename}Order`, {
    description: 'How to order the list. What has no value comes last.',
    fields: (t) => ({
      field: t.field({ type: fieldEnum, required: true, description: 'What to order by.' }),
      direction: t.field({ type: OrderDirection, defaultValue: 'ASC', description: 'Which way.' }),
    }),
  });
  const read = (value: typeof input.$inferInput | null | undefined): ListOrder => {
    const chosen = value && fields[String(value.field)];
    if (!chosen) return newestFirst;
    const { field, nullable } = chosen;
    return { field, nullable, direction: value.direction === 'DESC' ? 'desc' : 'asc' };
  };
  return { input, read };
}

/**
 * Makes the connection type of a list, `<Type>Connection`, the same wherever the type is listed. Its resolver
 * gives `totalCount` as a number, or as a function that is called where the request asks for it.
 *
 * @param options.ownEdge The type of its edges, where they have more fields than `cursor` and `node`.
 * @param options.graphs The schemas it is in; the management's by default.
 */
export function connectionOf<Type extends OutputType<SchemaTypes>>(
  typename: string,
  type: Type,
  options: {
    readonly ownEdge?: ObjectRef<SchemaTypes, unknown>;
    readonly graphs?: Graph[];
  } = {},
) {
  const { ownEdge, graphs: subGraphs = ['management'] } = options;
  const edge =
    // An own edge's rows need not hold what its fields resolve.
    (ownEdge as never) ??
    builder.edgeObject({
      type,
      name: `${typename}Edge`,
      subGraphs,
      description: `One of the list, with its place in it.`,
    });
  return builder.connectionObject(
    {
      type,
      name: `${typename}Connection`,
      subGraphs,
      description: `A page of a list (Relay cursor connections).`,
      fields: (t) => ({
        totalCount: t.int({
          description: 'How many there are over all pages. Counted only when asked for.',
          resolve: ({ totalCount }) => (typeof totalCount === 'number' ? totalCount : totalCount()),
        }),
      }),
    },
    edge,
  );
}

/** The paging arguments of a connection (Relay cursor connections §4). */
export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** How a list is ordered: by one field, then by id. */
export interface ListOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
  /** Whether the field can be null; nulls come last. */
  readonly nullable: boolean;
}

type Position = readonly [value: string | null, id: string];

// The position and not the row: a page can continue after a row that was deleted meanwhile.
const encodeCursor = (position: Position) =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function decodeCursor(cursor: string, argument: string): Position {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isPosition =
      Array.isArray(value) &&
      value.length === 2 &&
      (value[0] === null || textForQuery(value[0]) !== null) &&
      textForQuery(value[1]) !== null;
    if (isPosition) return [value[0], value[1]];
  } catch {
    // Reported below, like any other text that is not a cursor.
  }
  throw requestError('BAD_USER_INPUT', `"${argument}" is not a cursor of this list.`);
}

/** The cursor of a row in a list that is ordered by one id. */
export const cursorOf = (id: string): string => encodeCursor([id, id]);

/**
 * The id that a cursor of a list ordered by one id stands for.
 *
 * @throws BAD_USER_INPUT if it is not a cursor.
 */
export const idOfCursor = (cursor: string, argument: string): string =>
  decodeCursor(cursor, argument)[1];

/**
 * Checks a page's size.
 *
 * @throws BAD_USER_INPUT when it is negative, over the limit, or asks for both ends.
 */
export function pageSize({ first, last }: PageArguments): number {
  if (first != null && last != null) {
    throw requestError('BAD_USER_INPUT', '"first" and "last" exclude each other.');
  }
  const size = first ?? last ?? defaultPageSize;
  if (size < 0 || size > limits.pageSize) {
    throw requestError(
      'BAD_USER_INPUT',
      `"${first == null ? 'last' : 'first'}" must be from 0 to ${limits.pageSize}.`,
    );
  }
  return size;
}

/**
 * The position of a page in its list.
 *
 * @param hasMore Whether the list goes on in the direction of reading.
 * @param cursorAt The cursor of the page's entry at an index, if it has one.
 */
export const pageInfoOf = (
  { last, after, before }: PageArguments,
  hasMore: boolean,
  cursorAt: (index: 0 | -1) => string | undefined,
) => ({
  hasNextPage: last == null ? hasMore : before != null,
  hasPreviousPage: last == null ? after != null : hasMore,
  startCursor: cursorAt(0) ?? null,
  endCursor: cursorAt(-1) ?? null,
});

/** The rows of a list: a model of the Prisma client. */
export interface Model<Row> {
  // biome-ignore lint/suspicious/noExplicitAny: each model has arguments of its own, which `where` and `order` fit.
  findMany(query: any): PromiseLike<Row[]>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  count(query: any): Promise<number>;
}

/**
 * Reads one page of a root list by keyset, with what the request selects of its nodes: the cost of a page does not grow
 * with its depth. All rows are counted only if the request selects `totalCount`.
 *
 * @param options.where The list's own condition, for Prisma.
 * @throws BAD_USER_INPUT when a page is too large, or a cursor belongs to another list or order.
 */
export async function readPage<Row extends { id: string }>(options: {
  readonly args: PageArguments;
  readonly context: GraphQLContext;
  readonly info: GraphQLResolveInfo;
  readonly model: Model<Row>;
  readonly where: object;
  readonly order: ListOrder;
}) {
  const { args, context, info, model, where, order } = options;
  const path = ['edges', 'node'];
  const whole = queryFromInfo({ context, info, path });
  const selection = withColumns(whole, info, path, ['id', order.field]);
  const size = pageSize(args);
  const isBackward = args.last != null;
  const after = args.after == null ? undefined : decodeCursor(args.after, 'after');
  const before = args.before == null ? undefined : decodeCursor(args.before, 'before');

  const beyondAfter = after ? positionedBeyond(order, 'after', after) : [{}];
  const beyondBefore = before ? positionedBeyond(order, 'before', before) : [{}];
  const [parts, bound] = isBackward ? [beyondBefore, beyondAfter] : [beyondAfter, beyondBefore];
  const rows: Row[] = [];
  for (const part of parts) {
    const missing = size + 1 - rows.length;
    if (missing === 0) break;
    const range = [part, bound.length === 1 ? (bound[0] ?? {}) : { OR: bound }];
    const query = { where: { AND: [where, ...range] }, orderBy: orderBy(order, isBackward) };
    try {
      rows.push(...(await model.findMany({ ...selection, ...query, take: missing })));
    } catch (error) {
      // A cursor of another order holds another kind of value: a name where there should be an instant.
      if (!(after || before) || !(error instanceof Prisma.PrismaClientValidationError)) throw error;
      throw requestError('BAD_USER_INPUT', 'The cursor is none of this list in this order.');
    }
  }
  const hasMore = rows.length > size;
  const page = rows.slice(0, size);
  if (isBackward) page.reverse();
  const edges = page.map((node) => ({ node, cursor: encodeCursor(positionOf(order, node)) }));
  return {
    edges,
    pageInfo: pageInfoOf(args, hasMore, (index) => edges.at(index)?.cursor),
    totalCount: () => model.count({ where }),
  };
}

function positionOf({ field }: ListOrder, row: { id: string }): Position {
  const value = (row as Record<string, unknown>)[field];
  return [value instanceof Date ? value.toISOString() : ((value as string | null) ?? null), row.id];
}

function orderBy({ field, direction, nullable }: ListOrder, isReversed: boolean): object[] {
  const flip = { asc: 'desc', desc: 'asc' } as const;
  const sort = isReversed ? flip[direction] : direction;
  if (field === 'id') return [{ id: sort }];
  return [
    { [field]: nullable ? { sort, nulls: isReversed ? 'first' : 'last' } : sort },
    { id: sort },
  ];
}

/**
 * The conditions of the rows beyond a position, one or two: rows with a value, and rows without. As a single condition
 * they would make the database read the index from its start.
 */
function positionedBeyond(
  order: ListOrder,
  side: 'after' | 'before',
  [value, id]: Position,
): object[] {
  const { field, nullable } = order;
  const isUp = (order.direction === 'asc') === (side === 'after');
  const operator = isUp ? 'gt' : 'lt';
  if (field === 'id') return [{ id: { [operator]: id } }];
  const sameValue = { [field]: value, id: { [operator]: id } };
  // Nulls come last whichever way the values run.
  if (value === null) {
    return side === 'after' ? [sameValue] : [sameValue, { [field]: { not: null } }];
  }
  const others = { [field]: { [operator]: value } };
  // The first condition follows from the second; it is what lets the index find where the page begins.
  const values = { AND: [{ [field]: { [`${operator}e`]: value } }, { OR: [others, sameValue] }] };
  return nullable && side === 'after' ? [values, { [field]: null }] : [values];
}

/**
 * Checks that a caller may use the fields of a filter. A field about records of another area requires the scope to read
 * these too.
 *
 * @param scopes The scope that each field requires, beside the list's own.
 * @throws FORBIDDEN
 */
export function assertMayFilter<Filter extends object>(
  { caller }: Pick<GraphQLContext, 'caller'>,
  filter: Filter | null | undefined,
  scopes: { readonly [Field in keyof Filter]?: ManagementScope },
): void {
  for (const [field, required] of Object.entries(scopes) as [keyof Filter, ManagementScope][]) {
    if (filter?.[field] != null) assertAllowed(caller, required);
  }
}

/**
 * The instant in an argument or a field of a filter.
 *
 * @throws BAD_USER_INPUT, with the name, for a year outside the supported range.
 */
export function instantOf<Name extends string>(
  given: { readonly [Field in Name]?: Date | null | undefined },
  name: Name,
): Date | undefined {
  const instant = given[name] ?? undefined;
  if (instant === undefined || isInKnownYears(instant)) return instant;
  throw requestError('BAD_USER_INPUT', `"${name}" ${outsideKnownYears}.`);
}

/** The condition on an instant that lies between two others, each of which may be open. */
export const between = (gt: Date | undefined, lt: Date | undefined) =>
  gt || lt ? { gt, lt } : undefined;
