import { parseRetryAfter } from '../../outbound/retry-after.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The delays after the failed attempts, in milliseconds. After the last delay there is one more attempt. */
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

/** A webhook is disabled after this many milliseconds of failed attempts only. */
export const failureLimitMs = 5 * day;

/** After this many milliseconds without any attempt, earlier failures no longer count. */
export const failureGapMs = 2 * day;

const jitter = 0.1;

/**
 * The time of the next attempt, or null if no attempts are left.
 *
 * @param failed The number of failed attempts, including this one.
 * @param retryAfter The response's `Retry-After` (RFC 9110 §10.2.3). The next attempt waits for it, but at most the
 * five days after which the webhook would be disabled.
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
