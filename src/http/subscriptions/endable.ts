/**
 * Makes an iterator that can be ended from outside, with a last value.
 *
 * @param source The source of the values; it is returned when the iterator ends.
 */
export function endable<T>(source: AsyncGenerator<T>): {
  iterator: AsyncGenerator<T>;
  end(last: T): void;
} {
  let waiting: ((result: IteratorResult<T>) => void) | undefined;
  let last: { readonly value: T } | undefined;
  let isEnded = false;

  function end(value: T) {
    if (isEnded) return;
    isEnded = true;
    if (waiting) waiting({ done: false, value });
    else last = { value };
    void source.return(undefined);
  }

  const iterator: AsyncGenerator<T> = {
    next() {
      if (last) {
        const { value } = last;
        last = undefined;
        return Promise.resolve({ done: false, value });
      }
      if (isEnded) return Promise.resolve({ done: true, value: undefined });
      // Not Promise.race: a promise as old as the connection would keep a reaction for each value.
      return new Promise((resolve, reject) => {
        waiting = (result) => {
          waiting = undefined;
          resolve(result);
        };
        source.next().then((result) => waiting?.(result), reject);
      });
    },
    async return() {
      isEnded = true;
      last = undefined;
      waiting?.({ done: true, value: undefined });
      return source.return(undefined);
    },
    async throw(error) {
      isEnded = true;
      return source.throw(error);
    },
    [Symbol.asyncIterator]: () => iterator,
    async [Symbol.asyncDispose]() {
      await iterator.return(undefined);
    },
  };
  return { iterator, end };
}
