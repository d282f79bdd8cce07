import { availableParallelism } from 'node:os';
import { GraphQLError } from 'graphql';
import { requestError } from '../graphql/request-error.ts';

/** Too many passwords wait to be hashed: the same request may succeed a little later. */
export class HashingBusy extends GraphQLError {
  constructor() {
    const { message, extensions } = requestError(
      'RATE_LIMITED',
      'Too many passwords are being checked. Try again in a few seconds.',
    );
    super(message, { extensions });
  }
}

/** Does a limited number of jobs at a time. */
export interface HashQueue {
  /**
   * Does some work when its turn comes.
   *
   * @param options.isAdmitted Whether it may wait in a full queue: for a later part of work that was already admitted.
   * @throws {HashingBusy} when the queue is full.
   */
  run<T>(work: () => Promise<T>, options?: { readonly isAdmitted?: boolean }): Promise<T>;
  /** @throws {HashingBusy} if {@link run} would now. Call it before other work that would be in vain. */
  assertRoom(): void;
}

/** Makes a queue that does `concurrency` jobs at a time, in order, while at most `maxWaiting` wait. */
export function createHashQueue({
  concurrency,
  maxWaiting,
}: {
  concurrency: number;
  maxWaiting: number;
}): HashQueue {
  const waiting: (() => void)[] = [];
  let underWay = 0;

  function assertRoom() {
    if (underWay >= concurrency && waiting.length >= maxWaiting) throw new HashingBusy();
  }

  return {
    assertRoom,
    async run(work, { isAdmitted = false } = {}) {
      if (!isAdmitted) assertRoom();
      if (underWay < concurrency) underWay += 1;
      // A finished job hands its place to the next one, so that a new job cannot overtake those that wait.
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

/**
 * Hashes every password of this process. One core and one thread stay free for everything else: without this, 500
 * sign-ins at once delayed a token request by 5.9 s on a 2-core machine. The last in a full queue waits some seconds.
 */
export const hashQueue: HashQueue = createHashQueue({
  concurrency: Math.max(1, Math.min(availableParallelism() - 1, threads - 1)),
  maxWaiting: maxWaitingPasswords,
});
