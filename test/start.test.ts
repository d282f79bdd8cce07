import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestDatabase } from './support/database.ts';
import { startProcess } from './support/process.ts';
import { basic } from './support/service.ts';

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

describe('a start that cannot be', () => {
  test.each(['http', '70000', '-1', '3.5'])('names PORT for the port %s', async (port) => {
    const dataDir = fresh();
    expect(await refusal({ PORT: port, DATA_DIR: dataDir })).toContain('PORT');
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });

  test('names every variable at fault in one line, and no value', async () => {
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

  test('names a port that another process has, before it writes anything', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const dataDir = fresh();
    expect(await refusal({ PORT: String(port), DATA_DIR: dataDir })).toContain(String(port));
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
    other.close();
  });

  test('names a DATA_DIR that is a file, or lies under one', async () => {
    const file = fresh();
    await writeFile(file, 'mine');
    expect(await refusal({ DATA_DIR: file })).toContain('DATA_DIR');
    expect(await refusal({ DATA_DIR: join(file, 'below') })).toContain('DATA_DIR');
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  test('names a DATA_DIR that nobody may write, not even root', async () => {
    expect(await refusal({ DATA_DIR: '/sys/signet' })).toContain('DATA_DIR');
  });

  test('names a DATABASE_URL that cannot be reached, without its password', async () => {
    const line = await refusal({
      DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/none',
      SIGNET_SECRET: 'a secret for tests only',
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

describe('a data folder', () => {
  test('serves with no configuration at all, keeps its secret to its owner, and is one process’s alone', async () => {
    const dataDir = fresh();
    const first = startProcess({ DATA_DIR: dataDir });
    const url = await first.ready;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await stat(join(dataDir, 'secret'))).mode & 0o777).toBe(0o600);

    expect(await refusal({ DATA_DIR: dataDir })).toMatch(/DATA_DIR .* in use by another process/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    const [, id, secret] =
      /ADMIN_CLIENT_ID=(app_\w+)\s+ADMIN_CLIENT_SECRET=(\S{32,})/.exec(first.stdout()) ?? [];
    const token = (at: string) =>
      fetch(`${at}/oidc/token`, {
        method: 'POST',
        headers: { authorization: basic(id as string, secret as string) },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          resource: 'urn:signet:management',
          scope: 'all',
        }),
      });
    expect((await token(url)).status).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);

    const second = startProcess({ DATA_DIR: dataDir });
    expect((await token(await second.ready)).status).toBe(200);
    expect(second.stdout()).not.toContain('ADMIN_CLIENT_SECRET');
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);

    expect(
      await refusal({ DATA_DIR: dataDir, SIGNET_SECRET: 'another secret altogether' }),
    ).toContain('SIGNET_SECRET');
  }, 90_000);
});

test('a SIGTERM during the start ends in a clean stop, with the admin’s secret shown', async () => {
  const dataDir = fresh();
  const node = startProcess({ DATA_DIR: dataDir });
  await vi.waitFor(() => stat(join(dataDir, 'secret')), { timeout: 30_000, interval: 5 });
  node.child.kill('SIGTERM');
  expect(await node.ended).toBe(0);
  expect(node.stdout()).toContain('ADMIN_CLIENT_SECRET=');
}, 60_000);

describe('PostgreSQL', async () => {
  const { url, close } = await createTestDatabase();
  afterAll(close);

  test.runIf(url)(
    'refuses another SIGNET_SECRET than the one its keys were made with',
    async () => {
      const DATABASE_URL = url as string;
      const node = startProcess({ DATABASE_URL, SIGNET_SECRET: 'the right secret' });
      await node.ready;
      node.child.kill('SIGTERM');
      expect(await node.ended).toBe(0);
      expect(await refusal({ DATABASE_URL, SIGNET_SECRET: 'another secret' })).toContain(
        'SIGNET_SECRET',
      );
    },
    60_000,
  );
});
