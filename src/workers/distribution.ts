import type { Socket } from 'node:net';

/** How many connections are on their way to a worker at a time: Node sends one after the other anyway. */
const underWay = 1;
/** How often waiting connections are looked at, in milliseconds. */
const lookMs = 50;

/** Whoever takes connections. */
export interface Taker {
  /** Sends a connection; {@link Distribution.taken} is called when it is there. */
  send(id: number, socket: Socket): void;
}

interface Given {
  readonly id: number;
  readonly socket: Socket;
  readonly since: number;
}

interface State {
  open: number;
  readonly given: Map<number, Given>;
}

/**
 * Hands connections to workers, each to the one with the fewest. A connection stays here until its worker has it: if
 * the worker dies before, another gets it. Those that no worker takes in time are answered here.
 */
export class Distribution {
  readonly #takers = new Map<Taker, State>();
  readonly #waiting = new Set<Given>();
  readonly #longestMs: number;
  readonly #answerHere: (socket: Socket, hasTakers: boolean) => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param options.longestMs How long a connection waits for a worker.
   * @param options.answerHere Answers a connection, knowing whether there is a worker at all.
   */
  constructor({
    longestMs,
    answerHere,
  }: {
    readonly longestMs: number;
    readonly answerHere: (socket: Socket, hasTakers: boolean) => void;
  }) {
    this.#longestMs = longestMs;
    this.#answerHere = answerHere;
  }

  /** Gives connections to this worker from now on. */
  add(taker: Taker): void {
    this.#takers.set(taker, { open: 0, given: new Map() });
    this.#next();
  }

  /** Gives it no more, and gives those that it has not taken to others. */
  remove(taker: Taker): void {
    const lost = this.#takers.get(taker)?.given.values() ?? [];
    this.#takers.delete(taker);
    const others = [...this.#waiting];
    this.#waiting.clear();
    for (const given of [...lost, ...others]) this.#waiting.add(given);
    this.#next();
  }

  /** Hands over a new connection, which must be paused. */
  give(socket: Socket): void {
    this.#count += 1;
    const given = { id: this.#count, socket, since: performance.now() };
    socket.on('error', () => socket.destroy());
    this.#waiting.add(given);
    this.#next();
  }

  /** A worker has a connection. */
  taken(taker: Taker, id: number, open: number): void {
    const state = this.#takers.get(taker);
    if (!state) return;
    state.open = open;
    // Closes this process' copy alone.
    state.given.get(id)?.socket.destroy();
    state.given.delete(id);
    this.#next();
  }

  /** A worker has so many connections open. */
  opened(taker: Taker, open: number): void {
    const state = this.#takers.get(taker);
    if (state) state.open = open;
  }

  /** Closes what still waits. */
  stop(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#waiting) socket.destroy();
    this.#waiting.clear();
  }

  #next(): void {
    for (const given of this.#waiting) {
      const taker = this.#findTaker();
      if (!taker && this.#takers.size > 0) break;
      this.#waiting.delete(given);
      if (given.socket.destroyed) continue;
      if (!taker) {
        this.#answerHere(given.socket, false);
        continue;
      }
      this.#takers.get(taker)?.given.set(given.id, given);
      taker.send(given.id, given.socket);
    }
    if (this.#waiting.size > 0) this.#timer ??= setInterval(() => this.#look(), lookMs);
    else this.#timer = clearInterval(this.#timer) as undefined;
  }

  #look(): void {
    const now = performance.now();
    for (const given of this.#waiting) {
      if (now - given.since < this.#longestMs) break;
      this.#waiting.delete(given);
      if (!given.socket.destroyed) this.#answerHere(given.socket, true);
    }
    this.#next();
  }

  #findTaker(): Taker | undefined {
    let least: { readonly taker: Taker; readonly open: number } | undefined;
    for (const [taker, { open, given }] of this.#takers) {
      if (given.size < underWay && open < (least?.open ?? Number.POSITIVE_INFINITY))
        least = { taker, open };
    }
    return least?.taker;
  }
}
