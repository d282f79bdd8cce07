import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import ErrorsPlugin from '@pothos/plugin-errors';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Caller } from '../auth/caller.ts';
import { allows, type ManagementScope } from '../auth/scopes.ts';
import type PrismaTypes from '../generated/pothos.ts';
import { getDatamodel } from '../generated/pothos.ts';

import { kindOfId } from '../ids.ts';
import type { GraphQLContext } from './context.ts';
import { mutationResultName } from './names.ts';
import { requestError } from './request-error.ts';

interface Declared {
  Context: GraphQLContext;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  AuthScopes: { scope: ManagementScope };
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

/** How much one request may ask for. */
export const limits = {
  /** Levels of fields. */
  depth: 12,
  /** Fields of the widest selection. */
  breadth: 150,
  /** One a field, times the page size of each list above it. */
  cost: 300_000,
  /** Aliases in a document. */
  aliases: 30,
  /** Tokens in a document. */
  tokens: 4_000,
  /** Records of a page. */
  pageSize: 100,
} as const;

const defaultPageSize = 20;

/** The object type that loads events of every type by id: an id does not tell which of them it is of. */
export const nodeTypeOfEvents = 'UserCreatedEvent';

/**
 * Makes sure that a caller's token allows something.
 *
 * @throws UNAUTHENTICATED without a token, FORBIDDEN with one that lacks the scope.
 */
export function assertAllowed(caller: Caller | null, required: ManagementScope): void {
  if (!caller) throw requestError('UNAUTHENTICATED', 'An access token is required.');
  if (allows(caller.scopes, required)) return;
  throw requestError('FORBIDDEN', `The access token lacks the scope ${required}.`, {
    requiredScope: required,
  });
}

/** The Pothos builder: features define their types on it. */
export const builder = new SchemaBuilder<Declared>({
  // Errors before authorization: a top-level FORBIDDEN is thrown past the result union, not into it.
  plugins: [ScopeAuthPlugin, ErrorsPlugin, RelayPlugin, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: ({ database }) => database.prisma,
    dmmf: getDatamodel(),
    exposeDescriptions: false,
    filterConnectionTotalCount: true,
    defaultConnectionSize: defaultPageSize,
    maxConnectionSize: limits.pageSize,
    onUnusedQuery: null,
  },
  relay: {
    // A TypeID names its type already.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => {
      const kind = kindOfId(id);
      const typename = kind === 'Event' ? nodeTypeOfEvents : kind;
      if (!typename) throw requestError('BAD_USER_INPUT', `"${id}" is not an id.`);
      return { typename, id };
    },
    nodeTypeOptions: { description: 'Anything that has an id of its own.' },
    idFieldOptions: { description: 'The id: a TypeID, whose prefix names the type.' },
    nodeQueryOptions: {
      description: 'What has this id, or null where nothing has.',
      args: { id: { description: 'An id of any kind.' } },
    },
    nodesQueryOptions: {
      description: 'What has these ids, in their order, with null where nothing has.',
      args: { ids: { description: 'Ids of any kind.' } },
    },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The entries of the page.',
    },
    nodeFieldOptions: { nullable: false, description: 'What is listed.' },
    cursorFieldOptions: { description: 'The place in the list, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Where the page is in the list.' },
    pageInfoTypeOptions: { description: 'Where a page is in its list (Relay cursor connections).' },
    hasNextPageFieldOptions: { description: 'Whether there are entries behind the page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are entries in front of the page.' },
    startCursorFieldOptions: { description: 'The cursor of the first entry; null where none is.' },
    endCursorFieldOptions: { description: 'The cursor of the last entry; null where none is.' },
    firstArgOptions: { description: 'How many to list: 20 by default, at most 100.' },
    afterArgOptions: { description: 'List those behind the entry of this cursor.' },
    lastArgOptions: { description: 'How many to list from the end, at most 100.' },
    beforeArgOptions: { description: 'List those in front of the entry of this cursor.' },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ caller }) => ({
      scope: (required) => {
        assertAllowed(caller, required);
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
    limit: { complexity: limits.cost, depth: limits.depth, breadth: limits.breadth },
    // A connection costs what it can return: its page size times what each record costs.
    fieldComplexity: (args, _context, { args: parameters }) =>
      parameters.some(({ name }) => name === 'first')
        ? { field: 1, multiplier: Number(args['first'] ?? args['last'] ?? defaultPageSize) }
        : // The plugin multiplies any other list, `edges` among them, by ten where nothing is said.
          { field: 1, multiplier: 1 },
    complexityError: (kind, { depth, breadth, complexity }) => {
      const measured = { Depth: depth, Breadth: breadth, Complexity: complexity }[kind];
      return requestError(
        'QUERY_TOO_COMPLEX',
        `The query is too complex: its ${kind.toLowerCase()} is ${measured}.`,
      );
    },
  },
});

/** The builder's types, with Pothos' defaults filled in. */
export type SchemaTypes =
  typeof builder extends PothosSchemaTypes.SchemaBuilder<infer Types> ? Types : never;

builder.queryType({ description: 'What can be read.' });
builder.subscriptionType({
  description:
    'What can be followed live: over WebSocket (`graphql-transport-ws`) or server-sent events, both at `/graphql`.',
});
builder.mutationType({
  description: 'What can be changed: every mutation takes one input and returns a result union.',
});
