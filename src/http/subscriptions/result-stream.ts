import type { ResultSink } from '../../events/feed/subscriber.ts';
import type { EventPosition } from '../../events/position.ts';

/** A result in JSON; transports send it as it is. */
export interface SerializedResult {
  stringify(): string;
  /** The position of its event in the log. */
  readonly position: EventPosition | undefined;
}

const finished = { done: true, value: undefined } as const;

/**
 * The results of one subscription to the log, as the iterator that transports expect. Results of the feed are either
 * taken out one by one, or go to `send` at once; then the iterator reports only the end.
 */
export class ResultStream implements ResultSink, AsyncGenerator<SerializedResult, void, void> {
  readonly #ends: ((error?: unknown) => void)[] = [];
  readonly #onDrop: () => void;
  readonly #results: SerializedResult[] = [];
  #bytes = 0;
  #taker: PromiseWithResolvers<IteratorResult<SerializedResult, void>> | undefined;
  #flushes: (() => void)[] = [];
  #end: { readonly error?: unknown } | undefined;

  /** @param onDrop Closes the connection of a reader that is too slow. */
  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  /** Calls the listener at the end, from whichever side it came. */
  onEnd(listener: () => void): void {
    this.#ends.push(listener);
  }

  push(results: readonly string[], places: readonly EventPosition[]): void {
    for (const [index, result] of results.entries()) {
      this.#put({ stringify: () => result, position: places[index] });
    }
  }

  #put(result: SerializedResult): void {
    if (this.#end) return;
    if (this.#taker) {
      const { resolve } = this.#taker;
      this.#taker = undefined;
      resolve({ done: false, value: result });
      return;
    }
    this.#results.push(result);
    this.#bytes += result.stringify().length;
  }

  get backlogBytes(): number {
    return this.#bytes;
  }

  async flushed(): Promise<void> {
    if (this.#end || this.#results.length === 0) return;
    await new Promise<void>((resolve) => this.#flushes.push(resolve));
  }

  drop(): void {
    this.#results.length = 0;
    this.finish();
    this.#onDrop();
  }

  fail(error: unknown): void {
    this.finish({ error });
  }

  /** Ends the stream when all waiting results are taken. */
  finish(end: { readonly error?: unknown } = {}): void {
    if (this.#end) return;
    this.#end = end;
    for (const listener of this.#ends) listener();
    for (const resolve of this.#flushes.splice(0)) resolve();
    if (!this.#taker) return;
    const { resolve, reject } = this.#taker;
    this.#taker = undefined;
    if ('error' in end) reject(end.error);
    else resolve(finished);
  }

  next(): Promise<IteratorResult<SerializedResult, void>> {
    const result = this.#results.shift();
    if (result !== undefined) {
      this.#bytes -= result.stringify().length;
      if (this.#results.length === 0) for (const resolve of this.#flushes.splice(0)) resolve();
      return Promise.resolve({ done: false, value: result });
    }
    if (this.#end) {
      const { error } = this.#end;
      const isFailed = 'error' in this.#end;
      this.#end = {};
      return isFailed ? Promise.reject(error) : Promise.resolve(finished);
    }
    this.#taker = Promise.withResolvers();
    return this.#taker.promise;
  }

  async return(): Promise<IteratorResult<SerializedResult, void>> {
    this.#results.length = 0;
    this.finish();
    return finished;
  }

  async throw(error: unknown): Promise<IteratorResult<SerializedResult, void>> {
    this.#results.length = 0;
    this.finish();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
