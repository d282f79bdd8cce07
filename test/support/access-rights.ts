import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder and what is in it, where others than the owner may do anything with it. */
export async function openToOthers(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const paths = [path, ...entries.map((entry) => join(entry.parentPath, entry.name))];
  const modes = await Promise.all(paths.map(async (one) => ({ one, stats: await lstat(one) })));
  return modes.flatMap(({ one, stats }) =>
    stats.isSymbolicLink() || (stats.mode & 0o077) === 0 ? [] : [one],
  );
}
