import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runSignet } from '../support/process.ts';

describe('npx signet', () => {
  test('needs neither the network nor a folder that it can write to', async () => {
    const { PATH = '' } = process.env;
    const child = spawn('npx', ['signet', '--version'], {
      cwd: fileURLToPath(new URL('../../docs', import.meta.url)),
      env: { PATH, HOME: '/nowhere', npm_config_cache: '/sys/npm', npm_config_offline: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const [code] = await once(child, 'close');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  test('says which commands there are, and what one takes', async () => {
    const { stdout: overview } = await runSignet(['--help']);
    const commands = Array.from(overview.matchAll(/^ {2}(\S+) {2,}\S/gm), ([, name]) => name ?? '');
    expect(commands).toContain('create-admin');
    for (const name of commands) {
      const { code, stdout } = await runSignet([name, '--help']);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^usage: signet ${name} `));
    }
  });

  test.each([
    [[], 1, 'usage: signet <command>', ''],
    [['no-such'], 1, '', "there is no command 'no-such'"],
    [['toString'], 1, '', "there is no command 'toString'"],
    [['create-admin'], 1, '', '--username is missing'],
    [
      ['create-admin', '--username', 'ada', 'lovelace'],
      1,
      '',
      "'lovelace' is one parameter too many",
    ],
    [['create-admin', '--name', 'ada'], 1, '', "Unknown option '--name'"],
  ])('%j ends in %i', async (parameters, code, stdout, stderr) => {
    const run = await runSignet(parameters);
    expect(run).toMatchObject({
      code,
      stdout: stdout && expect.stringContaining(stdout),
      stderr: stderr && expect.stringContaining(stderr),
    });
  });

  test('names a variable that is at fault, and not its value', async () => {
    const run = await runSignet(['create-admin', '--username', 'ada'], {
      environment: { DATABASE_URL: 'mysql://root:hunter2@db' },
    });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^signet create-admin: DATABASE_URL must be a postgres:\/\/ URL/);
    expect(run.stderr).not.toContain('hunter2');
  });
});
