import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './database.ts';
import { transactByDriver } from './driver-transaction.ts';
import type { HintTopic } from './hints.ts';
import { prismaSql, type Sql } from './sql.ts';
import type { TransactionConnection } from './transaction-connection.ts';

declare const insideTransaction: unique symbol;

/**
 * A client inside an open transaction. The root client also satisfies Prisma's own type, but not this one: code that
 * needs a transaction cannot be called without one.
 */
export type Transaction = Prisma.TransactionClient & { readonly [insideTransaction]: true };

const attempts = 6;

// Transactions that send hints after their commit.
const hinting = new WeakMap<Transaction, Set<HintTopic>>();

/** Sends a hint after this transaction has committed; none if it rolls back. */
export function hintAfterCommit(tx: Transaction, topic: HintTopic): void {
  hinting.set(tx, (hinting.get(tx) ?? new Set<HintTopic>()).add(topic));
}

// None on the embedded database.
const connections = new WeakMap<Transaction, TransactionConnection>();

/**
 * Runs prepared statements in a transaction, without Prisma: for the few that most mutations need, where Prisma costs
 * several times as much CPU as the driver.
 */
export const sqlOf = (tx: Transaction): Sql => connections.get(tx) ?? prismaSql(tx);

/**
 * Writes without waiting for the answer: the statement travels with the next one, or with COMMIT. If it fails, so does
 * the transaction.
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

/**
 * Does some work in one transaction: all of it is written, or nothing. After a deadlock or a serialization failure the
 * work runs again from the start, so it must have no effects except through `tx`.
 */
export async function transaction<T>(
  { prisma, hints, lend }: Pick<Database, 'prisma' | 'hints' | 'lend'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      let committed: Transaction | undefined;
      const connection = await lend?.();
      const run = (tx: Prisma.TransactionClient) => {
        committed = tx as Transaction;
        if (connection) connections.set(committed, connection);
        return work(committed);
      };
      const result = await (connection
        ? transactByDriver(prisma, connection, run)
        : prisma.$transaction(run));
      for (const topic of (committed && hinting.get(committed)) ?? []) hints.send(topic);
      return result;
    } catch (error) {
      if (attempt === attempts || !isTransient(error)) throw error;
      await delay(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** The SQLSTATE behind a database error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, originalCode, meta } = cause as {
      code?: unknown;
      originalCode?: unknown;
      meta?: { code?: unknown; driverAdapterError?: { cause?: { originalCode?: unknown } } };
    };
    const state =
      originalCode ?? meta?.driverAdapterError?.cause?.originalCode ?? meta?.code ?? code;
    if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && !/^P\d/.test(state))
      return state;
  }
  return undefined;
}

function isTransient(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2034') return true;
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/**
 * The name of the unique constraint or index that a write broke; undefined if it failed for another reason.
 */
export function brokenConstraint(error: unknown): string | undefined {
  // As the driver reports it; as Prisma does; and as Prisma does for a raw statement.
  if (error instanceof pg.DatabaseError && error.code === '23505') return error.constraint;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  if (error.code !== 'P2002' && sqlState(error) !== '23505') return undefined;
  const text = JSON.stringify(error.meta);
  return /unique constraint \\?"([^"\\]+)/.exec(text)?.[1] ?? text;
}
