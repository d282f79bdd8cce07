import pg from 'pg';
import { eventually } from '../wait.ts';

/** Keeps every change half written: its rows are, its event is not. */
export interface HalfWay {
  /** Resolves when so many changes have come half way. */
  reached(count: number): Promise<void>;
  /** Lets them go on, unless a disaster has ended them. */
  release(): Promise<void>;
}

/** Lets nobody record an event, on PostgreSQL. They wait for some seconds before they give up. */
export async function stopHalfWay(url: string): Promise<HalfWay> {
  const client = new pg.Client({ connectionString: url });
  // A disaster breaks this connection too.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE "Event" IN SHARE MODE');
  const countWaiting = async () => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_locks WHERE "relation" = '"Event"'::regclass AND NOT "granted"`,
    );
    return rows[0]?.count ?? 0;
  };
  return {
    reached: (count) =>
      eventually(async () => {
        const waiting = await countWaiting();
        if (waiting < count) throw new Error(`${waiting} of ${count} changes wait half way.`);
      }, 5),
    release: () => client.end(),
  };
}
