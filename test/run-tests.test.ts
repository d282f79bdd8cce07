import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const summary = fileURLToPath(new URL('../scripts/steadily/summary.ts', import.meta.url));
const script = fileURLToPath(new URL('../scripts/run-tests.ts', import.meta.url));

/** Runs a project of these test files, whose code is the body of one test each. */
async function runProject(bodies: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'signet-steadily-'));
  try {
    await mkdir(join(folder, 'test'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(
      join(folder, 'vitest.config.js'),
      `export default { test: { include: ['test/*.test.js'], globals: true, isolate: false } };`,
    );
    for (const [name, body] of Object.entries(bodies)) {
      await writeFile(
        join(folder, 'test', `${name}.test.js`),
        `import { existsSync, writeFileSync } from 'node:fs';
         // Whether this is the first time that it is asked here.
         const once = () => !existsSync('${name}') && (writeFileSync('${name}', ''), true);
         test('it', async () => { ${body} });`,
      );
    }
    const own = /^(VITEST|VITE_|NODE_ENV$|TEST$|CI$)/;
    const child = spawn(process.execPath, [script, '--max-workers=2'], {
      cwd: folder,
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
        FALLEN: join(folder, 'fallen'),
        RESULTS: join(folder, 'results'),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.resume();
    const [code] = await once(child, 'close');
    const fallen = await readFile(join(folder, 'fallen'), 'utf8').catch(() => '');
    const { stdout } = await promisify(execFile)(process.execPath, [
      summary,
      join(folder, 'results'),
    ]).catch(() => ({ stdout: '' }));
    return {
      code,
      fallen: fallen.split('\n').filter(Boolean).sort(),
      total: stdout.split('\n').at(-2),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('what falls once passes on the next try, and is named', async () => {
  const stays = 'await new Promise(() => {})';
  const { code, fallen, total } = await runProject({
    passes: 'expect(1).toBe(1);',
    flips: 'if (once()) expect(1).toBe(2);',
    dies: `if (once()) { process.kill(process.pid, 'SIGKILL'); ${stays}; }`,
    rejects: `if (once()) { Promise.reject(new Error('a stray')); await new Promise(setImmediate); }`,
  });
  expect(code).toBe(0);
  expect(total).toBe('4 passed, 0 failed, 0 skipped');
  expect(fallen).toEqual([
    'unsteady: test/dies.test.js > it did not end, 1 of 3',
    'unsteady: test/flips.test.js > it, 1 of 3: expected 1 to be 2 // Object.is equality',
    'unsteady: test/rejects.test.js > a stray, 1 of 3',
  ]);
});

test('what falls three times is broken', async () => {
  const { code, fallen, total } = await runProject({
    passes: 'expect(1).toBe(1);',
    breaks: 'expect(1).toBe(2);',
    flips: 'if (once()) expect(1).toBe(2);',
  });
  expect(code).toBe(1);
  expect(total).toBe('2 passed, 1 failed, 0 skipped');
  expect(fallen).toEqual([
    'broken: test/breaks.test.js > it, 3 of 3: expected 1 to be 2 // Object.is equality',
    'unsteady: test/flips.test.js > it, 1 of 3: expected 1 to be 2 // Object.is equality',
  ]);
});

test('a runner that is killed runs again', async () => {
  const { code, fallen } = await runProject({
    kills: `if (once()) { process.kill(process.ppid, 'SIGKILL'); await new Promise(() => {}); }`,
  });
  expect(code).toBe(0);
  expect(fallen).toEqual([
    'unsteady: the run of the tests (the runner ended early, with SIGKILL), 1 of 3',
  ]);
});

test('a run without a test is broken', async () => {
  expect(await runProject({})).toMatchObject({
    code: 1,
    fallen: ['broken: the runner ended with 1'],
  });
});
