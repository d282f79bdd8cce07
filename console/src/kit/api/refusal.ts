import { graphql } from './graphql.ts';

// The fields of a refusal; every mutation's document spreads it.
graphql(`
  fragment Refusal on Error {
    __typename
    code
    message
    ... on InvalidInputError { issues { path message } }
    ... on ConflictError { path }
    ... on NotFoundError { id }
    ... on VersionConflictError { currentVersion }
  }
`);

/** One fault and the path of its field; an empty path means the whole input. */
export interface Issue {
  readonly path: readonly string[];
  readonly message: string;
}

/** Why a mutation was refused. Nothing was written. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly issues: readonly Issue[];
  /** Where somebody has changed the record meanwhile: its version now. */
  readonly currentVersion?: number | undefined;
}

interface RefusedResult {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
  readonly issues?: readonly Issue[];
  readonly currentVersion?: number;
}

/** The refusal in a mutation's result, if it is one. */
export function refusalIn(result: object): Refusal | undefined {
  if (!('code' in result && 'message' in result)) return undefined;
  const { code, message, path, issues, currentVersion } = result as RefusedResult;
  return { code, message, issues: issues ?? [{ path: path ?? [], message }], currentVersion };
}

/** The result of a mutation, in the answer to its document. */
export const rootResult = (data: object): object =>
  Object.entries(data).find(([field]) => field !== '__typename')?.[1] as object;
