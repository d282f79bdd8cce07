import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { failures, type RequestErrorCode } from '../failures.ts';

/** The error for a caller without a token. */
export const unauthenticated = (): GraphQLError =>
  requestError('UNAUTHENTICATED', 'An access token is required.');

/** Makes a top-level error from its code, with the HTTP status and headers of that code. */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: GraphQLErrorExtensions = {},
): GraphQLError {
  const { status, headers } = failures[code];
  return new GraphQLError(message, {
    extensions: { ...extensions, code, http: { status, ...(headers ? { headers } : {}) } },
  });
}
