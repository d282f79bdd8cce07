import { chmod, lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDataDir } from '../../../src/db/embedded/data-dir.ts';
import { openEmbedded } from '../../../src/db/embedded/open.ts';
import { StartError } from '../../../src/errors.ts';
import { openToOthers } from '../../support/access-rights.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signet-data-dir-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('one that is or lies under a file, or that not even root may write, is named', async () => {
  const file = join(folder, 'file');
  await writeFile(file, 'mine');
  for (const path of [file, join(file, 'below'), '/sys/signet']) {
    const refusal = claimDataDir(path);
    await expect(refusal).rejects.toThrow(StartError);
    await expect(refusal).rejects.toThrow(`DATA_DIR ${path} cannot be written`);
  }
  expect(await readFile(file, 'utf8')).toBe('mine');
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
