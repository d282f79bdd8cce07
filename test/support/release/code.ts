import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { closeAtEnd } from '../cleanup.ts';

const archive = new URL('../../fixtures/release/code.tar.br', import.meta.url);
const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/**
 * Unpacks the code of the version before, to be started with today's packages. The history may not be there, so that a
 * fixture has it. That of 0.1.0 is lost: this is commit 075c537, the oldest after it.
 *
 * @returns Its folder, which is deleted at the end.
 */
export async function unpackCodeBefore(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-before-'));
  closeAtEnd(() => rm(folder, { recursive: true, force: true }));
  const tar = spawn('tar', ['--extract', '--directory', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  createReadStream(archive).pipe(createBrotliDecompress()).pipe(tar.stdin);
  const [code] = await once(tar, 'close');
  if (code !== 0) throw new Error(`tar ended with ${code}.`);
  await symlink(packages, join(folder, 'node_modules'));
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  await promisify(execFile)(process.execPath, ['scripts/write-generated.js'], {
    cwd: folder,
    env: { ...process.env, PATH },
  });
  return folder;
}
