import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { builtConsole } from '../../src/http/console/files.ts';

const shellAtMost = 260_000;
const routeAtMost = 60_000;

/** What Vite writes of each chunk: its file, and what has to be there before it runs. */
type Manifest = Readonly<
  Record<
    string,
    {
      readonly file: string;
      readonly css?: readonly string[];
      readonly imports?: readonly string[];
      readonly dynamicImports?: readonly string[];
    }
  >
>;

const manifest = JSON.parse(readFileSync(join(builtConsole, 'manifest.json'), 'utf8')) as Manifest;

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
  [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(builtConsole, file))).length,
    0,
  );

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
    const page = readFileSync(join(builtConsole, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });
});
