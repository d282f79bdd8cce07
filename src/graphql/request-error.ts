import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';

const statuses = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  BAD_USER_INPUT: 400,
  QUERY_TOO_COMPLEX: 400,
  CURSOR_EXPIRED: 410,
  INTERNAL_SERVER_ERROR: 500,
} as const;

/** The `extensions.code` of a top-level error: of what no form can fix. */
export type RequestErrorCode = keyof typeof statuses;

/** Every code that a top-level error can have. */
export const requestErrorCodes: ReadonlySet<RequestErrorCode> = new Set(
  Object.keys(statuses) as RequestErrorCode[],
);

/** Makes a top-level error with its code and the HTTP status that goes with it. */
export function requestError(
  code: RequestErrorCode,
  message: string,
  extensions: GraphQLErrorExtensions = {},
): GraphQLError {
  const headers =
    code === 'UNAUTHENTICATED' ? { headers: { 'WWW-Authenticate': 'Bearer' } } : undefined;
  return new GraphQLError(message, {
    extensions: { ...extensions, code, http: { status: statuses[code], ...headers } },
  });
}
