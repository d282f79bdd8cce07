// Builds the console into console/dist: `npm run build:console`. With `--if-needed`, before a start: only if it is not
// built from the sources that are here, and a failure is told and no more, because the service works without it.
// JavaScript, so that a Node too old for TypeScript gets to the start, which says so in one line.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'console/dist');
const mark = join(dist, '.sources');
const isIfNeeded = process.argv.includes('--if-needed');
const bin = (name) => join(root, 'node_modules/.bin', name);

/** The SHA-256 over everything that the build is made from. */
function digestOfSources() {
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'console'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.startsWith(dist) && !file.includes('/node_modules/'))
    .sort();
  const others = ['schema.graphql', 'package-lock.json', 'scripts/build-console.js'];
  for (const file of [...sources, ...others.map((name) => join(root, name))]) {
    if (existsSync(file)) hash.update(`${file.slice(root.length)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const isBuilt = () => existsSync(mark) && readFileSync(mark, 'utf8') === digestOfSources();

function run(name, ...parameters) {
  const { status, error } = spawnSync(bin(name), parameters, {
    cwd: root,
    // The start's own output is for whoever reads the admin application's secret there.
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw error ?? new Error(`${name} ended with ${status}.`);
}

/** Compresses what browsers load, as small as it gets: it is done once. */
function compress() {
  const assets = join(dist, 'assets');
  for (const name of readdirSync(assets).filter((file) => /\.(js|css|svg)$/.test(file))) {
    const content = readFileSync(join(assets, name));
    const parameters = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, { params: parameters }));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

function build() {
  // Types and documents of the console's operations; where the generator is not installed, they are there already.
  if (existsSync(bin('graphql-codegen'))) run('graphql-codegen', '--silent');
  run(
    'vite',
    'build',
    'console',
    '--logLevel',
    'warn',
    '--base',
    '/console/',
    '--outDir',
    'dist',
    '--emptyOutDir',
  );
  compress();
  writeFileSync(mark, digestOfSources());
}

if (!isIfNeeded) {
  build();
} else if (existsSync(join(root, 'console/index.html')) && existsSync(bin('vite'))) {
  try {
    if (!isBuilt()) {
      process.stderr.write('Building the console, once …\n');
      build();
    }
  } catch (error) {
    process.stderr.write(`The console is not built: ${error.message}\n`);
  }
}
