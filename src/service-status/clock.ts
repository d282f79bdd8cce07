import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Clock, steadyClock, systemClock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { addGauge } from '../metrics/metrics.ts';
import { repeat } from '../scheduler.ts';

const everyMs = 5_000;
/** How far a machine's clock may be from the database's, either way, in milliseconds. */
export const allowedMs = 5_000;
/** At the start and after a change: the quickest answer tells most. */
const questions = 5;

interface Parts {
  readonly database: Pick<Database, 'kind' | 'sql'>;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** The database's clock, as this process reckons it. */
export interface FollowedClock extends Clock {
  /** Stops asking. */
  close(): Promise<void>;
}

/** By how much the steady clock is ahead of the database's, in milliseconds: in this interval. */
interface Ahead {
  readonly least: number;
  readonly most: number;
}

/**
 * Asks the database for its time, which it said between the moments at which it was asked and answered. So the
 * difference of the clocks is known to that interval.
 */
async function askAhead({ sql }: Parts['database']): Promise<Ahead> {
  const asked = steadyClock.now().getTime();
  const [row] = await sql.query<{ ms: string }>(
    'clock',
    'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS "ms"',
    [],
  );
  const answered = steadyClock.now().getTime();
  const time = Number(row?.ms);
  // Its instants are whole milliseconds.
  return { least: asked - time, most: answered + 1 - time };
}

/** The difference after several questions, of which the first may have been asked already. */
async function measureAhead(database: Parts['database'], first?: Ahead): Promise<number> {
  let { least, most } = first ?? (await askAhead(database));
  for (let question = 1; question < questions; question += 1) {
    const next = await askAhead(database);
    if (next.most - next.least < most - least) ({ least, most } = next);
  }
  return (least + most) / 2;
}

/** The database's clock, for a process that soon ends. The embedded database has the machine's. */
export async function readClock(database: Parts['database']): Promise<Clock> {
  if (database.kind === 'embedded') return systemClock;
  const aheadMs = await measureAhead(database);
  return { now: () => new Date(steadyClock.now().getTime() - aheadMs) };
}

/**
 * Follows the clock of the database, so that what one node writes and another compares is of one clock. Between two
 * questions it goes by the steady clock. A difference that may still be right is kept: its errors would make time jump.
 * The embedded database has the machine's clock.
 */
export async function followClock(parts: Parts): Promise<FollowedClock> {
  const { database, log, metrics } = parts;
  let aheadMs = 0;
  let isFar = false;
  const now = () => new Date(steadyClock.now().getTime() - aheadMs);
  const isEmbedded = database.kind === 'embedded';
  const offsetMs = () => (isEmbedded ? 0 : systemClock.now().getTime() - now().getTime());
  addGauge(metrics, 'signet_clock_offset_seconds', (gauge) => gauge.set(offsetMs() / 1000));
  if (isEmbedded) return { ...systemClock, close: async () => undefined };

  const tell = () => {
    const apartMs = offsetMs();
    if (isFar === Math.abs(apartMs) > allowedMs) return;
    isFar = !isFar;
    const seconds = Math.round(apartMs / 100) / 10;
    if (isFar) log.warn({ seconds }, 'this machine’s clock is ahead of the database’s, or behind');
    else log.info({ seconds }, 'this machine’s clock and the database’s agree again');
  };
  const follow = async () => {
    const first = await askAhead(database);
    if (aheadMs < first.least || aheadMs > first.most)
      aheadMs = await measureAhead(database, first);
    tell();
  };
  await follow();
  const close = repeat(everyMs, follow, (error) =>
    // Whoever uses the database says that it is away.
    log.debug({ err: error }, 'the database’s clock could not be read'),
  );
  return { now, close };
}
