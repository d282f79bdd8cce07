/** How a failure is answered over HTTP. */
interface Failure {
  readonly status: number;
  /** A short text for people, the same for every failure with this code. */
  readonly title: string;
  /** Headers that answers with this status carry. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long to wait, in seconds, when something is busy or cannot be reached. */
export const retryAfterSeconds = 5;

/** The failures of a request as a whole: `extensions.code` of a top-level error in GraphQL. */
const requestFailures = {
  GRAPHQL_PARSE_FAILED: { status: 400, title: 'The document is not valid GraphQL' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, title: 'The document does not fit the schema' },
  BAD_USER_INPUT: { status: 400, title: 'The request is malformed' },
  QUERY_TOO_COMPLEX: { status: 400, title: 'The request asks for too much' },
  UNAUTHENTICATED: {
    status: 401,
    title: 'An access token is required',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  FORBIDDEN: { status: 403, title: 'The access token lacks a scope' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'A request with this key is in progress',
    headers: { 'Retry-After': '1' },
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The key was used for another request' },
  CURSOR_EXPIRED: { status: 410, title: 'Events after the cursor are no longer kept' },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  OVERLOADED: {
    status: 503,
    title: 'The service is overloaded',
    headers: { 'Retry-After': '1' },
  },
  INTERNAL_SERVER_ERROR: { status: 500, title: 'Internal error' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    title: 'The database cannot be reached',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
} as const satisfies Record<string, Failure>;

/** The refusals of an operation: members of the result union in GraphQL, HTTP statuses in REST. */
const refusals = {
  NOT_ALLOWED: { status: 403, title: 'A rule forbids it' },
  NOT_FOUND: { status: 404, title: 'Nothing was found' },
  CONFLICT: { status: 409, title: 'Another record has this value' },
  VERSION_CONFLICT: { status: 412, title: 'The record has another version' },
  INVALID_INPUT: { status: 422, title: 'The input breaks rules of its fields' },
} as const satisfies Record<string, Failure>;

/** Failures of REST routes only: GraphQL has one path, one writing method, and its own rules for media types. */
const routeFailures = {
  UNKNOWN_ROUTE: { status: 404, title: 'There is no such route' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The route does not take this method' },
  URI_TOO_LONG: { status: 414, title: 'The address is too long' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body is not JSON' },
} as const satisfies Record<string, Failure>;

/** The `extensions.code` of a top-level error in GraphQL: a failure that no form can fix. */
export type RequestErrorCode = keyof typeof requestFailures;

/** A code that any transport can answer with. */
export type FailureCode = RequestErrorCode | keyof typeof refusals | keyof typeof routeFailures;

/** Every code with its HTTP status, title and headers, for all transports. */
export const failures: Readonly<Record<FailureCode, Failure>> = {
  ...requestFailures,
  ...refusals,
  ...routeFailures,
};

/** Whether a code belongs to a top-level error in GraphQL. */
export const isRequestErrorCode = (code: unknown): code is RequestErrorCode =>
  typeof code === 'string' && Object.hasOwn(requestFailures, code);

/** The code of a top-level error that came without one of these: GraphQL sets none, and libraries have their own. */
export const codeOfUncoded: RequestErrorCode = 'BAD_USER_INPUT';

/** Whether a transport can answer with this code. */
export const isFailureCode = (code: unknown): code is FailureCode =>
  typeof code === 'string' && Object.hasOwn(failures, code);
