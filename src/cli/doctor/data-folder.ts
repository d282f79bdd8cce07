import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { neededBytes } from '../../db/embedded/room.ts';
import type { Findings } from './finding.ts';

/** Below this, a warning: some days' events. */
const scarceBytes = 1_000_000_000;
const megabytes = (bytes: number) => `${Math.round(bytes / 1_000_000)} MB`;

/**
 * Looks at the folder of the embedded database, without making it.
 *
 * @returns Whether there is a database in it.
 */
export async function checkDataFolder(findings: Findings, dataDir: string): Promise<boolean> {
  const path = resolve(dataDir);
  const found = await stat(path).catch(() => undefined);
  // The folder that is there, or the one that it would be made in.
  let there = path;
  while (there !== dirname(there) && !(await stat(there).catch(() => undefined)))
    there = dirname(there);
  if (!(await stat(there)).isDirectory()) {
    findings.fault(
      'data folder',
      `DATA_DIR ${path} is no folder, or lies under a file.`,
      'Name another.',
    );
    return false;
  }
  const mayWrite = await access(there, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite) {
    findings.fault(
      'data folder',
      `DATA_DIR ${path} cannot be written by this user.`,
      'Give it to the user that the service runs as; in the image that is 1000.',
    );
    return false;
  }
  findings.ok('data folder', found ? `${path} can be written.` : `The first start makes ${path}.`);
  const { bavail, bsize } = await statfs(there);
  const free = bavail * bsize;
  if (free < neededBytes) {
    findings.fault(
      'disk',
      `The volume of DATA_DIR has ${megabytes(free)} free: nothing is written below ${megabytes(neededBytes)}.`,
      'Make room there; the service goes on by itself.',
    );
  } else if (free < scarceBytes) {
    findings.warn(
      'disk',
      `The volume of DATA_DIR has only ${megabytes(free)} free.`,
      'Make room there.',
    );
  } else findings.ok('disk', `The volume of DATA_DIR has ${megabytes(free)} free.`);
  return (await stat(join(path, 'database')).catch(() => undefined)) !== undefined;
}
