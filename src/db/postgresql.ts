import { setTimeout as delay } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { StartError } from '../errors.ts';
import type { Sql } from './sql.ts';
import { TransactionPool } from './transaction-connection.ts';

/** A pool's settings. */
export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  /** Gets the error of an idle connection that broke; the pool replaces the connection. */
  readonly onError: (error: Error) => void;
  /** Settings of each connection, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Opens a pool; it connects when a connection is needed. */
export function openPool({ url, size, onError, settings = {} }: PoolOptions): TransactionPool {
  // Whoever waits for a row holds a connection that others wait for.
  const all = { idle_in_transaction_session_timeout: '30s', lock_timeout: '10s', ...settings };
  const pool = new TransactionPool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: 30_000,
    application_name: 'signet',
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  });
  pool.on('error', onError);
  // For a moment between the pool and its user, nobody listens for errors. The next statement reports an error from
  // then.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/**
 * Checks that the database answers.
 *
 * @throws {StartError} with the reason; never with the URL, which holds a password.
 */
export async function assertReachable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The connection may break again while it closes.
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

/** Does some work while no other process does work with the same name. */
export async function withAdvisoryLock<T>(
  url: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // The statement that runs reports the error, or the next one does.
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
 * Does some long work while no other process does work with the same name. The lock belongs to the session, because a
 * transaction's would hold up the readers of the event log. It polls for the lock, because a waiting statement keeps a
 * snapshot, and a snapshot keeps every dead row of the database.
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
