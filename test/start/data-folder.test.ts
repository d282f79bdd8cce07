import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openToOthers } from '../support/access-rights.ts';
import { managementRequest, requestClientCredentials } from '../support/client-credentials.ts';
import { createDataDir } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signet-start-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const fresh = () => join(folder, randomBytes(4).toString('hex'));

/** Starts the service, which is to refuse, and returns the one line it says. */
async function refusal(environment: Record<string, string>): Promise<string> {
  const { ended, stderr, stdout } = startProcess(environment);
  expect(await ended).toBe(1);
  expect(stdout()).toBe('');
  const lines = stderr().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  return lines[0] as string;
}

describe('a start that fails', () => {
  test.each(['http', '70000'])('names PORT for the port %s', async (port) => {
    const dataDir = fresh();
    expect(await refusal({ PORT: port, DATA_DIR: dataDir })).toContain('PORT');
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });

  test('names every faulty variable in one line, without values', async () => {
    const line = await refusal({
      PORT: 'x',
      SIGNING_ALG: 'HS256',
      DATABASE_URL: 'mysql://root:hunter2@db',
      ADMIN_CLIENT_SECRET: 'hunter2',
      DATA_DIR: fresh(),
    });
    for (const name of ['PORT', 'SIGNING_ALG', 'DATABASE_URL', 'ADMIN_CLIENT_SECRET']) {
      expect(line).toContain(name);
    }
    expect(line).not.toContain('hunter2');
  });

  test('names a port in use, before it writes anything', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const dataDir = fresh();
    expect(await refusal({ PORT: String(port), DATA_DIR: dataDir })).toContain(String(port));
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
    other.close();
  });

  // Those that cannot be claimed for another reason are in `test/db/embedded/data-dir.test.ts`.
  test('names a DATA_DIR that is a file', async () => {
    const file = fresh();
    await writeFile(file, 'mine');
    expect(await refusal({ DATA_DIR: file })).toContain('DATA_DIR');
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  test('names a DATABASE_URL that cannot be reached, without its password', async () => {
    const line = await refusal({
      DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/none',
      SIGNET_SECRET: 'a secret for tests only, and a long one',
    });
    expect(line).toContain('DATABASE_URL');
    expect(line).not.toContain('hunter2');
  });

  test('demands SIGNET_SECRET with DATABASE_URL', async () => {
    expect(await refusal({ DATABASE_URL: 'postgres://127.0.0.1:1/none' })).toContain(
      'SIGNET_SECRET',
    );
  });
});

describe('a Node that is too old', () => {
  const [older] = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .filter((node) => Number(/^v(\d+)/.exec(spawnSync(node, ['-v']).stdout?.toString())?.[1]) < 24);

  test.runIf(older)('is reported in one line', () => {
    const start = fileURLToPath(new URL('../../src/start.js', import.meta.url));
    const { status, stdout, stderr } = spawnSync(older as string, [start]);
    expect(status).toBe(1);
    expect(stdout.toString()).toBe('');
    expect(stderr.toString()).toMatch(/^Signet cannot start: it needs Node 24 or later.*\n$/);
  });
});

async function loosen(path: string): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o777 : 0o666);
  }
  await chmod(path, 0o777);
}

describe('a data folder', () => {
  test('needs no configuration, is private even if it was open, and locked', async () => {
    const dataDir = fresh();
    const environment = { DATA_DIR: dataDir };
    const first = startProcess(environment);
    const url = await first.ready;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await stat(join(dataDir, 'secret'))).mode & 0o777).toBe(0o600);
    expect(await openToOthers(dataDir)).toEqual([]);

    expect(await refusal({ DATA_DIR: dataDir })).toMatch(/DATA_DIR .* in use by another process/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    const [, id, secret] =
      /ADMIN_CLIENT_ID=(app_\w+)\s+ADMIN_CLIENT_SECRET=(\S{32,})/.exec(first.stdout()) ?? [];
    const admin = { id: id as string, secret: secret as string };
    const token = (at: string) => requestClientCredentials({ url: at }, admin, managementRequest);
    expect((await token(url)).status).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);

    // As an earlier version left it.
    await loosen(dataDir);
    const second = startProcess(environment);
    expect((await token(await second.ready)).status).toBe(200);
    expect(await openToOthers(dataDir)).toEqual([]);
    expect(second.stdout()).not.toContain('ADMIN_CLIENT_SECRET');
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    expect(await openToOthers(dataDir)).toEqual([]);

    expect(
      await refusal({ DATA_DIR: dataDir, SIGNET_SECRET: 'another secret altogether, as long' }),
    ).toContain('SIGNET_SECRET');
  });
});

test('a SIGTERM during the start stops cleanly', async () => {
  const dataDir = await createDataDir();
  const node = startProcess({ DATA_DIR: dataDir });
  await eventually(() => stat(join(dataDir, 'secret')));
  node.child.kill('SIGTERM');
  expect(await node.ended).toBe(0);
  expect(node.stdout()).toContain('ADMIN_CLIENT_SECRET=');
});

test('an interrupted start has printed the admin’s secret, and npm start passes a SIGTERM on', async () => {
  const dataDir = await createDataDir();
  const first = startProcess({ DATA_DIR: dataDir });
  const shown = /ADMIN_CLIENT_ID=(app_\w+)\s+ADMIN_CLIENT_SECRET=(\S{32,})/;
  await eventually(() => expect(first.stdout()).toMatch(shown), 1);
  first.child.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const [, id = '', secret = ''] = shown.exec(first.stdout()) ?? [];

  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH, HOME, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const listening = Promise.withResolvers<string>();
  const lines: string[] = [];
  createInterface(npm.stdout).on('line', (line) => {
    lines.push(line);
    const url = /"listening":"([^"]+)"/.exec(line)?.[1];
    if (url) listening.resolve(url);
  });
  const url = await listening.promise;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const response = await requestClientCredentials({ url }, { id, secret }, managementRequest);
  expect(response.status).toBe(200);
  const ended = once(npm, 'close');
  npm.kill('SIGTERM');
  // It ends when the last process that holds its output has: the service.
  await ended;
  expect(lines.at(-1)).toContain('"msg":"stopping"');
  await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
});
