/** The source of every instant, so that a test can stop or move time. */
export interface Clock {
  /** The current instant. */
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * The machine's clock at the start of the process, and the time that has passed since. A step of the machine's clock
 * does not move it.
 */
export const steadyClock: Clock = {
  now: () => new Date(performance.timeOrigin + performance.now()),
};

/** Seconds since the epoch, rounded down: a NumericDate (RFC 7519 §2). */
export const toNumericDate = (instant: Date): number => Math.floor(instant.getTime() / 1000);

/** The number of seconds until an instant, at least one, for `Retry-After` (RFC 9110 §10.2.3). */
export const secondsUntil = (clock: Clock, instant: Date): number =>
  Math.max(Math.ceil((instant.getTime() - clock.now().getTime()) / 1000), 1);
