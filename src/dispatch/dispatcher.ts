import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '../services.ts';
import { InFlight } from './in-flight.ts';
import { Lines } from './lines.ts';
import { createLoop, type Loop } from './loop.ts';
import type { Claimed, Work } from './work.ts';

// How often a dispatcher asks whether something is due by now.
const tickMs = 1000;
/** The pause between looks for work when hints keep coming; what arrives meanwhile is done in one go. */
export const restMs = 20;
// Several times in a lease, so that one failed renewal does not matter.
const renewMs = 4000;
// How long a stop waits for running attempts before it puts their rows back.
const stopGraceMs = 5000;

/**
 * Works through a queue on this node until it is stopped: claims due rows, attempts them, and records the outcomes. Any
 * number of nodes may do so at once. The leases of a node that dies run out.
 */
export class Dispatcher<Item extends Claimed, Outcome extends { readonly id: string }> {
  readonly #services: Pick<Services, 'database' | 'clock' | 'log'>;
  readonly #work: Work<Item, Outcome>;
  readonly #loop: Loop;
  readonly #tick: NodeJS.Timeout;
  readonly #renewal: NodeJS.Timeout;
  readonly #stopHints: () => void;
  readonly #stopping = new AbortController();
  /** The name of this node, unique among all claiming nodes. */
  readonly #node = randomUUID();
  readonly #inFlight = new InFlight();
  readonly #due = new Lines();
  #ended: Outcome[] = [];
  #recordFailed = false;
  #isStopping = false;
  #soon: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The next due time, as the queue last reported it; undefined if the queue may have changed since. */
  #nextDueAt: Date | null | undefined;

  constructor(services: Pick<Services, 'database' | 'clock' | 'log'>, work: Work<Item, Outcome>) {
    const { log, database } = services;
    this.#services = services;
    this.#work = work;
    this.#loop = createLoop(
      () => this.#run(),
      (error) => log.error({ err: error }, `${work.name} could not be claimed or recorded`),
    );
    this.#tick = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#lookAgain());
    }, tickMs);
    this.#renewal = setInterval(() => void this.#renew(), renewMs);
    this.#stopHints = database.hints.listen('queues', () => {
      this.#due.add(undefined);
      this.#wakeSoon();
    });
  }

  /** The number of rows that this node has claimed and not recorded yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Looks for work now; otherwise it looks at hints, and within a second of a row's due time.
   *
   * @param lines The lines with new work; absent: any line.
   */
  wake(lines?: readonly string[]): void {
    this.#due.add(lines);
    this.#loop.wake();
  }

  // With other nodes, a row can appear without a hint. Without them, only time makes a row due, so an idle service does
  // not query the database.
  async #lookAgain(): Promise<void> {
    const { database, clock, log } = this.#services;
    if (performance.now() - this.#lookedAt >= database.hints.pollMs - tickMs / 2) {
      this.wake();
      return;
    }
    try {
      if (this.#nextDueAt === undefined) {
        // Set before the query, because a claim during the query resets it to undefined.
        this.#nextDueAt = null;
        const nextDueAt = await this.#work.nextDueAt();
        if (this.#nextDueAt === null) this.#nextDueAt = nextDueAt;
      }
      if (this.#nextDueAt && this.#nextDueAt <= clock.now()) this.wake();
    } catch (error) {
      this.#nextDueAt = undefined;
      log.error({ err: error }, `${this.#work.name} could not be looked for`);
    }
  }

  /** Claims nothing more; running attempts end within seconds or are put back. */
  async stop(): Promise<void> {
    const { log } = this.#services;
    this.#isStopping = true;
    clearInterval(this.#tick);
    clearTimeout(this.#soon);
    this.#stopHints();
    await this.#looking;
    const timer = setTimeout(() => this.#stopping.abort(), stopGraceMs);
    // A running claim may add rows.
    for (let last = -1; last !== this.#inFlight.size; ) {
      last = this.#inFlight.size;
      await this.#loop.stop();
      await this.#inFlight.settled();
    }
    clearTimeout(timer);
    clearInterval(this.#renewal);
    await this.#record();
    await this.#work.release(this.#node);
    const { name } = this.#work;
    const cut = this.#inFlight.size;
    if (cut > 0) log.info({ [name]: cut }, `${name} in flight were put back`);
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    await this.#recordAndClaim();
    // An embedded database works on this thread, so half the time is left to the attempts.
    const { kind } = this.#services.database;
    const elapsedMs = kind === 'embedded' ? performance.now() - startedAt : 1;
    await delay(Math.min(elapsedMs, restMs));
  }

  #wakeSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#loop.wake();
    }, restMs);
  }

  // Recording and claiming run at the same time, so the claim is told which rows are being recorded. Nothing is claimed while recording fails, so that
  // the rows waiting to be recorded stay bounded.
  async #recordAndClaim(): Promise<void> {
    if (this.#recordFailed) await this.#record();
    const ended = new Set(this.#ended.map(({ id }) => id));
    const [recorded, claimed] = await Promise.allSettled([this.#record(), this.#claim(ended)]);
    for (const outcome of [recorded, claimed]) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  async #claim(ended: ReadonlySet<string>): Promise<void> {
    if (this.#isStopping || this.#due.isEmpty) return;
    const lines = this.#due.take();
    if (!lines) this.#lookedAt = performance.now();
    this.#nextDueAt = undefined;
    const { claimed, missed, isFull } = await this.#work.claim({
      node: this.#node,
      now: this.#services.clock.now(),
      underWay: this.#inFlight.underWay(lines, ended),
      lines,
      room: Math.max(0, this.#work.maxInFlight - (this.#inFlight.size - ended.size)),
    });
    if (missed.length > 0) {
      this.#due.add(missed);
      this.#wakeSoon();
    }
    if (isFull) this.#due.add(lines);
    for (const item of claimed) this.#inFlight.add(item, this.#attempt(item));
  }

  async #attempt(item: Item): Promise<void> {
    const outcome = await this.#work.attempt(item, this.#stopping.signal);
    // Such rows are put back when all attempts have ended.
    if (!outcome) return;
    this.#ended.push(outcome);
    await this.#work.follow?.(item, outcome);
    this.wake([item.line]);
  }

  async #record(): Promise<void> {
    const outcomes = this.#ended;
    if (outcomes.length === 0) return;
    this.#ended = [];
    try {
      await this.#work.record(this.#node, this.#services.clock.now(), outcomes);
      this.#nextDueAt = undefined;
      this.#recordFailed = false;
    } catch (error) {
      this.#recordFailed = true;
      this.#ended = [...outcomes, ...this.#ended];
      throw error;
    }
    this.#inFlight.remove(outcomes.map(({ id }) => id));
  }

  async #renew(): Promise<void> {
    const over = this.#inFlight.takeRecorded();
    const held = this.#inFlight.ids();
    if (held.length === 0 && over.length === 0) return;
    const { clock, log } = this.#services;
    const { name } = this.#work;
    await this.#work
      .renew(this.#node, clock.now(), { held, over })
      .catch((error: unknown) =>
        log.error({ err: error }, `${name} under way may be attempted by another node too`),
      );
  }
}
