import { AsyncLocalStorage } from 'node:async_hooks';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Sql } from './sql.ts';

declare const insideTransaction: unique symbol;

/**
 * A client inside an open transaction. The root client also satisfies Prisma's own type, but not this one: code that
 * needs a transaction cannot be called without one.
 */
export type Transaction = Prisma.TransactionClient & { readonly [insideTransaction]: true };

/** One transaction around all those of an operation: each is a part of it. */
export interface Around {
  /** The open transaction; undefined before its first part and once it is over. */
  readonly tx: Transaction | undefined;
  /** Runs statements in it. */
  readonly sql: Sql | undefined;
  /** Whether parts can still be added. */
  readonly isOver: boolean;
  /** Whether it is undone at its end. */
  readonly isRehearsal: boolean;
  /** Keeps work for after the commit; it is left out if there is none. */
  afterwards(work: () => Promise<void>): void;
  /** Runs work as a part: if the work fails, what it wrote is undone and the transaction goes on. */
  part<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

const arounds = new AsyncLocalStorage<Around>();

/** The transaction around the work under way; undefined if there is none. */
export function aroundHere(): Around | undefined {
  const around = arounds.getStore();
  return around?.isOver ? undefined : around;
}

/** Runs work whose transactions are parts of one. */
export const runWithin = <T>(around: Around, work: () => Promise<T>): Promise<T> =>
  arounds.run(around, work);

/** Whether the work under way is undone at its end. */
export const isRehearsal = (): boolean => aroundHere()?.isRehearsal === true;

/** Does something once all that the work under way has written is committed; nothing if it is undone. */
export async function onceCommitted(work: () => Promise<void>): Promise<void> {
  const around = aroundHere();
  if (around) around.afterwards(work);
  else await work();
}

/** A client that reads what the transaction around the work has written, if there is one. */
export const clientHere = (prisma: PrismaClient): PrismaClient =>
  // It has all of a client but the means to open another transaction, which `transaction` alone uses.
  (aroundHere()?.tx as PrismaClient | undefined) ?? prisma;

/** Runs statements in the transaction around the work, if there is one. */
export const sqlHere = (sql: Sql): Sql => ({
  query: (name, text, values) => (aroundHere()?.sql ?? sql).query(name, text, values),
});
