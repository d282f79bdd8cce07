import { tryLockName } from './db/lock.ts';
import type { Purge } from './db/purge.ts';
import { sqlState } from './db/sql.ts';
import { quietTransaction, type Transaction } from './db/transaction.ts';
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
  /** Whether it runs at the start too, and not only once that time has passed. */
  readonly isAtStart?: boolean;
  /** Whether there may be work: asked before the database is. By default there may always be. */
  readonly isDue?: () => boolean;
  /**
   * Does some of the work in one short transaction.
   *
   * @returns Whether there is more to do at once.
   */
  readonly run: (tx: Transaction) => Promise<boolean>;
}

/** The jobs of a part. */
export type Jobs = (services: Services) => readonly Job[];

/** The job of a part that deletes what is due, each minute. */
export const purging =
  (name: string, purge: (services: Services) => Purge): Jobs =>
  (services) => [{ name: `purge-${name}`, everyMs: 60_000, run: purge(services) }];

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

  async function work({ name, isDue, run }: Job): Promise<void> {
    if (isDue?.() === false) return;
    const runAlone = (tx: Transaction) =>
      tryLockName(tx, `signet:job:${name}`).then((isMine) => isMine && run(tx));
    while (!isStopped && (await quietTransaction(database, runAlone)));
  }

  const report = ({ name }: Job, error: unknown) => {
    // Work on whole tables gives way to all others.
    if (sqlState(error) === '55P03')
      log.info({ job: name }, 'a job waits for its next time: a table is in use');
    else log.error({ err: error, job: name }, 'a job failed');
  };
  const first = jobs.filter(({ isAtStart }) => isAtStart);
  const firstRuns = first.map((job) => work(job).catch((error: unknown) => report(job, error)));
  const stops = jobs.map((job) =>
    repeat(
      job.everyMs,
      () => work(job),
      (error) => report(job, error),
    ),
  );
  return async () => {
    isStopped = true;
    await Promise.all([...firstRuns, ...stops.map((stop) => stop())]);
  };
}
