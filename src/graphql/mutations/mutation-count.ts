import type { Registry } from 'prom-client';
import { isRehearsal } from '../../db/around.ts';
import { Refusal } from '../../errors.ts';
import { counterOf } from '../../metrics/metrics.ts';

/** Runs a mutation, and counts its result. A dry run does not count. */
export async function counted<T>(metrics: Registry, run: () => T | Promise<T>): Promise<T> {
  if (isRehearsal()) return run();
  const counter = counterOf(metrics, 'signet_mutations_total');
  try {
    const result = await run();
    counter.inc({ outcome: 'done' });
    return result;
  } catch (error) {
    counter.inc({ outcome: error instanceof Refusal ? 'refused' : 'failed' });
    throw error;
  }
}
