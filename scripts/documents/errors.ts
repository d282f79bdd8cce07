import { errorCodes } from '../../src/errors.ts';
import { type FailureCode, failures, isRequestErrorCode } from '../../src/failures.ts';
import * as oauthErrors from '../../src/oidc/token/oauth-errors.ts';
import { code, table } from './markdown.ts';

// The compiler refuses a missing code.
const meanings: Readonly<Record<FailureCode, string>> = {
  UNAUTHENTICATED:
    'The access token is missing or refused: it is forged, expired, revoked, or for another resource. Get a new one.',
  FORBIDDEN: 'The token lacks the scope that `requiredScope` names.',
  RATE_LIMITED: 'Too many requests at once. Try again later, after `Retry-After` if it is given.',
  GRAPHQL_PARSE_FAILED:
    'The document is not GraphQL, or longer than the [limits](limits.md) allow.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  BAD_USER_INPUT: 'A variable, an argument, an id or a cursor is malformed.',
  QUERY_TOO_COMPLEX: 'The document costs too much. Ask for fewer records or fewer levels.',
  CURSOR_EXPIRED:
    'The cursor is older than the event log. Read the records again, then follow the log from its end.',
  SERVICE_UNAVAILABLE:
    'The database cannot be reached; try again after `Retry-After` seconds. If it went away during a mutation, that may have been done or not: read before you repeat it.',
  INTERNAL_SERVER_ERROR: 'Something failed inside. The log has the details under `requestId`.',
  INVALID_INPUT:
    'Fields break their rules. `issues` lists all faults, each with `path` and `message`.',
  NOT_FOUND: 'There is no record with this `id`.',
  CONFLICT: 'Another record already has this value in the unique field at `path`.',
  NOT_ALLOWED: 'A rule forbids it; for example, nobody can give rights that they do not hold.',
  UNKNOWN_ROUTE: 'There is no such path.',
  METHOD_NOT_ALLOWED: 'The path does not accept this method; `Allow` lists the accepted ones.',
  PAYLOAD_TOO_LARGE: 'The body is larger than the [limits](limits.md) allow.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json`.',
};

/** The codes of GraphQL and of REST. */
export function apiErrors(): string {
  const isRefusal = (name: string) => (errorCodes as readonly string[]).includes(name);
  const place = (name: string) =>
    isRefusal(name) ? 'in the result union' : isRequestErrorCode(name) ? 'top-level' : '';
  return table(
    ['code', 'in GraphQL', 'REST status', 'meaning'],
    Object.entries(failures).map(([name, { status }]) => [
      code(name),
      place(name),
      String(status),
      meanings[name as FailureCode],
    ]),
  );
}

const tokenErrors: Readonly<Record<Exclude<keyof typeof oauthErrors, 'OAuthError'>, string>> = {
  InvalidRequest:
    'The body is not form-encoded, a parameter is missing or repeated, two methods of authentication are used at once, or the subject token is not accepted. The description names the class of fault, never the user.',
  RequestTooLarge: 'The body is larger than 64 KiB.',
  InvalidClient: 'The client is unknown, or its secret is wrong or expired: one answer for all.',
  UnauthorizedClient:
    'The application may not use this grant: token exchange is off, or its type does not allow it.',
  UnsupportedGrantType: 'There is no such `grant_type`.',
  InvalidTarget:
    'The resource is unknown, malformed, repeated or not one that the application may exchange for; or the user is not a member of `organization_id`; or `audience` is not the resource’s indicator.',
  InvalidScope: '`scope` is not a list of names separated by single spaces.',
  ServerError: 'Something failed inside; the log has the details.',
  TooManyFailures:
    'Too many requests from this address have failed; try again after `Retry-After` seconds.',
  TemporarilyUnavailable: 'The database cannot be reached; try again after `Retry-After` seconds.',
};

const otherTokenErrors = [
  [
    code('invalid_grant'),
    '400',
    'A code or a refresh token is unknown, expired, used before, or of another client.',
  ],
];

/** The errors of the token endpoint. */
export function oauthErrorTable(): string {
  const rows = Object.entries(oauthErrors).flatMap(([name, Fault]) => {
    const meaning = tokenErrors[name as keyof typeof tokenErrors];
    // The base class of the others has none.
    if (!meaning) return [];
    const { code: error, status } = new (Fault as new (text: string) => oauthErrors.OAuthError)('');
    return [[code(error), String(status), meaning]];
  });
  const known = new Set(rows.map(([name]) => name));
  return table(
    ['error', 'status', 'meaning'],
    [...rows, ...otherTokenErrors.filter(([name]) => !known.has(name))],
  );
}
