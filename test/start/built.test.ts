import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { createProcessDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';

const secret = { SIGNET_SECRET: 'a secret for tests only, and a long one' };
const root = fileURLToPath(new URL('../..', import.meta.url));

/** `src/built.js`, which is JavaScript. */
interface Built {
  builtFolder(): string;
  programOf(program: 'main' | 'cli/main'): string;
}

const load = (folder: string): Promise<Built> =>
  import(/* @vite-ignore */ pathToFileURL(join(folder, 'src/built.js')).href);
const { builtFolder, programOf } = await load(root);

// Prints each package that a process loads.
const tellingImports = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name) process.stdout.write('loaded ' + name + '\\n');
      return next(url, context);
    },
  });
`)}`;

/** Copies what the service is started from, unbuilt. */
async function copyUnbuilt(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-unbuilt-'));
  closeAtEnd(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['src', 'scripts', 'prisma', 'package.json', 'package-lock.json']) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('what these tests start is built', () => {
  expect(programOf('main')).toBe(pathToFileURL(join(builtFolder(), 'main.js')).href);
  expect(programOf('cli/main')).toBe(pathToFileURL(join(builtFolder(), 'cli-main.js')).href);
});

// Two bytes of memory for each character of any other file. What an HTML template has, the bundler leaves as it is: an
// entity does there.
test('what is built is ASCII', async () => {
  const files = (await readdir(builtFolder())).filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(10);
  const texts = await Promise.all(
    files.map((name) => readFile(join(builtFolder(), name), 'latin1')),
  );
  expect(files.filter((_, index) => /[^\0-\x7f]/.test(texts[index] ?? ''))).toEqual([]);
});

describe('a copy', () => {
  let folder: string;
  let copied: Built;
  const url = (path: string) => pathToFileURL(join(folder, path)).href;
  const change = async (path: string) => {
    const file = join(folder, path);
    await writeFile(file, `${await readFile(file, 'utf8')}\n`);
  };

  beforeEach(async () => {
    folder = await copyUnbuilt();
    copied = await load(folder);
  });

  test('starts from its sources where nothing is built, and loads little', async () => {
    const database = await createProcessDatabase();
    const NODE_OPTIONS = `--import=${tellingImports}`;
    const service = startProcess({ ...database, ...secret, NODE_OPTIONS }, folder);
    expect((await fetch(`${await service.ready}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);

    const loaded = Array.from(service.stdout().matchAll(/^loaded (.*)$/gm), ([, name]) => name);
    expect(loaded).toContain('fastify');
    // What is used only sometimes is loaded only then.
    for (const name of [
      '@prisma/schema-engine-wasm',
      '@graphql-yoga/render-graphiql',
      '@nats-io/jetstream',
      '@nats-io/transport-node',
    ]) {
      expect(loaded).not.toContain(name);
    }
    const ofTelemetry = loaded.filter((name) => name?.startsWith('@opentelemetry/'));
    expect([...new Set(ofTelemetry)]).toEqual(['@opentelemetry/api']);
  });

  test('has the build of the same sources, and no other', async () => {
    expect(copied.programOf('main')).toBe(url('src/main.ts'));
    await cp(builtFolder(), copied.builtFolder(), { recursive: true });
    expect(copied.programOf('main')).toBe(
      pathToFileURL(join(copied.builtFolder(), 'main.js')).href,
    );
    await mkdir(join(folder, 'src/generated'), { recursive: true });
    await writeFile(join(folder, 'src/generated/more.ts'), '');
    expect(copied.programOf('main')).not.toBe(url('src/main.ts'));
  });

  test('is built once by two at the same time, who clear away what a killed build left', async () => {
    const ended = spawnSync(process.execPath, ['--eval', '']).pid;
    await mkdir(join(folder, `dist/unfinished-${ended}`), { recursive: true });
    for (const older of ['a', 'b']) await mkdir(join(folder, 'dist', older.repeat(32)));
    await writeFile(join(folder, 'dist/notes.txt'), 'of somebody else');
    const build = () =>
      promisify(execFile)(process.execPath, ['scripts/build-service.js', '--if-needed'], {
        cwd: folder,
      });
    for (const { stderr } of await Promise.all([build(), build()])) expect(stderr).toBe('');
    const builds = (await readdir(join(folder, 'dist'))).filter((name) => name !== 'notes.txt');
    // Its own, and the newest of the others, from which a service may still load.
    expect(builds).toContain(basename(copied.builtFolder()));
    expect(builds).toHaveLength(2);
    expect(await readFile(join(folder, 'dist/notes.txt'), 'utf8')).toBe('of somebody else');
    expect(copied.programOf('main')).not.toBe(url('src/main.ts'));
  });

  test('starts from its sources where what is built is linked from elsewhere', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'signet-dist-'));
    closeAtEnd(() => rm(elsewhere, { recursive: true, force: true }));
    await symlink(elsewhere, join(folder, 'dist'));
    await cp(builtFolder(), copied.builtFolder(), { recursive: true });
    expect(copied.programOf('main')).toBe(url('src/main.ts'));
  });

  test.each([
    'src/main.ts',
    'src/web/passkeys/browser.js',
    'prisma/schema.prisma',
    'package-lock.json',
    'scripts/build-service.js',
  ])('starts from its sources once %s has changed', async (path) => {
    await cp(builtFolder(), copied.builtFolder(), { recursive: true });
    await change(path);
    expect(copied.programOf('main')).toBe(url('src/main.ts'));
  });
});
