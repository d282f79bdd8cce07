import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import { type Around, aroundHere, runWithin, type Transaction } from './around.ts';

import type { TransactionConnection } from './connections/transaction-connection.ts';
import type { Database } from './database.ts';
import { transactByDriver } from './driver-transaction.ts';
import type { HintTopic } from './hints.ts';
import { clientSql, type Sql, sqlState } from './sql.ts';
import { Told } from './told.ts';

export type { Transaction } from './around.ts';

const attempts = 6;

// Transactions that send hints after their commit.
const hinting = new WeakMap<Transaction, Set<HintTopic>>();

/** Sends a hint after this transaction has committed; none if it rolls back. */
export function hintAfterCommit(tx: Transaction, topic: HintTopic): void {
  hinting.set(tx, (hinting.get(tx) ?? new Set<HintTopic>()).add(topic));
}

// None on the embedded database.
const connections = new WeakMap<Transaction | PrismaClient, TransactionConnection>();

/**
 * Runs prepared statements where a client of Prisma's would run them, in its transaction or outside of one, without
 * Prisma, which takes several times the driver's CPU. For the few statements that most requests need.
 */
export const sqlOf = (client: Transaction | PrismaClient): Sql =>
  connections.get(client) ?? clientSql(client);

/**
 * Writes without waiting for the answer. The statement is sent with the next one, or with COMMIT. If it fails, the
 * transaction fails.
 */
export async function writeAhead(
  tx: Transaction,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  const connection = connections.get(tx);
  if (connection) connection.send(name, text, values);
  else await tx.$executeRawUnsafe(text, ...values);
}

const commitChecks = new AsyncLocalStorage<() => void>();

/**
 * Runs a function whose transactions commit only if the check does not throw after their work.
 */
export const withCommitCheck = <T>(check: () => void, run: () => T): T =>
  commitChecks.run(check, run);

type Transacting = Pick<Database, 'prisma' | 'hints' | 'lend'>;

/**
 * Runs work in one transaction: all of it is written, or nothing. After a deadlock or a serialization failure the
 * work runs again from the start, so it must have no effects except through `tx`. Within {@link inOneTransaction} it is
 * a part of that one.
 *
 * @param work Ends with the proof that what it changed is told.
 * @returns The result that comes with the proof.
 */
export const transaction = <T>(
  database: Transacting,
  work: (tx: Transaction) => Promise<Told<T>>,
): Promise<T> => quietTransaction(database, async (tx) => Told.resultOf(await work(tx)));

/** Like {@link transaction}, for rows that no event tells of: those of queues, limits, codes and the service itself. */
export function quietTransaction<T>(
  database: Transacting,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const checked = async (tx: Transaction) => {
    const result = await work(tx);
    commitChecks.getStore()?.();
    return result;
  };
  const around = aroundHere();
  return around ? around.part(checked) : again(() => transactOnce(database, checked));
}

/** What belongs to work in one transaction. */
interface Whole<T, R> {
  /** Runs before the first part. */
  readonly first?: (tx: Transaction) => Promise<void>;
  /** Runs after the work, in the transaction if one was opened. The result is its. */
  readonly last: (result: T, tx: Transaction | undefined) => Promise<R>;
  /** All of it is undone at the end. */
  readonly isRehearsal?: boolean;
}

/**
 * Runs work whose transactions are parts of one, which is opened at the first of them and ends with the work. After a
 * deadlock or a serialization failure the work runs again from the start. Within another such transaction it is one
 * part of that.
 */
export function inOneTransaction<T, R>(
  database: Transacting,
  work: () => Promise<T>,
  whole: Whole<T, R>,
): Promise<R> {
  const outer = aroundHere();
  if (outer) return asOnePart(outer, work, whole);
  const { first, last, isRehearsal = false } = whole;
  return again(async () => {
    const around = new OpenTransaction(begin(database, first), isRehearsal);
    try {
      // Nothing is written beside a transaction that is to be undone.
      if (isRehearsal) await around.open();
      const result = await last(await runWithin(around, work), around.tx);
      await around.end(isRehearsal ? 'undo' : 'commit');
      if (!isRehearsal) for (const work of around.kept) await work();
      return result;
    } catch (error) {
      await around.end('undo');
      throw error;
    }
  });
}

/** Carries the result of a part that is undone. */
class UndonePart<R> extends Error {
  readonly result: R;

  constructor(result: R) {
    super();
    this.result = result;
  }
}

async function asOnePart<T, R>(
  outer: Around,
  work: () => Promise<T>,
  { first, last, isRehearsal = false }: Whole<T, R>,
): Promise<R> {
  try {
    return await outer.part(async (tx) => {
      await first?.(tx);
      const around = new OpenTransaction(async () => tx, isRehearsal || outer.isRehearsal);
      await around.open();
      const result = await last(await runWithin(around, work), tx).finally(() => {
        around.isOver = true;
      });
      if (isRehearsal) throw new UndonePart(result);
      for (const kept of around.kept) outer.afterwards(kept);
      return result;
    });
  } catch (error) {
    if (error instanceof UndonePart) return error.result as R;
    throw error;
  }
}

class Undone extends Error {}

/** Opens a transaction that stays open until it is told how to end. */
const begin =
  (database: Transacting, first?: (tx: Transaction) => Promise<void>) =>
  (over: Promise<void>, ended: (end: Promise<void>) => void): Promise<Transaction> =>
    new Promise((resolve, reject) => {
      const end = transactOnce(database, async (tx) => {
        await first?.(tx);
        resolve(tx);
        await over;
      });
      end.catch(reject);
      ended(end);
    });

class OpenTransaction implements Around {
  tx: Transaction | undefined;
  sql: Sql | undefined;
  isOver = false;
  readonly isRehearsal: boolean;
  readonly kept: (() => Promise<void>)[] = [];
  readonly #begin: ReturnType<typeof begin>;
  readonly #over = Promise.withResolvers<void>();
  #opening: Promise<Transaction> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #lastPart: Promise<unknown> = Promise.resolve();

  constructor(beginning: ReturnType<typeof begin>, isRehearsal: boolean) {
    this.#begin = beginning;
    this.isRehearsal = isRehearsal;
  }

  /** Opens it, unless it is open. */
  open(): Promise<Transaction> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<Transaction> {
    const tx = await this.#begin(this.#over.promise, (end) => {
      this.#ended = end;
    });
    this.tx = tx;
    this.sql = sqlOf(tx);
    return tx;
  }

  afterwards(work: () => Promise<void>): void {
    this.kept.push(work);
  }

  part<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    // Savepoints are a stack: parts that were asked for side by side come after each other.
    const part = this.#lastPart.then(async () => {
      const tx = await this.open();
      await sqlOf(tx).query('', 'SAVEPOINT "part"', []);
      try {
        const result = await work(tx);
        await sqlOf(tx).query('', 'RELEASE SAVEPOINT "part"', []);
        return result;
      } catch (error) {
        await sqlOf(tx).query('', 'ROLLBACK TO SAVEPOINT "part"', []);
        // Else a part around this one would go back to this place alone.
        await sqlOf(tx).query('', 'RELEASE SAVEPOINT "part"', []);
        connections.get(tx)?.forget();
        throw error;
      }
    });
    this.#lastPart = part.catch(() => undefined);
    return part;
  }

  async end(how: 'commit' | 'undo'): Promise<void> {
    this.isOver = true;
    if (how === 'commit') this.#over.resolve();
    else this.#over.reject(new Undone());
    this.#over.promise.catch(() => undefined);
    await this.#ended.catch((error: unknown) => {
      if (how === 'commit') throw error;
    });
  }
}

async function transactOnce<T>(
  { prisma, hints, lend }: Transacting,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let committed: Transaction | undefined;
  const connection = await lend?.();
  const run = async (tx: Prisma.TransactionClient) => {
    committed = tx as Transaction;
    if (connection) connections.set(committed, connection);
    return work(committed);
  };
  const result = await (connection
    ? transactByDriver(prisma, connection, run)
    : prisma.$transaction(run));
  for (const topic of (committed && hinting.get(committed)) ?? []) hints.send(topic);
  return result;
}

/** Runs work again after a deadlock or a serialization failure. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !isTransient(error)) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2034') return true;
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/**
 * The name of the unique constraint or index that a write broke; undefined if it failed for another reason.
 *
 * For an index that stands beside one of the version before, it is the name of that one: the rule is the same, and
 * either may be the first to break.
 */
export function brokenConstraint(error: unknown): string | undefined {
  return brokenIndex(error)?.replace(/_folded_key$/, '_key');
}

function brokenIndex(error: unknown): string | undefined {
  // The driver, Prisma, and Prisma for a raw statement each report it differently.
  if (error instanceof pg.DatabaseError && error.code === '23505') return error.constraint;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  if (error.code !== 'P2002' && sqlState(error) !== '23505') return undefined;
  const text = JSON.stringify(error.meta);
  return /unique constraint \\?"([^"\\]+)/.exec(text)?.[1] ?? text;
}
