import { setTimeout as delay } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { StartError } from '../errors.ts';
import type { Sql } from './sql.ts';

/** A pool's settings. */
export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** Told of a connection that broke while idle; the pool replaces it. */
  readonly onError: (error: Error) => void;
  /** Settings that each connection starts with, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Opens a pool of connections, none of them before it is needed. */
export function openPool({ url, size, onError, settings = {} }: PoolOptions): pg.Pool {
  // Who waits for a row holds a connection that others wait for.
  const all = { idle_in_transaction_session_timeout: '30s', lock_timeout: '10s', ...settings };
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: 30_000,
    application_name: 'signet',
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  });
  pool.on('error', onError);
  // Between the pool and who takes a connection from it nobody listens for a moment. What broke then is told to the
  // statement that comes.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/**
 * Finds out whether the database answers.
 *
 * @throws {StartError} saying why not; never the URL, which holds a password.
 */
export async function assertReachable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The connection may break again while it is being closed.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    throw new StartError(`DATABASE_URL cannot be reached: ${message || code}`, { cause });
  } finally {
    await client.end();
  }
}

/** Does some work while no other process does work under the same name. */
export async function withAdvisoryLock<T>(
  url: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // The statement under way is told, or the next one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    return await work();
  } finally {
    await client.end();
  }
}

const turnMs = 2_000;

/**
 * Does some long work while no other process does work under the same name. The lock is the session's and not a
 * transaction's, which would hold up the readers of the event log; waiting for it asks again and again, since a
 * statement that waits keeps a snapshot, and with it every dead row of the database.
 */
export async function takeTurns(
  { url, name, onError }: { url: string; name: string; onError: (error: Error) => void },
  stopped: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!stopped.aborted) {
    const lost = new AbortController();
    const client = new pg.Client({ connectionString: url, application_name: `signet ${name}` });
    client.on('error', onError);
    client.once('end', () => lost.abort());
    try {
      await client.connect();
      const isMine = await tryLock(client, name, stopped);
      if (isMine) await work(AbortSignal.any([stopped, lost.signal]));
    } catch (error) {
      onError(error as Error);
    } finally {
      await client.end().catch(onError);
    }
    await delay(turnMs, undefined, { signal: stopped }).catch(() => undefined);
  }
}

async function tryLock(client: pg.Client, name: string, stopped: AbortSignal): Promise<boolean> {
  while (!stopped.aborted) {
    const { rows } = await client.query<{ isMine: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "isMine"',
      [name],
    );
    if (rows[0]?.isMine) return true;
    await delay(turnMs, undefined, { signal: stopped }).catch(() => undefined);
  }
  return false;
}

/** Prisma's view of a pool. */
export const poolAdapter = (pool: pg.Pool) => new PrismaPg(pool);

/** Runs single statements on a pool. */
export const poolSql = (pool: pg.Pool): Sql => ({
  async query<Row>(name: string, text: string, values: readonly unknown[]) {
    const { rows } = await pool.query({ name, text, values: [...values] });
    return rows as Row[];
  },
});
