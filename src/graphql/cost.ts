import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
} from 'graphql';
import { requestError } from './request-error.ts';

/** The limits of one operation. */
export const costLimits = {
  /** Levels of fields. */
  depth: 12,
  /** Fields in the widest selection. */
  breadth: 150,
  /** One for each field, times the page size of each list above it. */
  complexity: 300_000,
} as const;

type Measure = keyof typeof costLimits;

/** The cost of an operation. */
type Cost = Readonly<Record<Measure, number>>;

/** The first limit that an operation exceeds; undefined if it exceeds none. */
export const findExcess = (cost: Cost): Measure | undefined =>
  (['depth', 'breadth', 'complexity'] as const).find((each) => cost[each] > costLimits[each]);

/** The error for an operation that exceeds a limit. */
export const tooComplex = (measure: Measure, cost: Cost): GraphQLError =>
  requestError(
    'QUERY_TOO_COMPLEX',
    `The query is too complex: its ${measure} is ${cost[measure]}.`,
  );

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
  const cost = complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [chosen, ...fragments] },
    { schema, variables: { ...variableValues } },
  );
  const excess = findExcess(cost);
  return excess && tooComplex(excess, cost);
}
