import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartError } from '../errors.ts';
import { OffsetAdapter } from './connections/adapter.ts';
import {
  type Address,
  createEndpoint,
  type Endpoint,
  identityOf,
  sharesBackends,
  stateOf,
} from './connections/endpoint.ts';
import {
  type Fitness,
  fitnessOf,
  type Lack,
  lacksOfHolding,
  lacksOfMigrating,
} from './connections/fitness.ts';
import { isolation, settingOf, TransactionPool } from './connections/transaction-connection.ts';
import { keepWriters, type WatchedConfig } from './connections/watch.ts';
import type { Sql } from './sql.ts';

/**
 * The settings that every statement relies on. A server, a database, a role or a pooler may set others for its sessions;
 * so the service states its own on each connection, or in each transaction where a pooler shares sessions.
 *
 * It does not state `search_path`, which says where its tables are, nor `default_transaction_read_only`, by which an
 * operator stops writes.
 */
export const sessionSettings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  transform_null_equals: 'off',
  row_security: 'on',
  default_transaction_isolation: isolation,
  // A little longer than the service itself waits for an answer.
  statement_timeout: '30s',
  // A statement that waits for a row keeps its connection from others.
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '30s',
  idle_session_timeout: '0',
} as const;

/** What a connection outside of the pools states: nothing ends it that waits for its turn or for a notification. */
const stateOwn = settingOf({ ...sessionSettings, statement_timeout: '0', lock_timeout: '0' });

/** Connects a client with a session of its own, and states its settings. */
export async function connectStated(client: pg.Client): Promise<void> {
  await client.connect();
  await client.query(stateOwn);
}

/** A pool's settings. */
export interface PoolOptions {
  /** Makes its connections. Those that are not watched have no time limit for statements. */
  readonly endpoint: Endpoint;
  readonly size: number;
  /** Gets the error of an idle connection that broke; the pool replaces the connection. */
  readonly onError: (error: Error) => void;
  /** Whether a pooler shares its sessions with others. */
  readonly isShared?: boolean;
  /** Settings of each connection, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** On watched connections, how long a statement may go without an answer. */
  readonly longestMs?: WatchedConfig['longestMs'];
}

/** The longest wait for a free connection of the pool. After that the work is refused. */
export const poolWaitMs = 5_000;

/** Creates a pool. It connects on first use. */
export function openPool({
  endpoint,
  size,
  onError,
  isShared = false,
  settings = {},
  longestMs,
}: PoolOptions): TransactionPool {
  const pool = new TransactionPool({
    max: size,
    connectionTimeoutMillis: poolWaitMs,
    application_name: 'signet',
    Client: endpoint.Client,
    ...(longestMs === undefined ? {} : { longestMs }),
    isShared,
    settings: { ...sessionSettings, ...settings },
  });
  pool.on('error', onError);
  keepWriters(pool);
  // For a moment between the pool and its user, nobody listens for errors. The next statement reports them.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

/** The addresses of a database; one is past the pooler, if there is one. */
export interface Addresses extends Address {
  readonly directUrl?: string | undefined;
}

/**
 * Checks that the database answers, can be written and can hold the service, and that what needs a session of its own
 * gets one, in the same database.
 *
 * @throws {StartError} with the reason; never with a URL, which holds a password.
 */
export async function assertReachable({ directUrl, ...address }: Addresses): Promise<Fitness> {
  assertOwnSchema(address.url);
  const { fitness, identity } = await assertWritable('DATABASE_URL', address);
  if (directUrl === undefined) {
    if (await isShared('DATABASE_URL', address)) {
      throw new StartError(
        'DATABASE_URL leads through a pooler in transaction mode: DATABASE_DIRECT_URL must lead past it',
      );
    }
    return fitness;
  }
  const direct = { ...address, url: directUrl };
  const directly = await assertWritable('DATABASE_DIRECT_URL', direct);
  if (directly.identity !== identity) {
    throw new StartError(
      'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases: both must lead to the same one',
    );
  }
  if (await isShared('DATABASE_DIRECT_URL', direct)) {
    throw new StartError(
      'DATABASE_DIRECT_URL leads through a pooler in transaction mode too: it must lead past it',
    );
  }
  return directly.fitness;
}

/** The parameter of Prisma's own URLs, which the driver does not know. */
function assertOwnSchema(url: string): void {
  const schema = /[?&]schema=([^&]*)/.exec(url)?.[1];
  if (schema === undefined || schema === 'public') return;
  throw new StartError(
    `DATABASE_URL names the schema ${schema}, and the service uses the schema public alone: leave \`schema\` out, and give it a database of its own`,
  );
}

/** @throws {StartError} unless the role may migrate the database; nothing is changed. */
export async function assertMayMigrate({ Client }: Endpoint): Promise<void> {
  const client = new Client();
  client.on('error', () => undefined);
  await client.connect();
  try {
    const [lack] = lacksOfMigrating(await fitnessOf(client));
    if (lack) throw new StartError(lineOf('the database', lack));
  } finally {
    await client.end();
  }
}

const lineOf = (what: string, { message, advice }: Lack) =>
  `${what} cannot be used: ${message} ${advice}`;

async function assertWritable(
  variable: string,
  address: Address,
): Promise<{ readonly fitness: Fitness; readonly identity: string }> {
  const client = new (createEndpoint(address).Client)({
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
  // The connection may break again while it closes.
  client.on('error', () => undefined);
  const { state, ...found } = await reached(variable, async () => {
    try {
      await client.connect();
      return {
        state: await stateOf(client),
        fitness: await fitnessOf(client),
        identity: await identityOf(client),
      };
    } finally {
      await client.end();
    }
  });
  if (state !== 'ready') throw new StartError(`${variable} cannot be written: it is ${state}`);
  const [lack] = lacksOfHolding(found.fitness);
  if (lack) throw new StartError(lineOf(variable, lack));
  return found;
}

const isShared = (variable: string, address: Address) =>
  reached(variable, () => sharesBackends(createEndpoint(address)));

const reached = <T>(variable: string, reach: () => Promise<T>): Promise<T> =>
  reach().catch((cause: NodeJS.ErrnoException) => {
    throw new StartError(`${variable} cannot be reached: ${cause.message || cause.code}`, {
      cause,
    });
  });

/** Runs work in one process at a time for each name. */
export async function withAdvisoryLock<T>(
  { Client }: Endpoint,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = new Client();
  // The running statement reports the error, or the next one does.
  client.on('error', () => undefined);
  await connectStated(client);
  try {
    // A statement that waits keeps a snapshot, for whose end an index that is built beside writers would wait.
    await tryLock(client, name);
    return await work();
  } finally {
    await client.end();
  }
}

/** Creates a separate connection, not yet connected, with a name that the database shows. */
export type OpenClient = (applicationName: string) => pg.Client;

const turnMs = 2_000;

/**
 * Runs long work in one process at a time for each name. The lock belongs to the session, because an open transaction
 * would hold up the readers of the event log. It is polled for, because a waiting statement keeps a snapshot, and a
 * snapshot keeps all dead rows from being removed.
 */
export async function takeTurns(
  { open, name, onError }: { open: OpenClient; name: string; onError: (error: Error) => void },
  stopped: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  while (!stopped.aborted) {
    const lost = new AbortController();
    const client = open(`signet ${name}`);
    client.on('error', onError);
    client.once('end', () => lost.abort());
    try {
      await connectStated(client);
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

/** Waits for a lock of the session, unless it is stopped. Returns whether it has the lock. */
async function tryLock(
  client: pg.Client,
  name: string,
  stopped: AbortSignal = new AbortController().signal,
): Promise<boolean> {
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

/** The connections of a pool, and the work that waits for one. */
export interface PoolState {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
}

/** The state of a pool now. */
export const stateOfPool = ({ totalCount, idleCount, waitingCount }: pg.Pool): PoolState => ({
  inUse: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});

/** Prisma's view of a pool. */
export const poolAdapter = (pool: pg.Pool) => new OffsetAdapter(pool);

/** Runs single statements on a pool. */
export const poolSql = (pool: pg.Pool): Sql => ({
  async query<Row>(name: string, text: string, values: readonly unknown[]) {
    const { rows } = await pool.query({ name, text, values: [...values] });
    return rows as Row[];
  },
});
