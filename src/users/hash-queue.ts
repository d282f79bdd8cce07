import { availableParallelism } from 'node:os';
import { GraphQLError } from 'graphql';
import { createQueue, type Queue } from '../admission/queue.ts';
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

/** How many passwords of people wait to be hashed in a process, and as many of the management API; more are refused. */
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
export const hashQueue: Queue = createQueue({
  concurrency: concurrencyOf(1),
  maxWaiting: maxWaitingPasswords,
  busy: () => new HashingBusy(),
});

/** Leaves the other workers of this machine their share of the cores. */
export const shareHashQueue = (workers: number): void => hashQueue.resize(concurrencyOf(workers));
