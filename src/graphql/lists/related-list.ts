import type { GraphQLContext } from '../context.ts';
import { cursorOf, idOfCursor, type PageArguments, pageInfoOf, pageSize } from './page.ts';
import { openCursor, sealCursor } from './sealed-cursor.ts';

/** Pothos' planner for the selection below a field: a query for its rows, and the path to their selection. */
type NestedSelection = (query: object | true, path: string[]) => { select?: object };

type CursorKeys = Pick<GraphQLContext, 'cipher'>;

interface RelatedListOptions<Row, Node> {
  /** The parent model's relation that holds the rows. */
  readonly relation: string;
  /** The column that orders the rows; it is unique among the rows of one parent. */
  readonly key: keyof Row & string;
  /** The relation from a row to its node, if the rows are those of a join table. */
  readonly through?: keyof Row & string;
  /** The rows are the connection's edges, with their own fields; their type resolves `cursor` and `node`. */
  readonly rowsAreEdges?: boolean;
  /** The condition of the rows that are listed and counted; absent: all. */
  readonly where?: (context: GraphQLContext) => object;
  /** The keys are ids that require another scope than the rows, so cursors must hide them. */
  readonly sealsCursors?: boolean;
  /** Only for the type of the nodes. */
  readonly node?: (row: Row) => Node;
}

/**
 * Makes the selection and `resolve` of a field that lists a relation of a record by keyset. One statement loads the
 * rows of a page for all parents. `totalCount` is counted only if it is selected.
 *
 * Pothos' own connections page with Prisma's `cursor`. With several parents, Prisma then reads every row of the
 * relation and cuts the list in memory.
 */
export function relatedList<Row extends object, Node = Row>(
  options: RelatedListOptions<Row, Node>,
) {
  const { relation, key, through, rowsAreEdges = false, sealsCursors = false, where } = options;
  const cursorFor = ({ cipher }: CursorKeys, id: string) =>
    sealsCursors ? sealCursor(cipher, relation, id) : cursorOf(id);
  const idFor = ({ cipher }: CursorKeys, cursor: string, argument: string) =>
    sealsCursors ? openCursor(cipher, relation, cursor, argument) : idOfCursor(cursor, argument);

  const select = (
    args: PageArguments,
    context: GraphQLContext,
    nested: NestedSelection,
    selectedNames: () => ReadonlySet<string>,
  ) => {
    const names = selectedNames();
    const path = rowsAreEdges ? ['edges'] : ['edges', 'node'];
    const idIn = (cursor: string, argument: string) => idFor(context, cursor, argument);
    const listed = where?.(context);
    const page = pageQuery(args, key, idIn, listed);
    const rows = through
      ? { ...page, select: { [key]: true, [through]: withKey(nested({}, path), 'id') } }
      : withKey(nested(page, path), key);
    const hasRows = names.has('edges') || names.has('pageInfo');
    return {
      select: {
        ...(hasRows ? { [relation]: rows } : {}),
        ...(names.has('totalCount')
          ? { _count: { select: { [relation]: listed ? { where: listed } : true } } }
          : {}),
      },
    };
  };

  function resolve(parent: object, args: PageArguments, context: CursorKeys) {
    const { [relation]: found = [], _count: counts } = parent as Record<string, unknown> & {
      _count?: Record<string, number>;
    };
    const size = pageSize(args);
    const rows = found as Row[];
    const hasMore = rows.length > size;
    const page = rows.slice(0, size);
    if (args.last != null) page.reverse();
    const edges = page.map((row) =>
      rowsAreEdges
        ? row
        : { node: through ? row[through] : row, cursor: cursorFor(context, String(row[key])) },
    );
    const cursorAt = (index: number) => {
      const row = page.at(index);
      return row && cursorFor(context, String(row[key]));
    };
    return {
      // The compiler cannot know the type behind a relation's name; the caller states it with `Node`.
      edges: edges as unknown as { node: Node; cursor: string }[],
      pageInfo: pageInfoOf(args, hasMore, cursorAt),
      totalCount: counts?.[relation] ?? 0,
    };
  }

  // As in Pothos' own connections: the option `select` does not know which fields are selected, and would count every
  // list even without `totalCount`.
  return { extensions: { pothosPrismaSelect: select }, resolve };
}

// If only cursors are selected, nothing else selects a column.
const withKey = (query: { select?: object }, key: string) =>
  query.select ? { ...query, select: { ...query.select, [key]: true } } : query;

// One row more than the page, to learn whether there are more.
function pageQuery(
  args: PageArguments,
  key: string,
  idOf: (cursor: string, argument: string) => string,
  listed: object = {},
) {
  const after = args.after == null ? undefined : idOf(args.after, 'after');
  const before = args.before == null ? undefined : idOf(args.before, 'before');
  return {
    where: {
      AND: [
        listed,
        after === undefined ? {} : { [key]: { gt: after } },
        before === undefined ? {} : { [key]: { lt: before } },
      ],
    },
    orderBy: { [key]: args.last == null ? 'asc' : 'desc' },
    take: pageSize(args) + 1,
  };
}
