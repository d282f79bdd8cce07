/** The milliseconds that a `Retry-After` asks for, in seconds or as an HTTP date; 0 if it is absent or unreadable. */
export function parseRetryAfter(now: Date, value: string | undefined): number {
  if (value === undefined) return 0;
  const wait = /^\d+$/.test(value.trim())
    ? Number(value) * 1000
    : Date.parse(value) - now.getTime();
  return Number.isNaN(wait) ? 0 : Math.max(wait, 0);
}
