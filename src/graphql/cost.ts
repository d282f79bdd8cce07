import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
} from 'graphql';
import { limits } from './builder.ts';
import { requestError } from './request-error.ts';

/**
 * Finds out whether an operation asks for too much before any of it runs: a subscription's resolvers run with its
 * first event, which is too late to say so.
 *
 * @returns The error to answer with, or undefined where it keeps within the limits.
 */
export function costFault(operation: {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
}): GraphQLError | undefined {
  const { schema, document, operationName, variableValues } = operation;
  const chosen = getOperationAST(document, operationName);
  // Whoever runs it has a better word for an operation that is not there.
  if (!chosen) return undefined;
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const { complexity, depth, breadth } = complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [chosen, ...fragments] },
    { schema, variables: { ...variableValues } },
  );
  const excess = (
    [
      ['depth', depth, limits.depth],
      ['breadth', breadth, limits.breadth],
      ['complexity', complexity, limits.cost],
    ] as const
  ).find(([, measured, limit]) => measured > limit);
  return (
    excess &&
    requestError('QUERY_TOO_COMPLEX', `The query is too complex: its ${excess[0]} is ${excess[1]}.`)
  );
}
