import { NotFoundError } from '../errors.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { sqlOf, type Transaction } from './transaction.ts';
import { userColumns } from './user-row.ts';
import { compareVersion, isVersioned } from './versions.ts';

/**
 * Locks one record until the transaction ends, so that it cannot change between a read and a write. Call it first in a
 * transaction.
 *
 * The log is read in the order of transaction ids. Of two writers of one record, the second must not get its id before
 * the first has committed. Waiting for a row assigns an id early (PostgreSQL needs one to follow the row's new
 * version); waiting for an advisory lock does not. So both are taken, in this order.
 *
 * @throws {NotFoundError} when there is none; {@link VersionConflictError} when the operation expects another version.
 */
export async function lockRow(tx: Transaction, table: Prisma.ModelName, id: string): Promise<void> {
  const statement = lockStatement(table, isVersioned(table) ? '"version"' : '1 AS "version"');
  const [row] = await sqlOf(tx).query<{ version: number }>(`lock-${table}`, statement, [id]);
  if (!row) throw new NotFoundError(id);
  compareVersion(id, row.version);
}

/**
 * Locks one user like {@link lockRow}, and reads it once the lock is held.
 *
 * @throws {NotFoundError} when there is none; {@link VersionConflictError} when the operation expects another version.
 */
export async function lockUser(tx: Transaction, id: string): Promise<User> {
  const [user] = await sqlOf(tx).query<User>('lock-user', lockStatement('User', userColumns), [id]);
  if (!user) throw new NotFoundError(id);
  compareVersion(id, user.version);
  return user;
}

/**
 * Locks users like {@link lockUser}, and reads those that exist, ordered by id. Lock at most a few hundred in one
 * transaction: all sessions share a lock table of fixed size (`max_locks_per_transaction`).
 */
export async function lockUsers(tx: Transaction, ids: readonly string[]): Promise<User[]> {
  // All advisory locks come before the first row lock: see lockRow. One order for all prevents deadlocks.
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

/** Locks a name until the transaction ends. Other transactions wait for it. */
export async function lockName(tx: Transaction, name: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/**
 * Locks a name until the transaction ends, and waits for a while at most.
 *
 * @throws lock_not_available (55P03) when another transaction holds it for longer.
 */
export async function lockNameFor(tx: Transaction, name: string, longestMs: number): Promise<void> {
  const [row] = await tx.$queryRaw<{ before: string }[]>`
    SELECT current_setting('lock_timeout') AS "before",
           set_config('lock_timeout', ${`${longestMs}ms`}, true)`;
  await lockName(tx, name);
  await tx.$executeRaw`SELECT set_config('lock_timeout', ${row?.before ?? '0'}, true)`;
}

/** Locks a name until the transaction ends. Returns false at once if another transaction holds it. */
export async function tryLockName(tx: Transaction, name: string): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ isHeld: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isHeld"`;
  return row?.isHeld === true;
}
