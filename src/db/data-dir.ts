import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../errors.ts';

/** A data folder that this process alone uses until it lets go. */
export interface DataDir {
  readonly path: string;
  /** Lets another process have the folder. */
  release(): void;
}

/**
 * Takes a data folder for this process, making it where it is missing.
 *
 * @throws {StartError} when it cannot be written, or another process has it.
 */
export async function claimDataDir(path: string): Promise<DataDir> {
  try {
    await mkdir(path, { recursive: true });
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a folder');
    await access(path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new StartError(`DATA_DIR ${path} cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
  // A lock file with a process id outlives a kill, and ids are used again. SQLite's lock is the kernel's: it
  // goes with the process, and works the same on every system that Node runs on.
  try {
    const lock = new DatabaseSync(join(path, 'lock'));
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return { path, release: () => lock.close() };
  } catch (cause) {
    const isLocked = (cause as { errcode?: number }).errcode === 5;
    throw new StartError(
      isLocked
        ? `DATA_DIR ${path} is in use by another process: one process at a time, or use DATABASE_URL`
        : `DATA_DIR ${path} cannot be written: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** The secret kept in a data folder, made at the first start; only its owner may read the file. */
export async function readOrCreateSecret(dataDir: DataDir): Promise<string> {
  const file = join(dataDir.path, 'secret');
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
  return (await readFile(file, 'utf8')).trim();
}
