import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { createDataDir } from '../support/database.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { openConsole, sendSetup, signInToConsole } from '../support/people/console.ts';
import { runSignet, startProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';

const createAdmin = (
  environment: Record<string, string>,
  parameters: readonly string[],
  input = '',
) => runSignet(['create-admin', ...parameters], { environment, input });

const linkIn = (printed: string) => new URL(/Console: (\S+)/.exec(printed)?.[1] ?? '');

const onEmbedded = test.runIf(!inject('postgresql'));

onEmbedded(
  'beside the embedded database: the start’s file, and an administrator who is brought back',
  async () => {
    const folder = await createDataDir();
    const environment = { DATA_DIR: folder };
    const first = startProcess(environment);
    const url = await first.ready;
    const link = linkIn(first.stdout());
    const file = join(folder, 'setup-token');
    expect((await readFile(file, 'utf8')).trim()).toBe(link.searchParams.get('token'));
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    // While the service has the folder, in one line.
    const busy = await createAdmin(environment, ['--username', 'root']);
    expect(busy.code).toBe(1);
    expect(busy.stdout).toBe('');
    expect(busy.stderr).toMatch(/DATA_DIR .* is in use by another process/);

    const response = await sendSetup(
      openConsole({ app: { services: { baseUrl: url } } } as never),
      {
        token: link.searchParams.get('token'),
        username: 'root',
        password: 'a long enough phrase',
      },
    );
    expect(response.status).toBe(201);
    expect(await readdir(folder)).not.toContain('setup-token');
    first.child.kill('SIGTERM');
    await first.ended;

    const generated = await createAdmin(environment, ['--username', 'ROOT']);
    expect(generated).toMatchObject({ code: 0, stderr: '' });
    const [, password = ''] = /Password: (\S{20,})/.exec(generated.stdout) ?? [];
    const second = startProcess(environment);
    const again = await second.ready;
    expect(second.stdout()).not.toContain('/console/setup');
    const baseUrl = /"url":"([^"]+)"/.exec(second.stdout())?.[1] ?? again;
    const browser = openConsole({ app: { services: { baseUrl } } } as never);
    await signInToConsole(browser, { username: 'root', password });
    expect(await browser.session()).toMatchObject({ user: { username: 'root' }, scopes: ['all'] });
    second.child.kill('SIGTERM');
    await second.ended;
  },
);

describe.runIf(inject('postgresql'))('beside a running service on PostgreSQL', () => {
  test('creates an administrator, and brings back one who lost role and password', async () => {
    const service = await startService();
    const { prisma } = service.testDatabase.database;
    const environment = {
      DATABASE_URL: service.testDatabase.url ?? '',
      SIGNET_SECRET: 'Xq3vT9-another-secret-for-tests-0bZ1',
    };
    const made = await createAdmin(environment, ['--username', 'ada'], 'the first long phrase\n');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).not.toMatch(/Password|phrase|Signs in/);
    expect(await prisma.setupToken.count()).toBe(0);
    const browser = openConsole(service);
    await signInToConsole(browser, { username: 'ada', password: 'the first long phrase' });
    expect(await browser.session()).toMatchObject({ scopes: ['all'] });

    await prisma.userRole.deleteMany();
    await prisma.user.updateMany({ data: { isSuspended: true } });
    const user = await prisma.user.findFirstOrThrow();
    const directory = seedDirectory(service.testDatabase.database, service.clock);
    await directory.createFactor(user.id, { type: 'PASSKEY', name: 'A phone' });
    const back = await createAdmin(environment, ['--username', 'Ada'], 'the second long phrase');
    expect(back.code).toBe(0);
    expect(back.stdout).toMatch(/^Signs in by the passkey A phone of .* too\.$/m);
    expect(await prisma.user.count()).toBe(1);
    await prisma.userFactor.deleteMany();
    await signInToConsole(browser, { username: 'ada', password: 'the second long phrase' });
    expect(await browser.session()).toMatchObject({ scopes: ['all'] });
  });

  test.each([
    [['--username', 'ada'], 'short'],
    [['--username', '1 2'], 'a long enough phrase'],
    [[], 'a long enough phrase'],
    [['--name', 'ada'], 'a long enough phrase'],
  ])('ends in 1 and writes nothing for %j with %j', async (parameters, input) => {
    const service = await startService();
    const environment = {
      DATABASE_URL: service.testDatabase.url ?? '',
      SIGNET_SECRET: 'Xq3vT9-another-secret-for-tests-0bZ1',
    };
    const { code, stdout } = await createAdmin(environment, parameters, input);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(await service.testDatabase.database.prisma.user.count()).toBe(0);
  });
});
