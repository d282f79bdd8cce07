/** The codes of expected failures, as `ErrorCode` in GraphQL. */
export const errorCodes = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'NOT_ALLOWED',
  'VERSION_CONFLICT',
  'VERIFICATION_FAILED',
  'LOCKED',
  'RATE_LIMITED',
  'PASSWORD_REJECTED',
  'INTERACTION_EXPIRED',
  'VERIFICATION_REQUIRED',
] as const;

/** A code of an expected failure. */
export type ErrorCode = (typeof errorCodes)[number];

/** The request was understood and declined: nothing was written and no event was recorded. */
export abstract class Refusal extends Error {
  abstract readonly code: ErrorCode;
}

/** The kinds of input faults, and their meanings. */
export const inputIssueCodes = {
  REQUIRED: 'A value is missing.',
  NOT_NULLABLE: 'The field always has a value. It can be absent, but not null.',
  INVALID_TYPE: 'It is a value of another type.',
  INVALID_FORMAT: 'The value has the wrong format, or contains characters that are not allowed.',
  INVALID_VALUE: 'The field does not accept this value; the message says why.',
  TOO_SHORT: 'It has fewer characters or entries than it must have.',
  TOO_LONG: 'It has more characters, entries or bytes than it may have.',
  TOO_SMALL: 'The number is below the minimum.',
  TOO_LARGE: 'The number is above the maximum.',
  TOO_DEEP: 'It has more levels of objects and lists than it may have.',
  NOT_UNIQUE: 'The value occurs twice.',
  UNKNOWN_FIELD: 'There is no such field.',
} as const;

/** A kind of input fault. */
export type InputIssueCode = keyof typeof inputIssueCodes;

/** One fault of an input: its path from the root of the input, and a message. */
export interface InputIssue {
  readonly path: readonly string[];
  readonly message: string;
  /** Absent: INVALID_VALUE. */
  readonly code?: InputIssueCode;
}

/** The input breaks a rule of its fields; the error carries every fault. */
export class InvalidInputError extends Refusal {
  override readonly name = 'InvalidInputError';
  readonly code = 'INVALID_INPUT';
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[]) {
    super(issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
    this.issues = issues;
  }
}

/** Nothing has that id. */
export class NotFoundError extends Refusal {
  override readonly name = 'NotFoundError';
  readonly code = 'NOT_FOUND';
  readonly id: string;

  constructor(id: string) {
    super(`Nothing was found under the id ${id}.`);
    this.id = id;
  }
}

/** Another record already has this value in a unique field. */
export class ConflictError extends Refusal {
  override readonly name = 'ConflictError';
  readonly code = 'CONFLICT';
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

/** A rule forbids this, or the caller's rights do not allow it. */
export class NotAllowedError extends Refusal {
  override readonly name = 'NotAllowedError';
  readonly code = 'NOT_ALLOWED';
}

/** The record has another version than the caller expects: somebody has changed it. */
export class VersionConflictError extends Refusal {
  override readonly name = 'VersionConflictError';
  readonly code = 'VERSION_CONFLICT';
  readonly currentVersion: number;

  constructor(currentVersion: number) {
    super(`The record has been changed: its version is ${currentVersion}.`);
    this.currentVersion = currentVersion;
  }
}

/** The configuration is another than the caller expects: somebody has changed it. */
export class ConfigurationMovedError extends Refusal {
  override readonly name = 'ConfigurationMovedError';
  readonly code = 'VERSION_CONFLICT';
  readonly currentDigest: string;

  constructor(currentDigest: string) {
    super('The configuration has been changed meanwhile. Plan again.');
    this.currentDigest = currentDigest;
  }
}

/** The proof of identity is wrong, expired, used up or nobody's. The answer is the same for all. */
export class VerificationFailedError extends Refusal {
  override readonly name = 'VerificationFailedError';
  readonly code = 'VERIFICATION_FAILED';

  constructor() {
    super('This is wrong, expired or already used, or the account cannot be used.');
  }
}

/** Too many failures in a row: for a while nothing is checked, not even a right password. */
export class LockedError extends Refusal {
  override readonly name = 'LockedError';
  readonly code = 'LOCKED';
  readonly lockedUntil: Date;

  constructor(lockedUntil: Date) {
    super('Too many failed attempts. Try again later.');
    this.lockedUntil = lockedUntil;
  }
}

/** Too many requests in a short time. */
export class RateLimitedError extends Refusal {
  override readonly name = 'RateLimitedError';
  readonly code = 'RATE_LIMITED';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`Too many requests. Try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * What the check of a proof can come to. No wait is set before a lock today; a client that handles one has to pass the
 * schema all the same, and keeps working where one is set.
 */
export const checkRefusals = [VerificationFailedError, LockedError, RateLimitedError] as const;

/** Why a password is not good enough. */
export interface PasswordFault {
  readonly code: string;
  readonly message: string;
}

/** A password is not good enough; the error carries every reason. */
export class PasswordRejectedError extends Refusal {
  override readonly name = 'PasswordRejectedError';
  readonly code = 'PASSWORD_REJECTED';
  readonly reasons: readonly PasswordFault[];

  constructor(reasons: readonly PasswordFault[]) {
    super(reasons.map(({ message }) => message).join(' '));
    this.reasons = reasons;
  }
}

/** The interaction is over: it expired, or it was finished. */
export class InteractionExpiredError extends Refusal {
  override readonly name = 'InteractionExpiredError';
  readonly code = 'INTERACTION_EXPIRED';
  /** Where a browser can begin again; null where the application has to begin. */
  readonly restartUrl: string | null;

  constructor(restartUrl: string | null = null) {
    super('This took too long or is already finished. Start again.');
    this.restartUrl = restartUrl;
  }
}

/** The ways in which a signed-in person can prove again who they are. */
export const verificationMethods = {
  PASSWORD: 'The password.',
  EMAIL_CODE: 'A code sent to the e-mail address of the account.',
  PHONE_CODE: 'A code sent to the telephone number of the account.',
  TOTP: 'A code of an authenticator app.',
  PASSKEY: 'A passkey.',
  BACKUP_CODE: 'A backup code.',
  IDENTITY_PROVIDER:
    'A new sign-in at an identity provider, by `verifyViewerSignIn`; for people who have no other way.',
} as const;

/** A way in which a signed-in person can prove again who they are. */
export type VerificationMethod = keyof typeof verificationMethods;

/** The person has not proved who they are in this session lately. The sign-in itself does not count. */
export class VerificationRequiredError extends Refusal {
  override readonly name = 'VerificationRequiredError';
  readonly code = 'VERIFICATION_REQUIRED';
  readonly methods: readonly VerificationMethod[];

  constructor(methods: readonly VerificationMethod[]) {
    super('Confirm that it is you first. A confirmation lasts for ten minutes.');
    this.methods = methods;
  }
}

/** The service cannot start; one line tells the person who started it why. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
