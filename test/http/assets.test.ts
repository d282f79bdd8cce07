import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { mountAssets } from '../../src/http/assets.ts';
import { closeAtEnd } from '../support/cleanup.ts';

const assetsModule = new URL('../../src/http/assets.ts', import.meta.url);

/** Serves a folder as a bundler leaves it. */
async function serveFolder(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'signet-assets-'));
  closeAtEnd(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'built/fonts'), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, 'built', name), content);
  }
  const module = join(folder, 'files.mjs');
  await writeFile(
    module,
    `import { readBuiltFolder } from '${assetsModule.href}';
     export const files = await readBuiltFolder(new URL('./built/', import.meta.url));`,
  );
  const http = fastify();
  closeAtEnd(async () => void (await http.close()));
  return { http, locate: mountAssets(http, '/console/assets', pathToFileURL(module)) };
}

test('a built folder is served under the names that it has', async () => {
  const style = 'p { color: red }';
  const { http, locate } = await serveFolder({ 'index-B1x2.css': style, 'fonts/a-C3.woff2': '-' });
  expect((await locate())('index-B1x2.css')).toBe('/console/assets/index-B1x2.css');
  const found = await http.inject('/console/assets/index-B1x2.css');
  expect(found).toMatchObject({ statusCode: 200, body: style });
  expect(found.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const font = await http.inject('/console/assets/fonts/a-C3.woff2');
  expect(font.headers['content-type']).toBe('font/woff2');
  expect((await http.inject('/console/assets/files.mjs')).statusCode).toBe(404);
});

test('a file of an unknown type is refused, and no other is served', async () => {
  const { http, locate } = await serveFolder({ 'a-1.exe': '-', 'b-2.css': '-' });
  await expect(locate()).rejects.toThrow('a-1.exe');
  expect((await http.inject('/console/assets/b-2.css')).statusCode).toBe(500);
});
