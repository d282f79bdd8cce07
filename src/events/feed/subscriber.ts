import type { PrismaClient } from '../../generated/prisma/client.ts';
import { assertRetained } from '../consumers.ts';
import { readEvents, takeSnapshot } from '../log.ts';
import { comparePositions, type EventPosition } from '../position.ts';
import type { Tail } from '../tail.ts';
import type { Group, Member } from './group.ts';
import { batches, type EventOperation, type Placed, type ResultsOf } from './results.ts';

/** Bytes that may wait for one reader. A slower reader is dropped. */
export const maxBacklogBytes = 1024 * 1024;
const pageSize = 100;

/** Where the results of one subscription go. */
export interface ResultSink {
  /** Sends results, each as JSON, with the positions of their events. */
  push(results: readonly string[], places: readonly EventPosition[]): void;
  /** Bytes that were pushed and have not left this process yet. */
  readonly backlogBytes: number;
  /** Resolves when everything pushed so far has left the process, or never will. */
  flushed(): Promise<void>;
  /** Ends the subscription because the reader is too slow. The reader can resume from its last cursor. */
  drop(): void;
  /** Ends the subscription with an error. */
  fail(error: unknown): void;
}

/** The parts of the feed that a subscriber uses. */
export interface Surroundings {
  readonly prisma: PrismaClient;
  readonly tail: Tail;
  readonly resultsOf: ResultsOf;
  /** Puts a subscriber into the group that gets the same results. */
  join(operation: EventOperation, subscriber: Subscriber): Group;
  /** Called when a subscriber is dropped. */
  onDrop(): void;
  /** Called when a subscriber has ended. */
  onClose(): void;
}

/**
 * One subscription. It sends the events after its cursor first, then the results of its group, each event once and in
 * order.
 */
export class Subscriber implements Member {
  readonly #feed: Surroundings;
  readonly #operation: EventOperation;
  readonly #sink: ResultSink;
  #group: Group | undefined;
  /** The group's results that arrived during catch-up; undefined after it. */
  #waiting: Placed[] | undefined = [];
  #waitingBytes = 0;
  /** Whether an event was sent already or precedes the subscription; undefined once no such event can arrive. */
  #isKnown: ((position: EventPosition) => boolean) | undefined;
  #isOpen = true;

  constructor(feed: Surroundings, operation: EventOperation, sink: ResultSink) {
    this.#feed = feed;
    this.#operation = operation;
    this.#sink = sink;
    this.#start().catch((error: unknown) => this.fail(error));
  }

  async #start(): Promise<void> {
    const { after } = this.#operation;
    if (after) await this.#catchUp(after);
    else await this.#beginNow();
    if (!this.#isOpen) return;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const batch of batches(waiting)) this.live(batch);
  }

  async #catchUp(after: EventPosition): Promise<void> {
    // Before it joins the group: page by page, at the reader's pace.
    let cursor = await this.#readPages(after);
    if (!this.#isOpen) return;
    // From here on the group collects new events for it. One more read gets the events that settled during the last
    // page.
    this.#group = this.#feed.join(this.#operation, this);
    cursor = await this.#readPages(cursor);
    // The group goes on where the tail is. If the log has broken meanwhile, one of the two finds out.
    await this.#feed.tail.reached(cursor);
    await assertRetained(this.#feed.prisma, cursor, this.#operation.filter.types);
    this.#isKnown = (position) => {
      const isKnown = comparePositions(position, cursor) <= 0;
      if (!isKnown) this.#isKnown = undefined;
      return isKnown;
    };
  }

  async #readPages(after: EventPosition): Promise<EventPosition> {
    const { filter } = this.#operation;
    const { prisma, resultsOf } = this.#feed;
    for (let cursor = after; ; ) {
      const events = await readEvents(prisma, { filter, after: cursor, take: pageSize });
      await assertRetained(prisma, cursor, filter.types);
      const results = await resultsOf(this.#operation, events);
      if (!this.#isOpen) return cursor;
      this.#push(results);
      cursor = events.at(-1)?.position ?? cursor;
      if (events.length < pageSize) return cursor;
      await this.#sink.flushed();
    }
  }

  async #beginNow(): Promise<void> {
    this.#group = this.#feed.join(this.#operation, this);
    // The tail may still hand out events that were committed before this subscription began.
    const snapshot = await takeSnapshot(this.#feed.prisma);
    this.#isKnown = (position) => {
      if (snapshot.isBefore(position)) this.#isKnown = undefined;
      return snapshot.includes(position);
    };
  }

  live(batch: readonly Placed[]): void {
    if (!this.#isOpen) return;
    if (this.#waiting) {
      this.#waiting.push(...batch);
      for (const { result } of batch) this.#waitingBytes += result.length;
      if (this.#waitingBytes > maxBacklogBytes) this.drop();
      return;
    }
    const fresh = this.#isKnown
      ? batch.filter(({ position }) => !this.#isKnown?.(position))
      : batch;
    if (fresh.length === 0) return;
    if (this.#sink.backlogBytes > maxBacklogBytes) this.drop();
    else this.#push(fresh);
  }

  #push(placed: readonly Placed[]): void {
    if (placed.length === 0) return;
    this.#sink.push(
      placed.map(({ result }) => result),
      placed.map(({ position }) => position),
    );
  }

  drop(): void {
    if (!this.#isOpen) return;
    this.close();
    this.#feed.onDrop();
    this.#sink.drop();
  }

  fail(error: unknown): void {
    if (!this.#isOpen) return;
    this.close();
    this.#sink.fail(error);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#waiting = [];
    this.#feed.onClose();
    this.#group?.remove(this);
  }
}
