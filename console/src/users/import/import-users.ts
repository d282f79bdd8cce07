import type { ImportedUserInput } from '../../generated/graphql.ts';
import { refusalIn } from '../../kit/api/refusal.ts';
import { RequestError, send } from '../../kit/api/send.ts';
import { ImportUsers } from '../documents.ts';

// The limits of one `importUsers`. The service accepts bodies of up to 4 MiB.
const maxRows = 1_000;
const maxBytes = 3 * 1024 * 1024;

/** A row to import. Its number in the file starts at 1. */
export interface ReadyRow {
  readonly row: number;
  readonly user: ImportedUserInput;
}

/** A row that was not imported, and why. */
export interface FailedRow {
  readonly row: number;
  readonly who: string;
  readonly reason: string;
}

/** The progress of an import. */
export interface Progress {
  readonly done: number;
  readonly imported: number;
  readonly failures: readonly FailedRow[];
}

/** The name to show for a row. */
const whoIn = ({ username, primaryEmail, primaryPhone, name }: ImportedUserInput): string =>
  username || primaryEmail || primaryPhone || name || '';

/**
 * Imports rows in batches, and reports the progress after each.
 *
 * @throws {RequestError} when the service refuses a batch; earlier batches are imported.
 */
export async function importRows(
  rows: readonly ReadyRow[],
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<void> {
  let progress: Progress = { done: 0, imported: 0, failures: [] };
  for (const batch of batchesOf(rows)) {
    if (signal.aborted) return;
    const { imported, failures } = await importBatch(batch);
    progress = {
      done: progress.done + batch.length,
      imported: progress.imported + imported,
      failures: [...progress.failures, ...failures],
    };
    onProgress(progress);
  }
}

async function importBatch(batch: readonly ReadyRow[]) {
  const { importUsers } = await send(ImportUsers, {
    input: { users: batch.map(({ user }) => user) },
  });
  const refusal = refusalIn(importUsers);
  if (refusal) throw new RequestError(refusal.message, refusal.code);
  if (importUsers.__typename !== 'ImportUsersPayload') return { imported: 0, failures: [] };
  const failures = importUsers.failures.flatMap(({ index, message }) => {
    const failed = batch[index];
    return failed ? [{ row: failed.row, who: whoIn(failed.user), reason: message }] : [];
  });
  return { imported: importUsers.users.length, failures };
}

/** Splits rows into batches within the limits of one mutation. */
export function batchesOf(rows: readonly ReadyRow[]): readonly (readonly ReadyRow[])[] {
  const encoder = new TextEncoder();
  const batches: ReadyRow[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = encoder.encode(JSON.stringify(row.user)).length + 1;
    const last = batches.at(-1);
    if (last && last.length < maxRows && bytes + size <= maxBytes) {
      last.push(row);
      bytes += size;
    } else {
      batches.push([row]);
      bytes = size;
    }
  }
  return batches;
}
