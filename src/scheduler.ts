import { tryLockName } from './db/lock.ts';
import { type Transaction, transaction } from './db/transaction.ts';
import type { Services } from './services.ts';

/** Work that is done again and again, by one node at a time. */
export interface Job {
  /** Its name in the log, and the name of its lock. */
  readonly name: string;
  readonly everyMs: number;
  /**
   * Does some of the work in one short transaction.
   *
   * @returns Whether there is more to do at once.
   */
  readonly run: (tx: Transaction) => Promise<boolean>;
}

/**
 * Starts running jobs by the machine's clock. A failed run is logged, and the job runs again at its next time.
 *
 * @returns A function that stops it; it resolves when no job is running.
 */
export function startScheduler(
  { database, log }: Pick<Services, 'database' | 'log'>,
  jobs: readonly Job[],
): () => Promise<void> {
  let isStopped = false;
  const underWay = new Map<Job, Promise<void>>();

  async function work(job: Job): Promise<void> {
    try {
      const runAlone = (tx: Transaction) =>
        tryLockName(tx, `signet:job:${job.name}`).then((isMine) => isMine && job.run(tx));
      while (!isStopped && (await transaction(database, runAlone)));
    } catch (error) {
      log.error({ err: error, job: job.name }, 'a job failed');
    }
  }

  const timers = jobs.map((job) =>
    setInterval(() => {
      if (underWay.has(job)) return;
      underWay.set(
        job,
        work(job).finally(() => underWay.delete(job)),
      );
    }, job.everyMs),
  );
  return async () => {
    isStopped = true;
    for (const timer of timers) clearInterval(timer);
    await Promise.all(underWay.values());
  };
}
