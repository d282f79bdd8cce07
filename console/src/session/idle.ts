/** What a page asks by itself after that, such as new figures, does not keep a session from ending. */
const idleAfterMs = 60_000;

let lastSignAt = Date.now();

/** Notes that somebody did something in this tab. */
export const noteSign = (): void => {
  lastSignAt = Date.now();
};

/** Whether nobody has done anything in this tab for a minute. */
export const isIdle = (): boolean => Date.now() - lastSignAt > idleAfterMs;
