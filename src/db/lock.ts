import { NotFoundError } from '../errors.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { sqlOf, type Transaction } from './transaction.ts';
import { userColumns } from './user-row.ts';

/**
 * Locks one record until the transaction ends, so that it cannot change between a read and a write. Call it first in a
 * transaction.
 *
 * The log is read in the order of transaction ids. Of two writers of one record, the second must not get its id before
 * the first has committed. Waiting for a row assigns an id early (PostgreSQL needs one to follow the row's new
 * version); waiting for an advisory lock does not. So both are taken, in this order.
 *
 * @throws {NotFoundError} when there is none.
 */
export async function lockRow(tx: Transaction, table: Prisma.ModelName, id: string): Promise<void> {
  const statement = lockStatement(table, '1 AS "found"');
  const rows = await sqlOf(tx).query(`lock-${table}`, statement, [id]);
  if (rows.length === 0) throw new NotFoundError(id);
}

/**
 * Locks one user as {@link lockRow} does, and reads it: as it is once the lock is held.
 *
 * @throws {NotFoundError} when there is none.
 */
export async function lockUser(tx: Transaction, id: string): Promise<User> {
  const [user] = await sqlOf(tx).query<User>('lock-user', lockStatement('User', userColumns), [id]);
  if (!user) throw new NotFoundError(id);
  return user;
}

/**
 * Locks users as {@link lockUser} does, and reads those that there are, by id. A transaction holds at most some hundred
 * at once: the locks of all sessions share a table of fixed size (`max_locks_per_transaction`).
 */
export async function lockUsers(tx: Transaction, ids: readonly string[]): Promise<User[]> {
  // All names before the first row, for the reason given at lockRow; in one order, so that two never wait for each other.
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended("id", 0))
      FROM unnest(${[...ids].sort()}::text[]) AS "asked" ("id")`;
  const rows = `SELECT ${userColumns} FROM "User" WHERE "id" = ANY ($1) ORDER BY "id" FOR UPDATE`;
  return sqlOf(tx).query<User>('lock-users', rows, [ids]);
}

const lockStatement = (table: Prisma.ModelName, columns: string) => `
  SELECT ${columns}
    FROM (SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) OFFSET 0) AS "held",
         "${table}" AS "record"
   WHERE "record"."id" = $1
     FOR UPDATE OF "record"`;

/** Holds a name until the transaction ends; others wait for it. */
export async function lockName(tx: Transaction, name: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** Holds a name until the transaction ends; returns false at once if another holds it. */
export async function tryLockName(tx: Transaction, name: string): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ isHeld: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isHeld"`;
  return row?.isHeld === true;
}
