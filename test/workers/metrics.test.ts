import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { type Measured, WorkerMetrics } from '../../src/workers/metrics.ts';

function startWorker(all: WorkerMetrics) {
  const metrics = new Registry();
  const registers = [metrics];
  const worker: Measured = {
    ask(id) {
      void metrics.getMetricsAsJSON().then((told) => all.told(worker, id, told));
    },
  };
  all.add(worker);
  return {
    worker,
    count: new Counter({ name: 'count', help: 'c', labelNames: ['kind'], registers }),
    open: new Gauge({ name: 'open', help: 'g', registers }),
    lag: new Gauge({ name: 'lag', help: 'l', aggregator: 'max', registers }),
    took: new Histogram({ name: 'took', help: 'h', buckets: [1, 2], registers }),
  };
}

const start = () => new WorkerMetrics(() => ({ ready: 2, starting: 0 }));

test('are those of all workers together', async () => {
  const all = start();
  const [a, b] = [startWorker(all), startWorker(all)];
  a.count.inc({ kind: 'x' }, 2);
  b.count.inc({ kind: 'x' }, 3);
  b.count.inc({ kind: 'y' });
  a.open.set(4);
  b.open.set(5);
  a.lag.set(1);
  b.lag.set(7);
  a.took.observe(0.5);
  b.took.observe(1.5);
  const text = await all.read();
  expect(text).toContain('count{kind="x"} 5\n');
  expect(text).toContain('count{kind="y"} 1\n');
  expect(text).toContain('open 9\n');
  expect(text).toContain('lag 7\n');
  expect(text).toContain('took_bucket{le="1"} 1\n');
  expect(text).toContain('took_bucket{le="2"} 2\n');
  expect(text).toContain('signet_workers{state="ready"} 2\n');
});

test('counters do not go back when workers die, gauges do', async () => {
  const all = start();
  const staying = startWorker(all);
  staying.count.inc({ kind: 'x' });
  for (let deaths = 1; deaths <= 3; deaths += 1) {
    const dying = startWorker(all);
    dying.count.inc({ kind: 'x' }, 10);
    dying.took.observe(0.5);
    dying.open.set(6);
    expect(await all.read()).toContain(`count{kind="x"} ${10 * deaths + 1}\n`);
    all.remove(dying.worker);
    const after = await all.read();
    expect(after).toContain(`count{kind="x"} ${10 * deaths + 1}\n`);
    expect(after).toContain(`took_count ${deaths}\n`);
    expect(after).toContain('open 0\n');
  }
});

test('a worker that dies while it is asked holds up nobody', async () => {
  const all = start();
  const silent: Measured = { ask: () => undefined };
  all.add(silent);
  const { count } = startWorker(all);
  count.inc({ kind: 'x' });
  const read = all.read();
  all.remove(silent);
  expect(await read).toContain('count{kind="x"} 1\n');
});
