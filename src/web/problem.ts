import { secondsUntil } from '../clock.ts';
import {
  ConflictError,
  type InputIssue,
  InvalidInputError,
  LockedError,
  NotAllowedError,
  PasswordRejectedError,
  RateLimitedError,
  VerificationFailedError,
} from '../errors.ts';
import { retryAfterSeconds } from '../failures.ts';
import { HashingBusy } from '../users/hash-queue.ts';
import type { SharedTexts } from './texts.ts';
import type { Visit } from './visit.ts';

/** A problem with a submitted form, as its page shows it. */
export interface Problem {
  readonly status: number;
  readonly text: string;
  /** The time to wait, in seconds. */
  readonly retryAfter?: number;
  /** The faults of each field. */
  readonly faults?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Finds the problem that a page shows for a failure.
 *
 * @param wrong The text for a failed verification on this page.
 * @returns Undefined for a failure that the person can do nothing about.
 */
export function problemOf(
  { texts: t, context, settings }: Visit,
  failure: unknown,
  wrong: string,
): Problem | undefined {
  if (failure instanceof VerificationFailedError) return { status: 422, text: wrong };
  if (failure instanceof LockedError) {
    const retryAfter = secondsUntil(context.clock, failure.lockedUntil);
    return { status: 429, retryAfter, text: t.problem.LOCKED(Math.ceil(retryAfter / 60)) };
  }
  if (failure instanceof RateLimitedError) {
    const { retryAfterSeconds: retryAfter } = failure;
    return { status: 429, retryAfter, text: t.problem.WAIT(retryAfter) };
  }
  if (failure instanceof HashingBusy)
    return { status: 429, retryAfter: retryAfterSeconds, text: t.problem.BUSY };
  const faults = faultsOf(t, failure, settings.passwordPolicy.minLength);
  if (faults) return { status: 422, text: t.problem.CHECK, faults };
  if (failure instanceof NotAllowedError) return { status: 422, text: t.problem.NOT_OFFERED };
  return undefined;
}

function faultsOf(t: SharedTexts, failure: unknown, minLength: number): Problem['faults'] {
  if (failure instanceof PasswordRejectedError) {
    const password = failure.reasons.map(({ code, message }) => {
      const text = t.rejected[code];
      return typeof text === 'function' ? text(minLength) : (text ?? message);
    });
    return { password };
  }
  if (failure instanceof ConflictError) return { [fieldOf(failure.path)]: [t.problem.TAKEN] };
  if (failure instanceof InvalidInputError) {
    return Object.fromEntries(
      failure.issues.map((issue) => [fieldOf(issue.path), [faultText(t, issue)]]),
    );
  }
  return undefined;
}

const fieldOf = (path: readonly (string | number)[]): string => String(path[0] ?? '');

function faultText(t: SharedTexts, { path, code }: InputIssue): string {
  // An address of the right format that is refused is one that the sender cannot send to.
  const email = code === 'INVALID_VALUE' ? t.unsendableEmail : t.invalidEmail;
  const texts = { email, phone: t.invalidPhone, username: t.usernameHint };
  return texts[fieldOf(path) as keyof typeof texts] ?? t.problem.CHECK;
}
