import type { ResultSink } from '../events/feed.ts';

/** A result that is JSON already: the transports send it as it is. */
export interface SerializedResult {
  stringify(): string;
}

const finished = { done: true, value: undefined } as const;

/**
 * The results of one subscription to the log, as the transports expect them: an iterator. What the feed puts in is
 * either taken out one by one, or goes to `send` at once and the iterator only tells of the end.
 */
export class ResultStream implements ResultSink, AsyncGenerator<SerializedResult, void, void> {
  readonly #ends: ((error?: unknown) => void)[] = [];
  readonly #onDrop: () => void;
  readonly #results: string[] = [];
  #bytes = 0;
  #taker: PromiseWithResolvers<IteratorResult<SerializedResult, void>> | undefined;
  #flushes: (() => void)[] = [];
  #end: { readonly error?: unknown } | undefined;

  /** @param onDrop Closes the connection of a reader that fell behind. */
  constructor(onDrop: () => void) {
    this.#onDrop = onDrop;
  }

  /** Calls the listener when it ended, whichever side ended it. */
  onEnd(listener: () => void): void {
    this.#ends.push(listener);
  }

  push(results: readonly string[]): void {
    for (const result of results) this.#put(result);
  }

  #put(result: string): void {
    if (this.#end) return;
    if (this.#taker) {
      const { resolve } = this.#taker;
      this.#taker = undefined;
      resolve({ done: false, value: { stringify: () => result } });
      return;
    }
    this.#results.push(result);
    this.#bytes += result.length;
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

  /** Ends it once what waits is taken. */
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
      this.#bytes -= result.length;
      if (this.#results.length === 0) for (const resolve of this.#flushes.splice(0)) resolve();
      return Promise.resolve({ done: false, value: { stringify: () => result } });
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
