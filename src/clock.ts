/** Where every instant comes from, so that a test can hold or move it. */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/** Seconds since the epoch, rounded down: a NumericDate (RFC 7519 §2). */
export const toNumericDate = (instant: Date): number => Math.floor(instant.getTime() / 1000);
