import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ErrorsPlugin from '@pothos/plugin-errors';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import SubGraphPlugin from '@pothos/plugin-sub-graph';
import { GraphQLError, type GraphQLSchema, isObjectType, isScalarType } from 'graphql';
import type { Caller } from '../auth/caller.ts';
import { allows, type ManagementScope, managementScopes } from '../auth/scopes.ts';
import { datamodel } from '../db/rows/datamodel.ts';
import type PrismaTypes from '../generated/pothos.ts';

import { kindOfId } from '../ids.ts';
import type { GraphQLContext } from './context.ts';
import { costLimits, tooComplex } from './cost.ts';
import { mutationResultName } from './names.ts';
import { operationsPlugin } from './operations/plugin.ts';
import { publicExtensions } from './public-error.ts';
import { requestError, unauthenticated } from './request-error.ts';

/**
 * The schemas built from one set of types: the management API, the API for people who sign in, and the one for their
 * own account.
 */
export type Graph = 'management' | 'experience' | 'account';

/** Marks a type that is part of every schema. */
export const everyGraph: Graph[] = ['management', 'experience', 'account'];

/** Marks a type or a field that people read of their own account too. */
export const ownGraphs: Graph[] = ['management', 'account'];

/**
 * Marks a type that people read of their own account. Its fields are the management's alone unless they say otherwise,
 * so that a new field shows them nothing by accident.
 */
export const ownType = { subGraphs: ownGraphs, defaultSubGraphsForFields: ['management' as const] };

interface Declared {
  Context: GraphQLContext;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  AuthScopes: {
    /** Required scopes: without all of them the request is refused. */
    scope: ManagementScope | readonly ManagementScope[];
    /** The scope of a nullable field: without it the field is null, and the rest of the answer stays. */
    scopeInPlace: ManagementScope;
  };
  SubGraphs: Graph;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    JSONObject: { Input: Record<string, unknown>; Output: unknown };
    URL: { Input: string; Output: string };
    EmailAddress: { Input: string; Output: string };
    PhoneNumber: { Input: string; Output: string };
  };
  Connection: { readonly totalCount: number | (() => Promise<number>) };
}

/** The limits of one request, beside what its operation may cost. */
export const limits = {
  /** Aliases in a document. */
  aliases: 30,
  /** Tokens in a document. */
  tokens: 4_000,
  /** Records in a page. */
  pageSize: 100,
  /** Ids in one call of `nodes`. */
  nodes: 1_000,
} as const;

/** Records in a page if the request does not say. */
export const defaultPageSize = 20;

/** The type that loads events of every type by id: an event's id does not name its type. */
export const nodeTypeOfEvents = 'UserCreatedEvent';

// RFC 6750 §3.1
const insufficientScope = 'Bearer error="insufficient_scope"';

/**
 * Checks that a caller's token has a scope.
 *
 * @throws UNAUTHENTICATED without a token, FORBIDDEN if it lacks the scope.
 */
export function assertAllowed(caller: Caller | null, required: ManagementScope): void {
  if (!caller) throw unauthenticated();
  if (allows(caller.scopes, required)) return;
  throw requestError(
    'FORBIDDEN',
    `The access token lacks the scope ${required}.`,
    { requiredScope: required },
    `${insufficientScope}, scope="${required}"`,
  );
}

/**
 * Checks that the caller may use the management API at all.
 *
 * @throws UNAUTHENTICATED without a token, FORBIDDEN if it has no scope.
 */
export function assertKnown(caller: Caller | null): asserts caller is Caller {
  if (!caller) throw unauthenticated();
  if ([...managementScopes.keys()].some((scope) => caller.scopes.has(scope))) return;
  const message = 'The access token has no scope of the management API.';
  throw requestError('FORBIDDEN', message, {}, insufficientScope);
}

// An error in one field must not change the status of the whole answer.
function inPlace(error: unknown): unknown {
  return error instanceof GraphQLError
    ? new GraphQLError(error.message, { extensions: publicExtensions(error) })
    : error;
}
const isNode = (schema: GraphQLSchema, { typename }: { readonly typename: string }): boolean => {
  const type = schema.getType(typename);
  return isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
};

/** The Pothos builder; features define their types on it. */
export const builder = new SchemaBuilder<Declared>({
  // Errors come before authorization, so that FORBIDDEN is a top-level error and not part of the result union.
  plugins: [
    operationsPlugin,
    ScopeAuthPlugin,
    ErrorsPlugin,
    RelayPlugin,
    PrismaPlugin,
    ComplexityPlugin,
    SubGraphPlugin,
  ],
  defaultFieldNullability: false,
  // A type is part of another graph only if it says so.
  subGraphs: {
    defaultForTypes: ['management'],
    fieldsInheritFromTypes: true,
    // The contract names scalars that no field uses yet.
    explicitlyIncludeType: (type) => isScalarType(type),
  },
  prisma: {
    client: ({ database }) => database.prisma,
    dmmf: datamodel,
    exposeDescriptions: false,
    filterConnectionTotalCount: true,
    defaultConnectionSize: defaultPageSize,
    maxConnectionSize: limits.pageSize,
    onUnusedQuery: null,
  },
  relay: {
    // A TypeID already names its type.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => {
      const kind = kindOfId(id);
      // A fault thrown here would hit all fields that are resolved together.
      return { typename: kind === 'Event' ? nodeTypeOfEvents : (kind ?? ''), id };
    },
    nodeTypeOptions: { description: 'A record with its own id.' },
    idFieldOptions: { description: 'The id: a TypeID, whose prefix names the type.' },
    nodeQueryOptions: {
      description: 'The record with this id, or null if there is none.',
      args: { id: { description: 'An id of any kind.' } },
      resolve: (_root, args, _context, { schema }, resolveNode) =>
        isNode(schema, args.id) ? resolveNode(args.id) : null,
    },
    nodesQueryOptions: {
      description: 'The records with these ids, in the same order, with null for each unknown id.',
      args: { ids: { description: `Ids of any kind, at most ${limits.nodes}.` } },
      complexity: ({ ids }: { ids: readonly unknown[] }) => ({
        field: 1,
        multiplier: [ids].flat().length,
      }),
      resolve: (_root, args, _context, { schema }, resolveNodes) => {
        if (args.ids.length > limits.nodes) {
          throw requestError(
            'QUERY_TOO_COMPLEX',
            `"ids" must have at most ${limits.nodes} entries.`,
          );
        }
        // Pothos loads the ids in the arguments object itself. It answers null with null, which its type does not say.
        args.ids = args.ids.map((id) => (isNode(schema, id) ? id : (null as never)));
        return resolveNodes(args.ids);
      },
    },
    pageInfoTypeOptions: {
      subGraphs: ownGraphs,
      description: 'The position of a page in its list (Relay cursor connections).',
    },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The entries of the page.',
    },
    nodeFieldOptions: { nullable: false, description: 'The listed record.' },
    cursorFieldOptions: { description: 'The position in the list, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'The position of the page in the list.' },
    hasNextPageFieldOptions: { description: 'Whether there are entries after the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are entries before the page.' },
    startCursorFieldOptions: {
      description: 'The cursor of the first entry; null on an empty page.',
    },
    endCursorFieldOptions: { description: 'The cursor of the last entry; null on an empty page.' },
    firstArgOptions: {
      description: `How many to list: ${defaultPageSize} by default, at most ${limits.pageSize}.`,
    },
    afterArgOptions: { description: 'Lists the entries after this cursor.' },
    lastArgOptions: { description: `How many to list from the end, at most ${limits.pageSize}.` },
    beforeArgOptions: { description: 'Lists the entries before this cursor.' },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ caller, viewer }) => ({
      scope: (required) => {
        // The Account API holds only what people may see of themselves; its root fields check the token.
        if (viewer) return true;
        for (const scope of [required].flat()) assertAllowed(caller, scope);
        return true;
      },
      scopeInPlace: (required) => {
        if (viewer) return true;
        try {
          assertAllowed(caller, required);
        } catch (error) {
          throw inPlace(error);
        }
        return true;
      },
    }),
  },
  errors: {
    directResult: true,
    defaultTypes: [],
    defaultResultOptions: {},
    defaultUnionOptions: { name: ({ fieldName }) => mutationResultName(fieldName) },
  },
  complexity: {
    limit: costLimits,
    // A connection costs as much as it can return: its page size times the cost of each record.
    fieldComplexity: (args, _context, { args: parameters }) =>
      parameters.some(({ name }) => name === 'first')
        ? { field: 1, multiplier: Number(args['first'] ?? args['last'] ?? defaultPageSize) }
        : // By default the plugin multiplies any other list by ten, `edges` too.
          { field: 1, multiplier: 1 },
    complexityError: (kind, cost) =>
      tooComplex(
        ({ Depth: 'depth', Breadth: 'breadth', Complexity: 'complexity' } as const)[kind],
        cost,
      ),
  },
});

/** The builder's types, with Pothos' defaults. */
export type SchemaTypes =
  typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never;

// A root field belongs to the management graph unless it says otherwise.
const roots = { subGraphs: everyGraph, defaultSubGraphsForFields: ['management' as const] };

builder.queryType({ ...roots, description: 'Everything that can be read.' });
builder.subscriptionType({
  description:
    'Everything that can be followed live, over WebSocket (`graphql-transport-ws`) or server-sent events, both at `/graphql`.',
});
builder.mutationType({
  ...roots,
  description:
    'Everything that can be changed. Each mutation takes one input and returns a result union.',
});
