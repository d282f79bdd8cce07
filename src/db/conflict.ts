import { ConflictError } from '../errors.ts';
import { brokenConstraint } from './transaction.ts';

/** For each unique index that a write can break: the input's field and the message. */
export type Conflicts = Readonly<
  Record<string, { readonly path: readonly string[]; readonly message: string }>
>;

/**
 * Does a write, and turns a broken unique index into a refusal. The index decides between two concurrent writers:
 * one wins and the other is refused.
 *
 * @throws {ConflictError}
 */
export async function refuseConflict<T>(conflicts: Conflicts, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const conflict = conflicts[brokenConstraint(error) ?? ''];
    if (!conflict) throw error;
    throw new ConflictError(conflict.path, conflict.message);
  }
}
