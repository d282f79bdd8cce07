import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { failures, type RequestErrorCode } from '../failures.ts';

/** The error for a caller without a token. */
export const unauthenticated = (): GraphQLError =>
  requestError('UNAUTHENTICATED', 'An access token is required.');

/**
 * Makes a top-level error from its code, with the HTTP status and headers of that code.
 *
 * @param challenge What the caller has to prove (RFC 6750 §3), instead of the code's.
 */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: GraphQLErrorExtensions = {},
  challenge?: string,
): GraphQLError {
  const { status, headers: ofCode } = failures[code];
  const headers = challenge ? { 'WWW-Authenticate': challenge } : ofCode;
  return new GraphQLError(message, {
    extensions: { ...extensions, code, http: { status, ...(headers ? { headers } : {}) } },
  });
}
