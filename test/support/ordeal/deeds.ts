import type { StepResult } from '../people/experience.ts';

/** What became of a request: its answer, or a connection that broke, after which it may have been done or not. */
export type Outcome = 'DONE' | 'REFUSED' | 'UNKNOWN';

/** Requests that were sent at once, of which one may be done. */
export interface Race {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
}

const brokenConnection = new Set(['fetch failed', 'terminated']);

/** Whether a node died, or lost its database, before it answered. */
const isBroken = (error: unknown): boolean =>
  error instanceof Error &&
  (brokenConnection.has(error.message) || / answered (429|503)\b/.test(error.message));

/** What people did, and what became of it. */
export class Deeds {
  readonly races: Race[] = [];
  done = 0;
  /** How many requests were not answered. */
  broken = 0;
  #next: { readonly count: number; readonly reached: () => void } | undefined;

  /** Resolves when so many requests have been done. */
  reached(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#next = { count, reached };
    });
  }

  /** Does something again until it is answered. */
  async sure<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isBroken(error)) throw error;
        this.broken += 1;
      }
    }
  }

  /** Sends a request once. */
  async attempt(call: () => Promise<StepResult>): Promise<Outcome> {
    try {
      const { __typename: answer } = await call();
      if (!answer.endsWith('Payload')) return 'REFUSED';
      this.done += 1;
      if (this.#next && this.done >= this.#next.count) this.#next.reached();
      return 'DONE';
    } catch (error) {
      if (isBroken(error)) {
        this.broken += 1;
        return 'UNKNOWN';
      }
      // The account, or the session, is gone.
      if (error instanceof Error && / answered 401\b/.test(error.message)) return 'REFUSED';
      throw error;
    }
  }

  /** Sends requests at once, of which one may be done. */
  async race(name: string, calls: readonly (() => Promise<StepResult>)[]): Promise<Outcome> {
    const outcomes = await Promise.all(calls.map((call) => this.attempt(call)));
    this.races.push({ name, outcomes });
    if (outcomes.includes('DONE')) return 'DONE';
    return outcomes.includes('UNKNOWN') ? 'UNKNOWN' : 'REFUSED';
  }
}

/** The races that came to more or to less than one. */
export const unfair = (races: readonly Race[]): readonly Race[] =>
  races.filter(({ outcomes }) => {
    const done = outcomes.filter((outcome) => outcome === 'DONE').length;
    return done > 1 || (done === 0 && !outcomes.includes('UNKNOWN'));
  });
