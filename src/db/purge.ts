import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Transaction } from './transaction.ts';

/** Deletes some of what is due, in a short transaction, and returns whether there is more to delete at once. */
export type Purge = (tx: Transaction) => Promise<boolean>;

interface Context {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The rows that a purge deletes: those with an instant, in one of their columns, that is some time ago. */
export interface Due {
  readonly table: Prisma.ModelName;
  readonly column: string;
  /** How long a row stays after that instant, in milliseconds; 0 by default. */
  readonly keptMs?: number;
  /** A condition on the row `r`. By default every row may be deleted. */
  readonly where?: Prisma.Sql;
  /**
   * A query for the instant of the oldest row that is due: not after `n."due"`. `n."now"` is the earlier of the two
   * clocks. By default the rows are read in the order of their instants.
   */
  readonly oldest?: Prisma.Sql;
  /**
   * Deletes at most {@link purgeBatchSize} rows whose instant is not after the line, nor before that of the oldest, and
   * returns their number.
   */
  readonly deleteUpTo?: (tx: Transaction, line: Date, oldest: Date) => Promise<number>;
}

/** Small, so that a backlog neither holds locks nor delays a vacuum for long. */
export const purgeBatchSize = 1_000;

const dayMs = 24 * 3_600_000;
const waitMs = 3_600_000;

/**
 * Creates a purge that does not delete everything when a clock is wrong. A row is due when the process's and the
 * database's clock both say so. A run deletes at most one day of rows, counted from the oldest. If more are due, it
 * logs a warning, and the next day of rows follows an hour later by the monotonic clock.
 */
export function createPurge({ clock, log }: Context, due: Due): Purge {
  const { table, column, keptMs = 0, where = Prisma.sql`true` } = due;
  const [name, instant] = [Prisma.raw(`"${table}"`), Prisma.raw(`r."${column}"`)];
  const byInstant = Prisma.sql`
    SELECT ${instant} FROM ${name} r WHERE ${instant} <= n."due" AND ${where} ORDER BY ${instant} LIMIT 1`;
  let run: { readonly oldest: Date; readonly line: Date } | undefined;
  let isCut = false;
  let notBeforeMs = Number.NEGATIVE_INFINITY;

  /** The instants between which this run deletes. All its batches share them; otherwise each would delete another day. */
  async function findRun(tx: Transaction): Promise<typeof run> {
    const [found] = await tx.$queryRaw<{ due: Date; oldest: Date | null }[]>`
      SELECT n."due", (${due.oldest ?? byInstant}) AS "oldest"
        FROM (SELECT c."now", c."now" - ${keptMs}::float8 * interval '1 millisecond' AS "due"
                FROM (SELECT least(${clock.now()}::timestamptz, clock_timestamp()) AS "now") c) n`;
    if (!found?.oldest) return undefined;
    const dayLater = found.oldest.getTime() + dayMs;
    isCut = dayLater < found.due.getTime();
    return { oldest: found.oldest, line: isCut ? new Date(dayLater) : found.due };
  }

  const deleteRows = (tx: Transaction, upTo: Date) => tx.$executeRaw`
    DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
      SELECT r.ctid FROM ${name} r
       WHERE ${instant} <= ${upTo}::timestamptz AND ${where} LIMIT ${purgeBatchSize}))`;
  const { deleteUpTo = deleteRows } = due;

  return async (tx) => {
    if (run === undefined) {
      if (performance.now() < notBeforeMs) return false;
      run = await findRun(tx);
      if (run === undefined) return false;
    }
    if ((await deleteUpTo(tx, run.line, run.oldest)) >= purgeBatchSize) return true;
    if (isCut) {
      notBeforeMs = performance.now() + waitMs;
      log.warn({ table, upTo: run.line }, 'more than a day of rows is due; is the clock right?');
    }
    run = undefined;
    return false;
  };
}

/** Runs purges one after the other, each in batches of its own. */
export function purgeAll(purges: readonly Purge[]): Purge {
  return async (tx) => {
    let isMore = false;
    for (const purge of purges) isMore = (await purge(tx)) || isMore;
    return isMore;
  };
}
