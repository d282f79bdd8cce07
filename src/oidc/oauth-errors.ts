/**
 * What the token endpoint answers where it declines (RFC 6749 §5.2, RFC 8693 §2.2.2). The message is the
 * `error_description`: text for the developer of the client, in the characters that §5.2 allows, which names no
 * user and quotes no parameter.
 */
export abstract class OAuthError extends Error {
  /** The `error` of the response. */
  abstract readonly code: string;
  readonly status: number = 400;
}

/** A parameter is missing, repeated or malformed, or the subject token is not one to accept. */
export class InvalidRequest extends OAuthError {
  override readonly name = 'InvalidRequest';
  readonly code = 'invalid_request';
}

/** The body is larger than the endpoint reads. */
export class RequestTooLarge extends OAuthError {
  override readonly name = 'RequestTooLarge';
  readonly code = 'invalid_request';
  override readonly status = 413;

  constructor() {
    super('the body is too large');
  }
}

/** The client did not prove who it is. One answer for all causes, so that none can be told from another. */
export class InvalidClient extends OAuthError {
  override readonly name = 'InvalidClient';
  readonly code = 'invalid_client';
  override readonly status = 401;

  constructor() {
    super('client authentication failed');
  }
}

/** The client is known and may not use this grant. */
export class UnauthorizedClient extends OAuthError {
  override readonly name = 'UnauthorizedClient';
  readonly code = 'unauthorized_client';
}

/** No such `grant_type` here. */
export class UnsupportedGrantType extends OAuthError {
  override readonly name = 'UnsupportedGrantType';
  readonly code = 'unsupported_grant_type';

  constructor() {
    super('grant_type is not supported');
  }
}

/** The resource is unknown, malformed or not one to issue a token for here (RFC 8707 §2). */
export class InvalidTarget extends OAuthError {
  override readonly name = 'InvalidTarget';
  readonly code = 'invalid_target';
}

/** `scope` breaks the grammar of RFC 6749 §3.3. */
export class InvalidScope extends OAuthError {
  override readonly name = 'InvalidScope';
  readonly code = 'invalid_scope';

  constructor() {
    super('scope must be a list of scope names separated by single spaces');
  }
}

/** Something broke inside; the log has the rest under the request's id. */
export class ServerError extends OAuthError {
  override readonly name = 'ServerError';
  readonly code = 'server_error';
  override readonly status = 500;

  constructor(cause: unknown) {
    super('the request could not be completed', { cause });
  }
}
