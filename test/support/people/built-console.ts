import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest } from 'vite';
import { afterAll } from 'vitest';

const vite = dirname(fileURLToPath(import.meta.resolve('vite/package.json')));
const appRoot = fileURLToPath(new URL('../../../console/', import.meta.url));

/** The console as it is built for production, in a folder that goes with the test file. */
export interface BuiltConsole {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Builds the console. */
export async function buildConsole(): Promise<BuiltConsole> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-console-'));
  afterAll(() => rm(folder, { recursive: true }));
  // A process of its own: with the NODE_ENV of a test, React's development build would be taken.
  await promisify(execFile)(
    process.execPath,
    [
      ...[join(vite, 'bin/vite.js'), 'build', appRoot],
      ...['--outDir', folder, '--emptyOutDir', '--manifest', 'manifest.json'],
    ],
    { env: { ...process.env, NODE_ENV: 'production' } },
  );
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  return { folder, manifest };
}
