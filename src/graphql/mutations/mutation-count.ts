import { Counter, type Registry } from 'prom-client';
import { Refusal } from '../../errors.ts';

const name = 'signet_mutations_total';

const counterOf = (metrics: Registry): Counter<'outcome'> =>
  (metrics.getSingleMetric(name) as Counter<'outcome'> | undefined) ??
  new Counter({
    name,
    help: 'Mutations of the management API by outcome: "done", "refused" or "failed".',
    labelNames: ['outcome'],
    registers: [metrics],
  });

/** Runs a mutation, and counts what it came to. */
export async function counted<T>(metrics: Registry, run: () => T | Promise<T>): Promise<T> {
  const counter = counterOf(metrics);
  try {
    const result = await run();
    counter.inc({ outcome: 'done' });
    return result;
  } catch (error) {
    counter.inc({ outcome: error instanceof Refusal ? 'refused' : 'failed' });
    throw error;
  }
}
