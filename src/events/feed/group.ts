import { setImmediate as nextTurn } from 'node:timers/promises';
import { type LoggedEvent, matcher } from '../log.ts';
import type { Tail } from '../tail.ts';
import { batches, type EventOperation, type Placed, type ResultsOf } from './results.ts';

/** Events that may wait for execution in one group. */
const maxQueuedEvents = 10_000;
/** Events that one step executes together. */
const sliceSize = 50;

/** A subscriber, as its group sees it. */
export interface Member {
  live(batch: readonly Placed[]): void;
  drop(): void;
  fail(error: unknown): void;
}

/** Subscribers that get the same results. Each event is executed and serialized once for all of them. */
export class Group {
  readonly #operation: EventOperation;
  readonly #resultsOf: ResultsOf;
  readonly #members = new Set<Member>();
  readonly #leave: () => void;
  readonly #onEmpty: () => void;
  #queue: LoggedEvent[] = [];
  #isRunning = false;

  /** @param onEmpty Called after the last member has left. The group takes no new members then. */
  constructor(operation: EventOperation, tail: Tail, resultsOf: ResultsOf, onEmpty: () => void) {
    this.#operation = operation;
    this.#resultsOf = resultsOf;
    this.#onEmpty = onEmpty;
    const fits = matcher(operation.filter);
    const unsubscribe = tail.subscribe((events) => {
      for (const event of events) if (fits(event)) this.#queue.push(event);
      if (this.#queue.length > maxQueuedEvents) this.#dropAll();
      else void this.#run();
    });
    // Whether the log can go on from a member's last event is asked when it comes back.
    const ignoreBreaks = tail.onBreak(() => this.#dropAll());
    this.#leave = () => {
      unsubscribe();
      ignoreBreaks();
    };
  }

  add(member: Member): void {
    this.#members.add(member);
  }

  remove(member: Member): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#leave();
    this.#queue = [];
    this.#onEmpty();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#queue.length > 0) {
        const events = this.#queue.splice(0, sliceSize);
        const results = await this.#resultsOf(this.#operation, events);
        for (const batch of batches(results)) {
          for (const member of this.#members) member.live(batch);
          await nextTurn();
        }
      }
    } catch (error) {
      for (const member of this.#members) member.fail(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #dropAll(): void {
    for (const member of this.#members) member.drop();
  }
}
