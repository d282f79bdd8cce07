import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { RowsQuery } from '../../db/rows/statement.ts';
import { selectedFieldsOf } from '../selected-fields.ts';

/** What Pothos keeps of a type or a field. */
interface Kept {
  /** The column that a field shows as it is. */
  readonly pothosExposedField?: string;
  /** The relations that a field adds to the query. */
  readonly pothosPrismaSelect?: unknown;
  readonly pothosOptions?: { readonly authScopes?: unknown; readonly select?: unknown };
}

/**
 * A query that reads, of the rows behind the fields of a path, the columns alone that the request asks for. If one of
 * the fields is worked out of the row, it reads all.
 *
 * @param query The query for all columns, with the relations that the request asks for.
 * @param needed Columns that are read in any case.
 */
export function withColumns(
  query: object,
  info: GraphQLResolveInfo,
  path: readonly string[],
  needed: readonly string[],
): RowsQuery {
  const { select, include, ...rest } = query as RowsQuery;
  const shown = select ? undefined : columnsAt(info, path);
  if (!shown) return query;
  const columns = [...needed, ...shown].map((name) => [name, true] as const);
  return { ...rest, select: { ...include, ...Object.fromEntries(columns) } };
}

function columnsAt(
  { returnType, fieldNodes, fragments }: GraphQLResolveInfo,
  path: readonly string[],
): string[] | undefined {
  const fieldsOf = (nodes: readonly FieldNode[]) =>
    nodes.flatMap(({ selectionSet }) =>
      selectionSet ? selectedFieldsOf({ selectionSet }, (name) => fragments[name]) : [],
    );
  let type: unknown = getNamedType(returnType);
  let nodes = fieldsOf(fieldNodes);
  for (const part of path) {
    if (!isObjectType(type)) return undefined;
    type = getNamedType(type.getFields()[part]?.type);
    nodes = fieldsOf(nodes.filter(({ name }) => name.value === part));
  }
  if (!isObjectType(type) || hasRuleOfRow(type)) return undefined;
  const columns: string[] = [];
  for (const { name } of nodes) {
    const column = columnOf(type, name.value);
    if (column === undefined) return undefined;
    if (column !== null) columns.push(column);
  }
  return columns;
}

const hasRuleOfRow = ({ extensions }: { readonly extensions: unknown }) =>
  typeof (extensions as Kept).pothosOptions?.authScopes === 'function';

/** The column that a field shows; null if it needs none, undefined if it may need any. */
function columnOf(type: GraphQLObjectType, name: string): string | null | undefined {
  if (name === '__typename') return null;
  if (name === 'id') return 'id';
  const field = type.getFields()[name];
  if (!field || hasRuleOfRow(field)) return undefined;
  const { pothosExposedField, pothosPrismaSelect, pothosOptions } = field.extensions as Kept;
  if (pothosExposedField !== undefined) return pothosExposedField;
  // A selection of the field's own options may be one of columns.
  return pothosPrismaSelect === undefined || pothosOptions?.select !== undefined ? undefined : null;
}
