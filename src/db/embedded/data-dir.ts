import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../errors.ts';

/** A data folder that belongs to this process until it is released. */
export interface DataDir {
  readonly path: string;
  /** Lets another process take the folder. */
  release(): void;
}

const ownFiles = ['lock', 'secret'];

/**
 * Claims a data folder for this process, and creates it if it is missing. Only its owner can use it from then on.
 *
 * @throws {StartError} when it is not writable, or another process has it.
 */
export async function claimDataDir(path: string): Promise<DataDir> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a folder');
    await access(path, constants.W_OK | constants.X_OK);
    await restrict(path);
    // Created here, because SQLite would make it readable for everyone.
    await writeFile(join(path, 'lock'), '', { flag: 'a', mode: 0o600 });
    for (const file of ownFiles) await restrict(join(path, file));
  } catch (cause) {
    throw new StartError(`DATA_DIR ${path} cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
  // A lock file with a process id outlives a kill, and process ids are used again. SQLite's lock is the kernel's: it
  // ends with the process, on every system that Node runs on.
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

/** The secret in a data folder, created at the first start; only its owner can read the file. */
export async function readOrCreateSecret(dataDir: DataDir): Promise<string> {
  const file = join(dataDir.path, 'secret');
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
  return (await readFile(file, 'utf8')).trim();
}

/**
 * Creates a folder if it is missing, and lets only the owner use it and its contents. Earlier versions left it
 * writable for everyone.
 */
export async function keepToOwner(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await restrict(path);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const entry of entries) await restrict(join(entry.parentPath, entry.name));
}

// Only the owner can restrict a file, and a mounted volume may belong to another user. A link's target is elsewhere.
async function restrict(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found || found.isSymbolicLink() || (found.mode & 0o077) === 0) return;
  if (found.uid !== process.getuid?.() && process.getuid?.() !== 0) return;
  await chmod(path, found.mode & 0o700);
}
