import { availableParallelism } from 'node:os';
import { GraphQLError } from 'graphql';
import { requestError } from '../graphql/request-error.ts';

/** Too many passwords wait to be hashed. The same request may succeed a little later. */
export class HashingBusy extends GraphQLError {
  constructor() {
    const { message, extensions } = requestError(
      'RATE_LIMITED',
      'Too many passwords are being checked. Try again in a few seconds.',
    );
    super(message, { extensions });
  }
}

/** Runs a limited number of jobs at a time. */
export interface HashQueue {
  /**
   * Does some work when its turn comes.
   *
   * @param options.isAdmitted Whether it may wait in a full queue: for a later part of work that was already admitted.
   * @throws {HashingBusy} when the queue is full.
   */
  run<T>(work: () => Promise<T>, options?: { readonly isAdmitted?: boolean }): Promise<T>;
  /** @throws {HashingBusy} if {@link run} would throw it now. Call it before other work, to avoid wasting it. */
  assertRoom(): void;
  /** How many jobs wait for their turn. */
  readonly waiting: number;
  /** Does so many jobs at a time from now on. */
  resize(concurrency: number): void;
}

/** Makes a queue that does `concurrency` jobs at a time, in order, while at most `maxWaiting` wait. */
export function createHashQueue({
  concurrency,
  maxWaiting,
}: {
  concurrency: number;
  maxWaiting: number;
}): HashQueue {
  let atOnce = concurrency;
  const waiting: (() => void)[] = [];
  let underWay = 0;

  function assertRoom() {
    if (underWay >= atOnce && waiting.length >= maxWaiting) throw new HashingBusy();
  }

  return {
    assertRoom,
    resize(size) {
      atOnce = size;
    },
    get waiting() {
      return waiting.length;
    },
    async run(work, { isAdmitted = false } = {}) {
      if (!isAdmitted) assertRoom();
      if (underWay < atOnce) underWay += 1;
      // A finished job passes its place to the next one, so that a new job cannot overtake waiting ones.
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else underWay -= 1;
      }
    },
  };
}

/** How many passwords wait to be hashed in a process; beyond that they are refused. */
export const maxWaitingPasswords = 100;

// libuv's default. Signatures, name look-ups and files go there too, and find a thread free.
const threads = 4;

const concurrencyOf = (workers: number): number =>
  Math.max(1, Math.min(Math.floor((availableParallelism() - 1) / workers), threads - 2));

/**
 * Hashes the passwords of this process, but for checks of imported digests, which have a queue of one thread. One thread
 * stays free for everything else, and here one core: without this, 500 sign-ins at once delayed a token request by 5.9 s
 * on a 2-core machine. The last in a full queue waits some seconds.
 */
export const hashQueue: HashQueue = createHashQueue({
  concurrency: concurrencyOf(1),
  maxWaiting: maxWaitingPasswords,
});

/** Leaves the other workers of this machine their share of the cores. */
export const shareHashQueue = (workers: number): void => hashQueue.resize(concurrencyOf(workers));
