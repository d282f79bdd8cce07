import { AggregatorRegistry, Registry } from 'prom-client';
import { addGauge } from '../metrics/metrics.ts';
import type { Snapshot } from './messages.ts';

/** How long a worker has to tell its metrics; after that, those that it told last are shown. */
const longestMs = 2_000;

/** A worker whose metrics are collected. */
export interface Measured {
  /** Asks for a snapshot, which {@link WorkerMetrics.told} is called with. */
  ask(id: number): void;
}

/**
 * The metrics of all workers together. Those of a worker that has died stay in: a counter must not go back.
 */
export class WorkerMetrics {
  readonly #last = new Map<Measured, Snapshot>();
  #ofDead: Snapshot = [];
  readonly #own = new Registry();
  #asked:
    | { readonly id: number; readonly missing: Set<Measured>; readonly done: () => void }
    | undefined;
  #collecting: Promise<string> | undefined;
  #count = 0;

  /** @param states How many workers there are in each state. */
  constructor(states: () => Readonly<Record<string, number>>) {
    addGauge(this.#own, 'signet_workers', (gauge) => {
      for (const [state, count] of Object.entries(states())) gauge.set({ state }, count);
    });
  }

  add(worker: Measured): void {
    this.#last.set(worker, []);
  }

  /** Keeps what a worker that has died has counted, as far as it has told. */
  remove(worker: Measured): void {
    const counted = (this.#last.get(worker) ?? []).filter(
      // Its type says that this is a number, but it is a text.
      ({ type }) => ['counter', 'histogram'].includes(String(type)),
    );
    this.#last.delete(worker);
    // What it made is of the same form, though its type says less.
    this.#ofDead = aggregate([this.#ofDead, counted]).getMetricsAsArray() as Snapshot;
    this.#noLongerMissing(worker);
  }

  told(worker: Measured, id: number, metrics: Snapshot): void {
    if (!this.#last.has(worker)) return;
    this.#last.set(worker, metrics);
    if (id === this.#asked?.id) this.#noLongerMissing(worker);
  }

  /** Reads the metrics of all workers, in Prometheus' text format. Whoever asks meanwhile gets the same. */
  read(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const workers = [...this.#last.keys()];
    this.#count += 1;
    const id = this.#count;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asked = { id, missing: new Set(workers), done: resolve };
    for (const worker of workers) worker.ask(id);
    if (workers.length === 0) resolve();
    const timer = setTimeout(resolve, longestMs);
    await promise;
    clearTimeout(timer);
    const all = [...this.#last.values(), this.#ofDead];
    const own = await this.#own.metrics();
    return `${await aggregate(all).metrics()}${own}`;
  }

  #noLongerMissing(worker: Measured): void {
    this.#asked?.missing.delete(worker);
    if (this.#asked?.missing.size === 0) this.#asked.done();
  }
}

// Its type asks for objects; it takes the lists that `getMetricsAsJSON` returns.
const aggregate = (snapshots: readonly Snapshot[]): Registry =>
  AggregatorRegistry.aggregate([...snapshots] as object[]) as Registry;
