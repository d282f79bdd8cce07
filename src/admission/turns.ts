import type { Counter, Registry } from 'prom-client';
import { addGauge, counterOf } from '../metrics/metrics.ts';
import { type Overloaded, overloaded } from './overloaded.ts';

/** What a turn is for, in the order in which turns are given. */
const turnKinds = ['token', 'request', 'export', 'connection', 'background'] as const;

/**
 * What a turn is for: the token endpoint and what belongs to it; every other request; the begin of an export; a
 * connection for subscriptions; the further pages of an export.
 */
export type TurnKind = (typeof turnKinds)[number];

/** A place among the work that is done now. */
export interface Turn {
  /** Gives the place to the next. May be called more than once. */
  leave(): void;
}

// Requests: 256 exchanges beside 256 mutations that arrive at once took 1.8 and 2.8 times as long as alone (p99, two
// runs), and 2.4 and 4.5 times without a limit. Four places did no better. Tokens share statements, so they need more.
const places: Readonly<Record<TurnKind, number>> = {
  token: 64,
  request: 8,
  export: 1,
  connection: 1,
  background: 1,
};

/** What waits for as long as it takes. */
const patient = ['connection', 'background'] as const satisfies readonly TurnKind[];
const isPatient = (kind: TurnKind) => (patient as readonly TurnKind[]).includes(kind);

/** How often the queue is looked at while somebody waits, in milliseconds. */
const lookMs = 10;
/** After this long, work gives its place to the next, even on a thread that has no slack. */
const longestMs = 1_000;
/** The part of the longest wait that is left once the service is overloaded. */
const partOfWait = 10;
/** The part of those that could have their turn in time who may wait: a refusal after a wait costs several times more. */
const partOfQueue = 0.6;
/** How often the rate of turns is measured, and how much the latest measure counts. */
const rateMs = 50;
const weight = 0.3;
/** After so many turns of others, one goes to a patient kind. */
const patientEvery = 10;
/** How often an overload is reported at most, in milliseconds. */
const reportMs = 60_000;
/** The most refusals that are sent in one go: each costs some time, and other requests come between. */
const refusedAtOnce = 100;

interface Waiting {
  readonly since: number;
  readonly begin: (turn: Turn) => void;
  readonly refuse: (error: Overloaded) => void;
}

const ofEachKind = <T>(make: () => T) =>
  Object.fromEntries(turnKinds.map((kind) => [kind, make()])) as Record<TurnKind, T>;

/** What the queue needs to know of the process. */
export interface Pressure {
  /** The time, in milliseconds; of a clock that only goes forward. */
  readonly now: () => number;
  /** Whether more work could be done at once: the thread was idle for a part of the time since the last call. */
  readonly hasSlack: () => boolean;
}

/**
 * Gives turns to the work of this process, in the order of {@link turnKinds} and of arrival. A few have a turn at the
 * same time: a burst must not fill the event loop. Work that waits for something else, for a row, a password's hash or
 * a slow client, does not use the thread; it keeps its place only while the thread has no slack.
 *
 * Work that has waited for too long is refused. From then on the service is overloaded, and a wait may be a tenth as
 * long, until nobody waits: so a burst is worked off, but a lasting overload builds no queue in which all that is
 * answered is answered late. After Facebook's controlled delay (https://queue.acm.org/detail.cfm?id=2839461).
 */
export class Turns {
  readonly #maxWaitMs: number;
  readonly #pressure: Pressure;
  readonly #running = ofEachKind(() => new Map<Turn, number>());
  readonly #waiting = ofEachKind(() => new Set<Waiting>());
  readonly #isOverloaded = ofEachKind(() => false);
  readonly #begun = ofEachKind(() => 0);
  /** Turns a millisecond, lately. */
  readonly #rate = ofEachKind(() => 0);
  #ratedAt = 0;
  readonly #refused: Waiting[] = [];
  readonly #refusals: Counter<'kind'>;
  readonly #onOverload: (kind: TurnKind) => void;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** How many turns others had since the last of each kind. */
  readonly #since = ofEachKind(() => 0);
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param options.maxWaitMs The longest that work waits for its turn.
   * @param options.onOverload Told that requests are refused, once a minute at most.
   */
  constructor({
    maxWaitMs,
    pressure,
    metrics,
    onOverload = () => undefined,
  }: {
    readonly maxWaitMs: number;
    readonly pressure: Pressure;
    readonly metrics: Registry;
    readonly onOverload?: (kind: TurnKind) => void;
  }) {
    this.#onOverload = onOverload;
    this.#maxWaitMs = maxWaitMs;
    this.#pressure = pressure;
    this.#refusals = counterOf(metrics, 'signet_requests_refused_total');
    addGauge(metrics, 'signet_requests_waiting', (gauge) => {
      for (const kind of turnKinds) gauge.set({ kind }, this.#waiting[kind].size);
    });
  }

  /**
   * Whether somebody who came now would wait for too long, and so is refused at once. Counts it as refused.
   */
  refuses(kind: TurnKind): boolean {
    if (!this.#isOverloaded[kind]) return false;
    const worth = (partOfQueue * this.#rate[kind] * this.#maxWaitMs) / partOfWait;
    if (this.#waiting[kind].size < Math.max(places[kind], worth)) return false;
    this.#refusals.inc({ kind });
    return true;
  }

  /**
   * Takes a turn, at once or later.
   *
   * @param begin Called with the turn, at once if nobody waits.
   * @param refuse Called instead when the wait is too long, which it never is for a connection or in the background.
   * @returns Gives up waiting; undefined if it does not wait.
   */
  take(
    kind: TurnKind,
    begin: Waiting['begin'],
    refuse: Waiting['refuse'],
  ): (() => void) | undefined {
    if (this.#hasRoom(kind) && !this.#isAnyoneBefore(kind)) {
      begin(this.#start(kind));
      return undefined;
    }
    if (this.refuses(kind)) {
      refuse(overloaded);
      return undefined;
    }
    const waiting = { since: this.#pressure.now(), begin, refuse };
    this.#waiting[kind].add(waiting);
    this.#timer ??= this.#watch();
    return () => void this.#waiting[kind].delete(waiting);
  }

  /**
   * Does some work when its turn comes.
   *
   * @throws {Overloaded} when the wait is too long.
   */
  async run<T>(kind: TurnKind, work: () => T | Promise<T>): Promise<T> {
    const turn = await new Promise<Turn>((resolve, reject) => this.take(kind, resolve, reject));
    try {
      return await work();
    } finally {
      turn.leave();
    }
  }

  /** Refuses what has waited for too long, and gives away the places of work that does not use the thread. */
  look(): void {
    const now = this.#pressure.now();
    this.#measure(now);
    const oldMs = this.#pressure.hasSlack() ? lookMs : longestMs;
    for (const kind of turnKinds) {
      this.#refuseLate(kind, now);
      for (const [turn, since] of this.#running[kind]) {
        if (now - since < oldMs) break;
        this.#running[kind].delete(turn);
      }
    }
    this.#next();
    if (turnKinds.every((kind) => this.#waiting[kind].size === 0)) this.#unwatch();
  }

  #watch(): NodeJS.Timeout {
    // From here on: the slack of a quiet hour says nothing about now.
    this.#pressure.hasSlack();
    this.#ratedAt = this.#pressure.now();
    for (const kind of turnKinds) this.#begun[kind] = 0;
    return setInterval(() => this.look(), lookMs);
  }

  #unwatch(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #measure(now: number): void {
    const sinceMs = now - this.#ratedAt;
    if (sinceMs < rateMs) return;
    for (const kind of turnKinds) {
      this.#rate[kind] += weight * (this.#begun[kind] / sinceMs - this.#rate[kind]);
      this.#begun[kind] = 0;
    }
    this.#ratedAt = now;
  }

  #start(kind: TurnKind): Turn {
    this.#begun[kind] += 1;
    const running = this.#running[kind];
    const turn: Turn = {
      leave: () => {
        // The queue is only looked at while somebody waits.
        if (running.delete(turn) && this.#timer) this.#next();
      },
    };
    running.set(turn, this.#pressure.now());
    return turn;
  }

  #hasRoom(kind: TurnKind): boolean {
    return this.#running[kind].size < places[kind];
  }

  #isAnyoneBefore(kind: TurnKind): boolean {
    for (const other of turnKinds) {
      if (this.#waiting[other].size > 0) return true;
      if (other === kind) return false;
    }
    return false;
  }

  #next(): void {
    for (let kind = this.#nextKind(); kind; kind = this.#nextKind()) {
      const [first] = this.#waiting[kind];
      if (!first) return;
      this.#waiting[kind].delete(first);
      for (const other of turnKinds) this.#since[other] += 1;
      this.#since[kind] = 0;
      this.#calmDown(kind);
      first.begin(this.#start(kind));
    }
  }

  /** The kind whose turn it is; undefined if nobody waits, or whoever is first has no room. */
  #nextKind(): TurnKind | undefined {
    const now = this.#pressure.now();
    for (const kind of turnKinds) this.#refuseLate(kind, now);
    // The longest first: what is itself patient must not pass the other for ever.
    const [overdue] = patient
      .filter((kind) => this.#waiting[kind].size > 0 && this.#hasRoom(kind))
      .filter((kind) => this.#since[kind] >= patientEvery)
      .toSorted((a, b) => this.#since[b] - this.#since[a]);
    const first = overdue ?? turnKinds.find((kind) => this.#waiting[kind].size > 0);
    return first && this.#hasRoom(first) ? first : undefined;
  }

  #refuseLate(kind: TurnKind, now: number): void {
    if (isPatient(kind)) return;
    for (const waiting of this.#waiting[kind]) {
      const longestWait = this.#isOverloaded[kind] ? this.#maxWaitMs / partOfWait : this.#maxWaitMs;
      if (now - waiting.since < longestWait) break;
      this.#isOverloaded[kind] = true;
      if (now - this.#reportedAt >= reportMs) {
        this.#reportedAt = now;
        this.#onOverload(kind);
      }
      this.#waiting[kind].delete(waiting);
      this.#refusals.inc({ kind });
      this.#refused.push(waiting);
      if (this.#refused.length === 1) setImmediate(() => this.#sendRefusals());
    }
    this.#calmDown(kind);
  }

  #calmDown(kind: TurnKind): void {
    if (this.#waiting[kind].size === 0) this.#isOverloaded[kind] = false;
  }

  #sendRefusals(): void {
    for (const { refuse } of this.#refused.splice(0, refusedAtOnce)) refuse(overloaded);
    if (this.#refused.length > 0) setImmediate(() => this.#sendRefusals());
  }
}
