import { vi } from 'vitest';
import { patienceMs } from './peers/patience.ts';

/**
 * Waits until a check no longer throws, and returns what it returned.
 *
 * @param interval The time between two checks in milliseconds; more where each check writes something.
 */
export const eventually = <Result>(
  check: () => Result | Promise<Result>,
  interval = 20,
): Promise<Result> => vi.waitFor(check, { timeout: patienceMs, interval });
