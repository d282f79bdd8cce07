// Builds the console into console/dist: `npm run build:console`. With `--if-needed`, before a start: only if it is not
// built from the sources that are here, and a failure is told and no more, because the service works without it.
// JavaScript, so that a Node too old for TypeScript gets to the start, which says so in one line.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { digestOf, filesBelow } from '../src/built.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'console/dist');
const mark = join(dist, '.sources');
const isIfNeeded = process.argv.includes('--if-needed');
const bin = (name) => join(root, 'node_modules/.bin', name);

/** The digest of everything that the build is made from. */
function digestOfSources() {
  const sources = filesBelow('console').filter(
    (file) => !file.startsWith(dist) && !file.includes('/node_modules/'),
  );
  const others = ['schema.graphql', 'package-lock.json', 'scripts/build-console.js'];
  return digestOf([...sources, ...others.map((name) => join(root, name)).filter(existsSync)]);
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
async function compress() {
  const assets = join(dist, 'assets');
  const names = readdirSync(assets).filter((file) => /\.(js|css|svg)$/.test(file));
  await Promise.all(
    names.map(async (name) => {
      const content = readFileSync(join(assets, name));
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      writeFileSync(
        join(assets, `${name}.br`),
        await promisify(brotliCompress)(content, { params }),
      );
      writeFileSync(join(assets, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

/** Writes the page of every address but that of the Overview: it loads the building blocks beside the shell, not after it. */
function writeInnerPage() {
  const { file, css } = Object.values(
    JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')),
  ).find(({ name }) => name === 'blocks');
  const links = [
    `  <link rel="modulepreload" crossorigin href="/console/${file}">`,
    ...css.map((style) => `    <link rel="stylesheet" crossorigin href="/console/${style}">`),
  ];
  const first = readFileSync(join(dist, 'index.html'), 'utf8');
  writeFileSync(
    join(dist, 'inner.html'),
    first.replace('</head>', `${links.join('\n')}\n  </head>`),
  );
}

async function build() {
  // Types and documents of the console's operations; where the generator is not installed, they are there already.
  if (existsSync(bin('graphql-codegen')))
    run('graphql-codegen', '--silent', '--config', 'console/codegen.ts');
  // What changes from here on is built the next time.
  const digest = digestOfSources();
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
  writeInnerPage();
  await compress();
  writeFileSync(mark, digest);
}

if (!isIfNeeded) {
  await build();
} else if (existsSync(join(root, 'console/index.html')) && existsSync(bin('vite'))) {
  try {
    if (!isBuilt()) {
      process.stderr.write('Building the console, once …\n');
      await build();
    }
  } catch (error) {
    process.stderr.write(`The console is not built: ${error.message}\n`);
  }
}
