/** The codes of expected failures, as `ErrorCode` in GraphQL. */
export const errorCodes = ['INVALID_INPUT', 'NOT_FOUND', 'CONFLICT', 'NOT_ALLOWED'] as const;

/** A code of an expected failure. */
export type ErrorCode = (typeof errorCodes)[number];

/** A request that was understood and declined: nothing was written and nothing was raised. */
export abstract class Refusal extends Error {
  abstract readonly code: ErrorCode;
}

/** One fault of an input: where it is, from the input's own root, and what is wrong there. */
export interface InputIssue {
  readonly path: readonly string[];
  readonly message: string;
}

/** The input breaks a rule of its fields; it carries every fault at once. */
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

/** Another record has the value of a unique field already. */
export class ConflictError extends Refusal {
  override readonly name = 'ConflictError';
  readonly code = 'CONFLICT';
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

/** A rule forbids it, whatever the caller's rights. */
export class NotAllowedError extends Refusal {
  override readonly name = 'NotAllowedError';
  readonly code = 'NOT_ALLOWED';
}

/** The service cannot start: one line says why, for the person who started it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
