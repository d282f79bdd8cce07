/**
 * What a transaction ends with: its result, and the proof that an event tells what it changed. `recordEvents` gives the
 * proof. Where there is nothing to tell, {@link untold} says so in its place.
 */
export class Told<T> {
  // Private, so that no other object passes for a proof.
  readonly #result: T;

  constructor(result: T) {
    this.#result = result;
  }

  /** What comes with the proof. Throws for an object that is none. */
  static resultOf<T>(told: Told<T>): T {
    return told.#result;
  }

  get result(): T {
    return this.#result;
  }

  /** The same proof with another result. */
  with<R>(result: R): Told<R> {
    return new Told(result);
  }
}

/** The result of a transaction that changed nothing that events tell of: nothing at all, or only rows such as a code's. */
export const untold = <T>(result: T): Told<T> => new Told(result);
