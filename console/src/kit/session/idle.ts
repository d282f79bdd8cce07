/** After this time, requests that a page makes by itself no longer extend the session. */
const idleAfterMs = 60_000;

let lastActivityAt = Date.now();

/** Notes activity in this tab. */
export const noteActivity = (): void => {
  lastActivityAt = Date.now();
};

/** Whether there was no activity in this tab for a minute. */
export const isIdle = (): boolean => Date.now() - lastActivityAt > idleAfterMs;
