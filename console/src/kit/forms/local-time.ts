/** A time as the value of a date-time field: local, to the minute. */
export function inLocalTime(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
