import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { failures, type RequestErrorCode } from '../failures.ts';

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
