import { graphql } from './graphql.ts';

/** What a mutation's refusal tells; every mutation's document spreads it. */
export const RefusalFragment = graphql(`
  fragment Refusal on Error {
    __typename
    code
    message
    ... on InvalidInputError {
      issues {
        path
        message
      }
    }
    ... on ConflictError {
      path
    }
    ... on NotFoundError {
      id
    }
  }
`);

/** One thing that is wrong, and the field it is about. No path: the whole. */
export interface Issue {
  readonly path: readonly string[];
  readonly message: string;
}

/** A mutation that was understood and declined. Nothing was written. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly Issue[];
}

interface RefusedResult {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
  readonly issues?: readonly Issue[];
}

/** The refusal that a mutation's result is, if it is one. */
export function refusalIn(result: object): Refusal | undefined {
  if (!('code' in result && 'message' in result)) return undefined;
  const { code, message, path, issues } = result as RefusedResult;
  return { code, message, issues: issues ?? [{ path: path ?? [], message }] };
}
