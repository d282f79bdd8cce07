import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
} from 'graphql';
import { limits } from './builder.ts';
import { requestError } from './request-error.ts';

/**
 * Checks the cost of an operation before any of it runs. A subscription's resolvers run only with its first event,
 * which would be too late for the error.
 *
 * @returns The error to answer with; undefined if the operation is within the limits.
 */
export function costFault(operation: {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
}): GraphQLError | undefined {
  const { schema, document, operationName, variableValues } = operation;
  const chosen = getOperationAST(document, operationName);
  // The executor has a better message for an unknown operation, or for variables that do not fit.
  if (!chosen) return undefined;
  const { errors } = getVariableValues(
    schema,
    chosen.variableDefinitions ?? [],
    variableValues ?? {},
  );
  if (errors) return undefined;
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
