import { tryLockName } from './db/lock.ts';
import { type Transaction, transaction } from './db/transaction.ts';
import type { Services } from './services.ts';

/**
 * Does something on this node again and again, by the machine's clock. A run that is due while another is under way is
 * left out.
 *
 * @param onError Told what made a run fail; the next run comes all the same.
 * @returns Stops; resolves when no run is under way.
 */
export function repeat(
  everyMs: number,
  run: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= run()
      .catch(onError)
      .finally(() => {
        underWay = undefined;
      });
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

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

  async function work({ name, run }: Job): Promise<void> {
    const runAlone = (tx: Transaction) =>
      tryLockName(tx, `signet:job:${name}`).then((isMine) => isMine && run(tx));
    while (!isStopped && (await transaction(database, runAlone)));
  }

  const stops = jobs.map((job) =>
    repeat(
      job.everyMs,
      () => work(job),
      (error) => log.error({ err: error, job: job.name }, 'a job failed'),
    ),
  );
  return async () => {
    isStopped = true;
    await Promise.all(stops.map((stop) => stop()));
  };
}
