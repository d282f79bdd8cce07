import { AsyncLocalStorage } from 'node:async_hooks';
import { VersionConflictError } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Transaction } from './transaction.ts';

/** The tables whose rows have a version. A trigger raises it with each change that `recordChange` writes. */
const versionedTables = [
  'User',
  'Role',
  'Resource',
  'Scope',
  'Application',
  'Organization',
  'OrganizationRole',
  'OrganizationScope',
  'Webhook',
  'IdentityProvider',
  'TrustedIssuer',
  'CrossAppConnection',
  'SignInExperience',
  'ServiceSettings',
] as const satisfies readonly Prisma.ModelName[];

/** A table whose rows have a version. */
export type VersionedTable = (typeof versionedTables)[number];

/** Whether the rows of a table have a version. */
export const isVersioned = (table: string): table is VersionedTable =>
  (versionedTables as readonly string[]).includes(table);

interface Expected {
  readonly id: string;
  readonly version: number;
  isCompared: boolean;
}

const expectations = new AsyncLocalStorage<Expected>();

/**
 * Runs an operation that must find a record in this version. It is compared where the record is locked.
 *
 * @throws {VersionConflictError} when the record has another version.
 */
export async function expectingVersion<T>(
  id: string,
  version: number,
  run: () => Promise<T>,
): Promise<T> {
  const expected = { id, version, isCompared: false };
  const result = await expectations.run(expected, run);
  if (!expected.isCompared) throw new Error(`The version of ${id} was not compared.`);
  return result;
}

/**
 * Compares the version of a locked record with the one that the operation expects of it, if it does.
 *
 * @param id The record's id; the table's name if it has but one row.
 *
 * @throws {VersionConflictError} when it is another.
 */
export function compareVersion(id: string, version: number): void {
  const expected = expectations.getStore();
  // A record that is locked again may have been changed by the operation itself.
  if (expected?.id !== id || expected.isCompared) return;
  expected.isCompared = true;
  if (expected.version !== version) throw new VersionConflictError(version);
}

/** Raises the version of a locked record for a change outside of its own row. */
export async function raiseVersion(
  tx: Transaction,
  table: VersionedTable,
  id: string,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE ${Prisma.raw(`"${table}"`)} SET "version" = "version" + 1 WHERE "id" = ${id}`;
}
