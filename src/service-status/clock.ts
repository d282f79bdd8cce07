import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { addGauge } from '../metrics/metrics.ts';
import { repeat } from '../scheduler.ts';

const everyMs = 5_000;
/** How far a machine's clock may be from the database's before it says so. */
const allowedMs = 5_000;
/** At the start and after a change: the quickest answer tells most. */
const questions = 5;

interface Parts {
  readonly database: Pick<Database, 'kind' | 'sql'>;
  readonly machine: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** The database's clock, as this process reckons it. */
export interface FollowedClock extends Clock {
  /** Stops asking. */
  close(): Promise<void>;
}

/**
 * Follows the clock of the database, so that what one node writes and another compares is of one clock. The database
 * said its time between the moments at which it was asked and answered; so the difference of the clocks is known to that
 * interval. A difference that still lies in it is kept: its errors would make time jump. The embedded database has the
 * machine's clock.
 */
export async function followClock(parts: Parts): Promise<FollowedClock> {
  const { database, machine, log, metrics } = parts;
  // By how much the machine is ahead.
  let aheadMs = 0;
  let isFar = false;
  addGauge(metrics, 'signet_clock_offset_seconds', (gauge) => gauge.set(aheadMs / 1000));
  const now = () => new Date(machine.now().getTime() - aheadMs);
  if (database.kind === 'embedded') return { now, close: async () => undefined };

  const ask = async () => {
    const asked = machine.now().getTime();
    const [row] = await database.sql.query<{ ms: string }>(
      'clock',
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS "ms"',
      [],
    );
    const answered = machine.now().getTime();
    const time = Number(row?.ms);
    // The machine's instants are whole milliseconds.
    return { least: asked - time, most: answered + 1 - time };
  };
  const measure = async () => {
    const first = await ask();
    if (aheadMs >= first.least && aheadMs <= first.most) return;
    let { least, most } = first;
    for (let question = 1; question < questions; question += 1) {
      const next = await ask();
      if (next.most - next.least < most - least) ({ least, most } = next);
    }
    aheadMs = (least + most) / 2;
  };
  const tell = () => {
    if (isFar === Math.abs(aheadMs) > allowedMs) return;
    isFar = !isFar;
    const seconds = Math.round(aheadMs / 100) / 10;
    if (isFar) log.warn({ seconds }, 'this machine’s clock is ahead of the database’s, or behind');
    else log.info({ seconds }, 'this machine’s clock and the database’s agree again');
  };
  const follow = async () => {
    await measure();
    tell();
  };
  await follow();
  const close = repeat(everyMs, follow, (error) =>
    // Whoever uses the database says that it is away.
    log.debug({ err: error }, 'the database’s clock could not be read'),
  );
  return { now, close };
}
