import timers from 'node:timers';
import { patienceMs } from './peers/patience.ts';

// Runs outside of a test too: nothing here comes from vitest. No test stops these timers.
const { clearTimeout: stopTimer } = timers;
// Among the types of a page, as the console has them, it would return a number.
const startTimer = timers.setTimeout as unknown as (
  act: () => void,
  milliseconds: number,
) => NodeJS.Timeout;

/**
 * Waits until a check no longer throws, and returns what it returned.
 *
 * @param interval The time between two checks in milliseconds; more where each check writes something.
 * @throws what the check threw last, as the cause, if it never ends well.
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  interval = 20,
): Promise<Result> {
  const late = Promise.withResolvers<undefined>();
  const net = startTimer(() => late.resolve(undefined), patienceMs).unref();
  let isLate = false;
  let seen: unknown = new Error('the first check did not end');
  const repeat = async () => {
    while (!isLate) {
      try {
        return { result: await check() };
      } catch (error) {
        seen = error;
      }
      await lateBy(interval);
    }
    return undefined;
  };
  try {
    const found = await Promise.race([repeat(), late.promise]);
    if (found) return found.result;
  } finally {
    isLate = true;
    stopTimer(net);
  }
  const last = seen instanceof Error ? seen.message : String(seen);
  throw new Error(`Not within ${patienceMs / 1000} s. Last: ${last}`, { cause: seen });
}

/** Lets a peer or a client take its time where slowness is what is tried. What has to come is waited for above. */
export const lateBy = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void startTimer(() => resolve(), milliseconds));
