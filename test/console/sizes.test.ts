import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { builtConsole } from '../../src/http/console/files.ts';

const firstAtMost = 150_000;
const blocksAtMost = 100_000;
const routeAtMost = 60_000;

/** What Vite writes of each chunk: its file, and what has to be there before it runs. */
type Manifest = Readonly<
  Record<
    string,
    {
      readonly file: string;
      readonly name?: string;
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
  const first = filesOf('index.html');
  const blocks = filesOf(
    Object.keys(manifest).find((key) => manifest[key]?.name === 'blocks') ?? '',
  ).difference(first);

  test(`has a shell with its first page of at most ${firstAtMost} bytes`, () => {
    expect(sizeOf(first)).toBeLessThanOrEqual(firstAtMost);
  });

  test(`has building blocks of all other pages of at most ${blocksAtMost} bytes`, () => {
    expect(blocks.size).toBeGreaterThan(0);
    expect(sizeOf(blocks)).toBeLessThanOrEqual(blocksAtMost);
  });

  test(`has routes of at most ${routeAtMost} bytes beside both`, () => {
    const routes = (manifest['index.html']?.dynamicImports ?? []).map(
      (key) => [key, sizeOf(filesOf(key).difference(first).difference(blocks))] as const,
    );
    expect(routes.length).toBeGreaterThan(15);
    expect(routes.filter(([, size]) => size > routeAtMost)).toEqual([]);
  });

  test('loads the building blocks beside the shell wherever the first page is not shown', () => {
    const [overview, inner] = ['index.html', 'inner.html'].map((name) =>
      readFileSync(join(builtConsole, name), 'utf8'),
    );
    for (const file of blocks) {
      expect(overview).not.toContain(file);
      expect(inner).toContain(`/console/${file}"`);
    }
  });

  test('has no script or style in the page itself', () => {
    for (const name of ['index.html', 'inner.html']) {
      const page = readFileSync(join(builtConsole, name), 'utf8');
      expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    }
  });
});
