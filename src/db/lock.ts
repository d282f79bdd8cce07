import { NotFoundError } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Transaction } from './transaction.ts';

/**
 * Locks one row until the transaction ends, so that what is read of it next is what will be changed.
 *
 * @throws {NotFoundError} when there is none.
 */
export async function lockRow(tx: Transaction, table: Prisma.ModelName, id: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 AS "found" FROM ${Prisma.raw(`"${table}"`)} WHERE "id" = ${id} FOR UPDATE`;
  if (rows.length === 0) throw new NotFoundError(id);
}

/** Holds a name until the transaction ends: another that wants it waits. */
export async function lockName(tx: Transaction, name: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
