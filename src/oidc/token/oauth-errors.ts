/**
 * A refusal of the token endpoint (RFC 6749 §5.2, RFC 8693 §2.2.2). The message is the `error_description`: text for
 * the developer of the client, in the characters that §5.2 allows. It names no user and quotes no parameter.
 */
export abstract class OAuthError extends Error {
  /** The `error` of the response. */
  abstract readonly code: string;
  readonly status: number = 400;
}

/** A parameter is missing, repeated or malformed, or the subject token cannot be accepted. */
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

/** Another method than POST, of an endpoint that takes forms. */
export class MethodNotAllowed extends OAuthError {
  override readonly name = 'MethodNotAllowed';
  readonly code = 'invalid_request';
  override readonly status = 405;

  constructor() {
    super('this path takes POST');
  }
}

/** The client did not authenticate. All causes have the same answer, so that a client cannot distinguish them. */
export class InvalidClient extends OAuthError {
  override readonly name = 'InvalidClient';
  readonly code = 'invalid_client';
  override readonly status = 401;

  constructor() {
    super('client authentication failed');
  }
}

/** The proof of possession is missing, wrong, or lacks a nonce (RFC 9449 §5, §8). */
export class InvalidDpopProof extends OAuthError {
  override readonly name = 'InvalidDpopProof';
  readonly code: 'invalid_dpop_proof' | 'use_dpop_nonce';
  /** The nonce for the next proof; absent if none is needed. */
  readonly nonce: string | undefined;

  constructor(message: string, nonce?: string) {
    super(message);
    this.code = nonce === undefined ? 'invalid_dpop_proof' : 'use_dpop_nonce';
    this.nonce = nonce;
  }
}

/** The client is known but may not use this grant. */
export class UnauthorizedClient extends OAuthError {
  override readonly name = 'UnauthorizedClient';
  readonly code = 'unauthorized_client';
}

/** The assertion cannot be accepted (RFC 6749 §5.2, RFC 7523 §3.1). */
export class InvalidGrant extends OAuthError {
  override readonly name = 'InvalidGrant';
  readonly code = 'invalid_grant';
}

/** The endpoint does not know this `grant_type`. */
export class UnsupportedGrantType extends OAuthError {
  override readonly name = 'UnsupportedGrantType';
  readonly code = 'unsupported_grant_type';

  constructor() {
    super('grant_type is not supported');
  }
}

/** The resource is unknown or malformed, or no token can be issued for it here (RFC 8707 §2). */
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

/** Too many requests from the client's address failed. RFC 6749 has no code for it; the status tells. */
export class TooManyFailures extends OAuthError {
  override readonly name = 'TooManyFailures';
  readonly code = 'temporarily_unavailable';
  override readonly status = 429;
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('too many requests from this address have failed');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The database cannot be reached: the same request may succeed a little later. */
export class TemporarilyUnavailable extends OAuthError {
  override readonly name = 'TemporarilyUnavailable';
  readonly code = 'temporarily_unavailable';
  override readonly status = 503;

  constructor(cause: unknown) {
    super('the service cannot answer now; try again soon', { cause });
  }
}

/** The service has more to do than it can: the same request may succeed a little later. */
export class TooBusy extends OAuthError {
  override readonly name = 'TooBusy';
  readonly code = 'temporarily_unavailable';
  override readonly status = 503;

  constructor() {
    super('the service is overloaded; try again soon');
  }
}

/** A fault; the log has the details under the request's id. */
export class ServerError extends OAuthError {
  override readonly name = 'ServerError';
  readonly code = 'server_error';
  override readonly status = 500;

  constructor(cause: unknown) {
    super('the request could not be completed', { cause });
  }
}
