import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { PrismaModelTypes, PrismaNodeRef } from '@pothos/plugin-prisma';
import type { ManagementScope } from '../../auth/scopes.ts';
import { rowsOf } from '../../db/rows/rows.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import type { InputFields } from '../mutations/mutation.ts';
import { withColumns } from './columns.ts';
import { assertMayFilter, connectionOf, type OrderFields, orderInput, readPage } from './page.ts';
import { searchDescription, searching } from './searching.ts';

/** Orders that many lists offer. */
export const orders = {
  // Ids begin with their creation time.
  byCreation: { field: 'id', nullable: false, description: 'By creation time.' },
  byChange: { field: 'updatedAt', nullable: false, description: 'By time of the last change.' },
  byName: { field: 'name', nullable: false, description: 'By name.' },
} as const;

/** The search of records that have a name and a description. */
export const textSearch = {
  columns: ['name', 'description', 'id'],
  description: 'the name, the description or the id',
} as const;

interface RecordQueriesOptions<
  Row extends { id: string },
  Where extends object,
  Fields extends InputFieldMap,
> {
  /** The names of the query for one record and of the query for the list. */
  readonly names: readonly [one: string, list: string];
  /** What descriptions call a record, if that is not its query's name. Its plural ends in `s`. */
  readonly noun?: string;
  /** What descriptions of arguments call it, if that is shorter. */
  readonly shortNoun?: string;
  /** Descriptions that differ from those of other records. */
  readonly descriptions?: Partial<Record<'one' | 'list' | 'filter', string>>;
  /** The scope that the caller's token must allow. */
  readonly scope: ManagementScope;
  /** The columns that the filter's `search` looks through, and how its description names them. */
  readonly search: {
    readonly columns: readonly (keyof Row & string)[];
    readonly description: string;
  };
  /** The other fields of the filter. */
  readonly filter?: (t: InputFields) => Fields;
  /** The condition that these fields make. Prisma leaves out what is undefined. */
  readonly where?: (
    filter: InputShapeFromFields<Fields>,
    context: GraphQLContext,
  ) => Where | Promise<Where>;
  /** Scopes that fields on another area require. */
  readonly filterScopes?: {
    readonly [Field in keyof InputShapeFromFields<Fields>]?: ManagementScope;
  };
  readonly order: OrderFields<Row>;
}

/**
 * Adds the two queries of a record type, such as `user` and `users`, with the types that the list needs:
 * `UserConnection`, `UserFilter`, `UserOrder`.
 *
 * @returns The connection type, for other lists of these records.
 */
export function addRecordQueries<
  PrismaModel extends PrismaModelTypes,
  Row extends { id: string },
  Fields extends InputFieldMap,
>(
  type: PrismaNodeRef<SchemaTypes, PrismaModel, Row>,
  options: RecordQueriesOptions<NoInfer<Row>, PrismaModel['Where'], Fields>,
) {
  const { scope, search, where, filterScopes = {} } = options;
  const rows = (database: GraphQLContext['database']) =>
    rowsOf<Row>(database, type.modelName as Prisma.ModelName);
  const [one, list] = options.names;
  const { noun = one, shortNoun = noun, descriptions = {} } = options;

  const connection = connectionOf(type.name, type);
  const order = orderInput(type.name, options.order);
  const filterInput = builder.inputType(`${type.name}Filter`, {
    description:
      descriptions.filter ?? `Which ${noun}s to list. A match meets every field that is given.`,
    fields: (t) => ({
      search: t.string({ description: searchDescription(search.description) }),
      ...options.filter?.(t),
    }),
  });
  type Filter = InputShapeFromFields<Fields> & { search?: string | null };

  builder.queryField(one, (t) =>
    t.prismaField({
      type,
      nullable: true,
      description:
        descriptions.one ??
        `${/^[aeio]/.test(noun) ? 'An' : 'A'} ${noun}, or null if none has that id.`,
      authScopes: { scope },
      args: { id: t.arg.id({ required: true, description: `The ${shortNoun}'s id.` }) },
      // The compiler cannot see through the type parameters that these are rows of the type.
      resolve: (query, _root, { id }, { database }, info) =>
        rows(database).findUnique({
          ...withColumns(query, info, [], ['id']),
          where: { id },
        }) as never,
    }),
  );
  builder.queryField(list, (t) =>
    t.connection(
      {
        type,
        description: descriptions.list ?? `The ${noun}s, newest first by default.`,
        authScopes: { scope },
        args: {
          filter: t.arg({ type: filterInput, description: `Which ${shortNoun}s to list.` }),
          orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
        },
        resolve: async (_root, args, context, info) => {
          const filter = args.filter as Filter | null | undefined;
          assertMayFilter(context, filter, filterScopes);
          return readPage({
            args,
            context,
            info,
            model: rows(context.database),
            where: {
              ...(await searching(context.database, filter?.search, search.columns)),
              ...(filter && (await where?.(filter, context))),
            },
            order: order.read(args.orderBy),
          });
        },
      },
      connection,
    ),
  );
  return connection;
}
