import { chmod, lstat, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDataDir } from '../../../src/db/embedded/data-dir.ts';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { openToOthers } from '../../support/access-rights.ts';
import { createDataDir } from '../../support/database.ts';
import { startProcess } from '../../support/process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signet-data-dir-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function loosen(path: string): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o777 : 0o666);
  }
  await chmod(path, 0o777);
}

test('only its owner has access to one that was open', async () => {
  const dataDir = await createDataDir();
  // As an earlier version left it.
  await loosen(dataDir);
  const node = startProcess({ DATA_DIR: dataDir });
  await node.ready;
  expect(await openToOthers(dataDir)).toEqual([]);
  node.child.kill('SIGTERM');
  expect(await node.ended).toBe(0);
  expect(await openToOthers(dataDir)).toEqual([]);
});

test('later database files belong only to the owner', async () => {
  const dataDir = join(folder, 'later');
  const database = await openEmbedded({ dataDir });
  await database.exec(`
    CREATE TABLE "late" AS SELECT generate_series(1, 1000) AS "n";
    SELECT pg_switch_wal();
    CHECKPOINT`);
  expect(await openToOthers(dataDir)).toEqual([]);
  await database.close();
  expect(await openToOthers(dataDir)).toEqual([]);
});

test('leaves foreign files in the folder as they are', async () => {
  const dataDir = join(folder, 'shared');
  (await claimDataDir(dataDir)).release();
  const elsewhere = join(folder, 'elsewhere');
  for (const file of [elsewhere, join(dataDir, 'notes')]) {
    await writeFile(file, 'mine');
    await chmod(file, 0o644);
  }
  await symlink(elsewhere, join(dataDir, 'secret'));
  (await claimDataDir(dataDir)).release();
  expect((await lstat(elsewhere)).mode & 0o777).toBe(0o644);
  expect((await lstat(join(dataDir, 'notes'))).mode & 0o777).toBe(0o644);
});
