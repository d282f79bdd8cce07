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
  IDEMPOTENCY_KEY_IN_USE:
    'Another request with this `Idempotency-Key` has been under way for five seconds. Try again, with the same key.',
  IDEMPOTENCY_KEY_REUSED:
    'This `Idempotency-Key` was used for another mutation, or with other arguments. Nothing was written.',
  CURSOR_EXPIRED:
    'The cursor is older than the event log. Read the records again, then follow the log from its end.',
  SERVICE_UNAVAILABLE:
    'The database cannot be reached; try again after `Retry-After` seconds. If it went away during a mutation, that may have been done or not: repeat it with the same [`Idempotency-Key`](safe-writes.md).',
  OVERLOADED:
    'The request waited for its turn for too long (`MAX_QUEUE_MS`). Nothing of it was done: try again after `Retry-After` seconds.',
  INTERNAL_SERVER_ERROR: 'Something failed inside. The log has the details under `requestId`.',
  INVALID_INPUT:
    'Fields break their rules. `issues` lists all faults, each with `path` and `message`.',
  NOT_FOUND: 'There is no record with this `id`.',
  CONFLICT: 'Another record already has this value in the unique field at `path`.',
  NOT_ALLOWED: 'A rule forbids it; for example, nobody can give rights that they do not hold.',
  VERSION_CONFLICT:
    'The record has another version than `expectedVersion` or `If-Match` says: somebody has changed it. `currentVersion` is its version. Read it again, and decide.',
  UNKNOWN_ROUTE: 'There is no such path.',
  METHOD_NOT_ALLOWED: 'The path does not accept this method; `Allow` lists the accepted ones.',
  URI_TOO_LONG: 'A part of the path, such as an id, is too long.',
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
  MethodNotAllowed: 'The path takes POST; `Allow` says so.',
  RequestTooLarge: 'The body is larger than 64 KiB.',
  InvalidClient:
    'The client is unknown, or its secret or its assertion is wrong, expired or used before: one answer for all.',
  InvalidDpopProof:
    'The proof of possession (DPoP) is missing, wrong, too old or was used before; with `use_dpop_nonce`, it needs the nonce of the header `DPoP-Nonce`.',
  UnauthorizedClient:
    'The application may not use this grant: token exchange or the device grant is off, or its type or its lack of redirect URIs does not allow it.',
  InvalidGrant:
    'The assertion is not accepted: it is malformed, forged, expired, for another audience, used before, or not of an issuer that is trusted for the application. Codes and refresh tokens have the same answer.',
  UnsupportedGrantType: 'There is no such `grant_type`.',
  InvalidTarget:
    'The resource is unknown, malformed, repeated or not one that the application may exchange for; or the user is not a member of `organization_id`; or `audience` is not the resource’s indicator.',
  InvalidScope: '`scope` is not a list of names separated by single spaces.',
  ServerError: 'Something failed inside; the log has the details.',
  TooManyFailures:
    'Too many requests from this address have failed; try again after `Retry-After` seconds.',
  TooBusy:
    'The service has too much to do, and nothing of the request was done; try again after `Retry-After` seconds.',
  TemporarilyUnavailable: 'The database cannot be reached; try again after `Retry-After` seconds.',
};

const otherTokenErrors = [
  [
    code('invalid_grant'),
    '400',
    'A code or a refresh token is unknown, expired, used before, or of another client.',
  ],
  [
    code('authorization_pending'),
    '400',
    'The person has not confirmed the code of the device yet; poll again.',
  ],
  [
    code('slow_down'),
    '400',
    'The same, but the device polls too soon; wait 5 seconds more from now on.',
  ],
  [code('access_denied'), '400', 'The person declined to sign the device in.'],
  [code('expired_token'), '400', 'The code of the device has expired; ask for a new one.'],
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
