import { parseRetryAfter } from '../outbound/retry-after.ts';

const leastMs = 2_000;
const mostMs = 15 * 60 * 1_000;
// A share of the message's age: retries come quickly while somebody waits for a code, and slow down later.
const share = 0.25;
const jitter = 0.1;

/**
 * When to try a message again; null if it would have expired by then.
 *
 * @param retryAfter The earliest time that the other side asks for (RFC 9110 §10.2.3).
 */
export function nextAttempt(
  now: Date,
  { createdAt, expiresAt }: { readonly createdAt: Date; readonly expiresAt: Date },
  retryAfter: string | undefined,
): Date | null {
  const age = now.getTime() - createdAt.getTime();
  const spaced = Math.min(Math.max(age * share, leastMs), mostMs) * (1 + Math.random() * jitter);
  const wait = Math.ceil(Math.max(spaced, parseRetryAfter(now, retryAfter)));
  const next = new Date(now.getTime() + wait);
  return next < expiresAt ? next : null;
}
