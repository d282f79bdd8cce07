// Puts the service into few files, which start in half of the time: `npm run build:service`. With `--if-needed`, before a
// start: only if it is not built from the sources that are here, and a failure is told and no more, because the sources
// start as they are. JavaScript, so that a Node too old for TypeScript gets to the start, which says so in one line.
import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtFolder, builtName, programs } from '../src/built.js';
import { runtimeFault } from '../src/runtime.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const isIfNeeded = process.argv.includes('--if-needed');

// These have files beside their code, or are loaded only where somebody switches them on.
const apart =
  /^(@electric-sql|@modelcontextprotocol|@nats-io|@node-rs|@opentelemetry|@prisma\/schema-engine-wasm|pino)\b/;

/** Lets code find what lies beside its source. */
const whereItLies = (folder) => ({
  name: 'where-it-lies',
  transform(code, id) {
    if (id.startsWith('\0') || !code.includes('import.meta.url')) return undefined;
    const source = JSON.stringify(relative(folder, id).replaceAll('\\', '/'));
    return code.replaceAll('import.meta.url', `new URL(${source}, import.meta.url).href`);
  },
});

/** Leaves Prisma's compiler in a file: the package has it as text, which would stay in memory. */
const compilerInFile = {
  name: 'compiler-in-file',
  async load(id) {
    if (!id.endsWith('.wasm-base64.mjs')) return undefined;
    const { wasm } = await import(pathToFileURL(id).href);
    const source = Buffer.from(wasm, 'base64');
    const file = this.emitFile({ type: 'asset', name: 'query-compiler.wasm', source });
    return `import { readFileSync } from 'node:fs';
export const wasm = readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file}), 'base64');`;
  },
};

async function build() {
  const { rolldown } = await import('rolldown');
  const folder = builtFolder();
  const dist = dirname(folder);
  const unfinished = join(dist, `unfinished-${process.pid}`);
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(
      programs.map((name) => [builtName(name), join(root, `src/${name}.ts`)]),
    ),
    external: (id) => apart.test(id),
    transform: { target: 'esnext' },
    plugins: [whereItLies(folder), compilerInFile],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: unfinished,
    format: 'esm',
    assetFileNames: '[name]-[hash][extname]',
    comments: false,
    // Node keeps a file with one character beyond ASCII in twice the memory. Tagged templates are left as they are.
    charset: 'ascii',
    // oidc-provider names what it keeps by its classes.
    keepNames: true,
  });
  await bundle.close();
  if (builtFolder() !== folder) {
    rmSync(unfinished, { recursive: true });
    throw new Error('A source changed while it was built.');
  }
  // A service that starts beside this may be loading from it: only who asks for a new build replaces it.
  if (!isIfNeeded) rmSync(folder, { recursive: true, force: true });
  try {
    // Whole or not at all.
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Somebody else has built the same meanwhile.
    if (!existsSync(folder)) throw error;
  }
  leaveOne(dist, folder);
}

/**
 * Deletes what builds left that were killed, and the builds of other sources, but for the newest: a service that runs may
 * still load from it.
 */
function leaveOne(dist, folder) {
  const others = [];
  for (const name of readdirSync(dist)) {
    const path = join(dist, name);
    const builder = /^unfinished-(\d+)$/.exec(name)?.[1];
    if (builder && !isRunning(Number(builder))) rmSync(path, { recursive: true, force: true });
    if (/^[0-9a-f]{32}$/.test(name) && path !== folder) {
      // Somebody else may delete it too.
      others.push({ path, builtAt: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
    }
  }
  const [, ...older] = others.sort((a, b) => b.builtAt - a.builtAt);
  for (const { path } of older) rmSync(path, { recursive: true, force: true });
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is somebody else's.
    return error.code === 'EPERM';
  }
}

if (!isIfNeeded) {
  await build();
} else if (!runtimeFault() && !existsSync(join(builtFolder(), 'main.js'))) {
  try {
    await build();
  } catch (error) {
    // Without development dependencies nothing is built here.
    if (error.code !== 'ERR_MODULE_NOT_FOUND') {
      process.stderr.write(`The service starts from its sources, unbuilt: ${error.message}\n`);
    }
  }
}
