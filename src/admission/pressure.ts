import { performance } from 'node:perf_hooks';
import type { Database } from '../db/database.ts';
import type { Pressure } from './turns.ts';

/** The share of the time in which a thread that could do more is busy at most. */
const busy = 0.9;

/** Measures the pressure on this thread: how long the event loop was idle, and whether work waits for a connection. */
export function measurePressure({ isBacklogged }: Pick<Database, 'isBacklogged'>): Pressure {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    hasSlack() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      // More that waits for a connection would do nothing sooner.
      return utilization < busy && !isBacklogged();
    },
  };
}
