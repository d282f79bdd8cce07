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

// How often a person tries again while there is no database.
const patience = 3;

/** What people did, and what became of it. */
export class Deeds {
  readonly races: Race[] = [];
  done = 0;
  /** How many requests were not answered. */
  broken = 0;
  /** How many requests were decided while there was no database to decide them. */
  decidedWithoutDatabase = 0;
  #outage: PromiseWithResolvers<void> | undefined;
  readonly #waiting = new Set<() => void>();

  /** Resolves when so many requests have been done. */
  reached(count: number): Promise<void> {
    return this.#until(() => this.done >= count);
  }

  /** While some work runs, nothing that is sent can be done: there is no database. */
  async withoutDatabase(work: () => Promise<void>): Promise<void> {
    const outage = Promise.withResolvers<void>();
    this.#outage = outage;
    try {
      await work();
    } finally {
      this.#outage = undefined;
      outage.resolve();
    }
  }

  /** Resolves when so many more requests have not been answered. */
  async moreBroken(count: number): Promise<void> {
    const target = this.broken + count;
    await this.#until(() => this.broken >= target);
  }

  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  #note(): void {
    for (const check of this.#waiting) check();
  }

  /**
   * Does something once.
   *
   * @returns Undefined if it was not answered.
   */
  async send<T>(call: () => Promise<T>): Promise<{ answer: T } | undefined> {
    const outage = this.#outage;
    try {
      const answer = await call();
      if (outage && outage === this.#outage) this.decidedWithoutDatabase += 1;
      return { answer };
    } catch (error) {
      if (!isBroken(error)) throw error;
      this.broken += 1;
      this.#note();
      return undefined;
    }
  }

  /** Does something again until it is answered. */
  async sure<T>(call: () => Promise<T>): Promise<T> {
    for (let times = 1; ; times += 1) {
      const sent = await this.send(call);
      if (sent) return sent.answer;
      // People give up for a while, and leave the processor to those who start.
      if (times >= patience) await this.#outage?.promise;
    }
  }

  /** Sends a request once. */
  async attempt(call: () => Promise<StepResult>): Promise<Outcome> {
    const sent = await this.send(async () => {
      try {
        return (await call()).__typename;
      } catch (error) {
        // The account, or the session, is gone.
        if (error instanceof Error && / answered 401\b/.test(error.message)) return '401';
        throw error;
      }
    });
    if (!sent) return 'UNKNOWN';
    if (!sent.answer.endsWith('Payload')) return 'REFUSED';
    this.done += 1;
    this.#note();
    return 'DONE';
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
