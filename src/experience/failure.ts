import { LockedError, VerificationFailedError } from '../errors.ts';
import { noteFailure } from '../protection/addresses.ts';
import { type Attempt, failAttempt, type Guess } from '../protection/attempts.ts';
import type { VisitContext } from '../services.ts';

/**
 * The answer to a failed guess. The guess counts against the identifier and the client's address; the last one locks
 * the identifier.
 */
export async function failureOf(
  context: VisitContext,
  guess: Guess,
  attempt: Attempt,
): Promise<LockedError | VerificationFailedError> {
  await noteFailure(context, context.visitor.ip);
  const lockedUntil = await failAttempt(context, guess, attempt);
  return lockedUntil ? new LockedError(lockedUntil) : new VerificationFailedError();
}
