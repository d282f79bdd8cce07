import { cursorOf, idOfCursor, type PageArguments, pageSize } from './list.ts';

/** Pothos' planner of what is selected beneath a field: a query for its rows, and the way to their selection. */
type NestedSelection = (query: object | true, path: string[]) => { select?: object };

interface RelatedListOptions<Row, Node> {
  /** The parent model's relation that holds the rows. */
  readonly relation: string;
  /** The column that orders the rows, unique among those of one parent. */
  readonly key: keyof Row & string;
  /** Where the rows only lead to the nodes, as in a join table: the relation that does. */
  readonly through?: keyof Row & string;
  /** The rows are the connection's edges, with fields of their own: their type resolves `cursor` and `node`. */
  readonly rowsAreEdges?: boolean;
  /** Typed by the caller: what the nodes are. */
  readonly node?: (row: Row) => Node;
}

/**
 * Makes the selection and `resolve` of a field that lists a relation of a record by keyset: the rows of a page come with
 * the parents in one statement however many parents there are, and `totalCount` is counted where it is asked for.
 *
 * Pothos' own connections page with Prisma's `cursor`, for which Prisma reads every row of the relation and cuts in
 * memory where there are several parents.
 */
export function relatedList<Row extends object, Node = Row>(
  options: RelatedListOptions<Row, Node>,
) {
  const { relation, key, through, rowsAreEdges = false } = options;

  const select = (
    args: PageArguments,
    _context: object,
    nested: NestedSelection,
    selectedNames: () => ReadonlySet<string>,
  ) => {
    const names = selectedNames();
    const path = rowsAreEdges ? ['edges'] : ['edges', 'node'];
    const page = pageQuery(args, key);
    const rows = through
      ? { ...page, select: { [key]: true, [through]: nested({}, path) } }
      : withKey(nested(page, path), key);
    const hasRows = names.has('edges') || names.has('pageInfo');
    return {
      select: {
        ...(hasRows ? { [relation]: rows } : {}),
        ...(names.has('totalCount') ? { _count: { select: { [relation]: true } } } : {}),
      },
    };
  };

  function resolve(parent: object, args: PageArguments) {
    const { [relation]: found = [], _count: counts } = parent as Record<string, unknown> & {
      _count?: Record<string, number>;
    };
    const size = pageSize(args);
    const rows = found as Row[];
    const hasMore = rows.length > size;
    const page = rows.slice(0, size);
    const isBackward = args.last != null;
    if (isBackward) page.reverse();
    const edges = page.map((row) =>
      rowsAreEdges
        ? row
        : { node: through ? row[through] : row, cursor: cursorOf(String(row[key])) },
    );
    const cursorAt = (index: number) => {
      const row = page.at(index);
      return row ? cursorOf(String(row[key])) : null;
    };
    return {
      // The compiler cannot know what a relation named by a string holds; the caller says it with `Node`.
      edges: edges as unknown as { node: Node; cursor: string }[],
      pageInfo: {
        hasNextPage: isBackward ? args.before != null : hasMore,
        hasPreviousPage: isBackward ? hasMore : args.after != null,
        startCursor: cursorAt(0),
        endCursor: cursorAt(-1),
      },
      totalCount: counts?.[relation] ?? 0,
    };
  }

  // As Pothos' own connections have it: the option `select` is not told which fields are selected, and would
  // count every list whether or not `totalCount` is asked for.
  return { extensions: { pothosPrismaSelect: select }, resolve };
}

// Where only cursors are selected, nothing else asks for a column.
const withKey = (query: { select?: object }, key: string) =>
  query.select ? { ...query, select: { ...query.select, [key]: true } } : query;

// One row more than the page, which tells whether there are more.
function pageQuery(args: PageArguments, key: string) {
  const after = args.after == null ? undefined : idOfCursor(args.after, 'after');
  const before = args.before == null ? undefined : idOfCursor(args.before, 'before');
  return {
    where: {
      AND: [
        after === undefined ? {} : { [key]: { gt: after } },
        before === undefined ? {} : { [key]: { lt: before } },
      ],
    },
    orderBy: { [key]: args.last == null ? 'asc' : 'desc' },
    take: pageSize(args) + 1,
  };
}
