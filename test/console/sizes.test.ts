import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Manifest } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const shellAtMost = 260_000;
const routeAtMost = 60_000;

const vite = dirname(fileURLToPath(import.meta.resolve('vite/package.json')));
const appRoot = fileURLToPath(new URL('../../console/', import.meta.url));
const outDir = mkdtempSync(join(tmpdir(), 'signet-console-'));
let manifest: Manifest = {};

beforeAll(async () => {
  // A process of its own: with the NODE_ENV of a test, React's development build would be taken.
  await promisify(execFile)(
    process.execPath,
    [
      ...[join(vite, 'bin/vite.js'), 'build', appRoot],
      ...['--outDir', outDir, '--emptyOutDir', '--manifest', 'manifest.json'],
    ],
    { env: { ...process.env, NODE_ENV: 'production' } },
  );
  manifest = JSON.parse(readFileSync(join(outDir, 'manifest.json'), 'utf8')) as Manifest;
});

afterAll(() => rmSync(outDir, { recursive: true }));

// Everything that a chunk needs before it runs: what it imports, and all their styles.
function filesOf(key: string, files = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (!chunk || files.has(chunk.file)) return files;
  files.add(chunk.file);
  for (const style of chunk.css ?? []) files.add(style);
  for (const imported of chunk.imports ?? []) filesOf(imported, files);
  return files;
}

const sizeOf = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(outDir, file))).length, 0);

describe('the console as it is sent', () => {
  test(`has a shell with its first page of at most ${shellAtMost} bytes`, () => {
    const first = filesOf('src/overview/overview-page.tsx', filesOf('index.html'));
    expect(sizeOf(first)).toBeLessThanOrEqual(shellAtMost);
  });

  test(`has routes of at most ${routeAtMost} bytes beside the shell`, () => {
    const shell = filesOf('index.html');
    const routes = (manifest['index.html']?.dynamicImports ?? []).map(
      (key) => [key, sizeOf(filesOf(key).difference(shell))] as const,
    );
    expect(routes.length).toBeGreaterThan(15);
    expect(routes.filter(([, size]) => size > routeAtMost)).toEqual([]);
  });

  test('has no script or style in the page itself', () => {
    const page = readFileSync(join(outDir, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });
});
