import { parseRetryAfter } from '../../outbound/retry-after.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long after each failed attempt the next one follows, in milliseconds; after the last there is none. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** After so many milliseconds without a success among its attempts a webhook is switched off. */
export const failureLimitMs = 5 * day;

/** So many milliseconds without any attempt, and what failed before says nothing about the endpoint any more. */
export const failureGapMs = 2 * day;

const jitter = 0.1;

/**
 * When to try again, or null where all attempts are used up.
 *
 * @param failed How many attempts have failed, this one included.
 * @param retryAfter The answer's `Retry-After` (RFC 9110 §10.2.3): no sooner than that, but within the five
 * days after which the webhook would be off.
 */
export function nextAttempt(
  now: Date,
  failed: number,
  retryAfter: string | undefined,
): Date | null {
  const delay = retryDelaysMs[failed - 1];
  if (delay === undefined) return null;
  const scheduled = delay * (1 + Math.random() * jitter);
  const asked = Math.min(parseRetryAfter(now, retryAfter), failureLimitMs);
  return new Date(now.getTime() + Math.ceil(Math.max(scheduled, asked)));
}
