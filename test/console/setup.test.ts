import { describe, expect, test } from 'vitest';
import {
  administrator,
  consoleFolder,
  openConsole,
  sendSetup,
  setupTokenOf,
} from '../support/people/console.ts';
import { startSecondNode, startService } from '../support/service.ts';

type Problem = {
  readonly code: string;
  readonly detail: string;
  readonly issues?: { readonly path: string[]; readonly message: string }[];
  readonly path?: string[];
};

describe('the setup page', async () => {
  const service = await startService({}, { consoleFolder });
  const token = setupTokenOf(service);
  const { prisma } = service.testDatabase.database;
  const browser = openConsole(service);

  test('is the app for the link of the start, and uses nothing up', async () => {
    for (let time = 0; time < 2; time += 1) {
      const visit = await browser.open(`/console/setup?token=${token}`);
      expect(visit.status).toBe(200);
      expect(visit.body).toContain('/console/assets/');
    }
    expect(await prisma.setupToken.count()).toBe(1);
  });

  test.each(['', '?token=', '?token=wrong', '?token=a&token=b', '?token=%00'])(
    'refuses a link with %j, and says what to do',
    async (query) => {
      const visit = await browser.open(`/console/setup${query}`);
      expect(visit.status).toBe(403);
      expect(visit.body).toContain('npx signet create-admin');
    },
  );

  test('keeps the token as a digest alone', async () => {
    const rows = await prisma.$queryRaw<
      { text: string }[]
    >`SELECT s::text AS "text" FROM "SetupToken" s`;
    expect(rows).toHaveLength(1);
    const clear = [token, Buffer.from(token).toString('hex')];
    for (const form of clear) expect(rows[0]?.text).not.toContain(form);
    expect(JSON.stringify(service.logged)).not.toContain(token);
  });

  test.each([
    ['username', { username: '1 2' }],
    ['username', { username: undefined }],
    ['email', { email: 'nowhere' }],
    ['password', { password: 'short' }],
    ['password', { password: 'password123' }],
    ['password', { password: undefined }],
  ])('names %s in a form with %o, and keeps the link', async (field, values) => {
    const response = await sendSetup(browser, { token, ...administrator, ...values });
    expect(response.status).toBe(422);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    const { code, issues = [] } = (await response.json()) as Problem;
    expect(code).toBe('INVALID_INPUT');
    expect(issues.map(({ path }) => path[0])).toContain(field);
    expect(JSON.stringify(issues)).not.toContain('password123');
    expect(await prisma.user.count()).toBe(0);
    expect(await prisma.setupToken.count()).toBe(1);
  });

  test('refuses a form from a page of another origin', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', origin: 'null' },
    ];
    for (const headers of foreign) {
      const response = await fetch(`${service.url}/console/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ token, ...administrator }),
      });
      expect(response.status).toBe(403);
    }
    expect(await prisma.user.count()).toBe(0);
  });

  test('takes JSON alone', async () => {
    const form = new URLSearchParams({ token, ...administrator });
    const response = await fetch(`${service.url}/console/setup`, { method: 'POST', body: form });
    expect(response.status).toBe(415);
    expect(await prisma.user.count()).toBe(0);
  });

  test('makes one administrator of fifty that come at once, and signs that one in', async () => {
    const browsers = Array.from({ length: 50 }, () => openConsole(service));
    const answers = await Promise.all(
      browsers.map((each, number) =>
        sendSetup(each, {
          token,
          username: `root${number}`,
          email: `root${number}@example.com`,
          password: administrator.password,
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(49);
    const number = statuses.indexOf(201);
    expect(await browsers[number]?.session()).toMatchObject({
      user: { username: `root${number}`, primaryEmail: `root${number}@example.com` },
      scopes: ['all'],
    });
    expect(await prisma.user.count()).toBe(1);
    expect(await prisma.setupToken.count()).toBe(0);
    const events = await prisma.event.findMany({ orderBy: { position: 'asc' } });
    expect(events.map(({ type }) => type)).toEqual([
      'User.Created',
      'User.Roles.Updated',
      'PostSignIn',
    ]);
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain(administrator.password);
  });

  test('refuses the used link, and says what to do', async () => {
    expect((await browser.open(`/console/setup?token=${token}`)).status).toBe(403);
    const response = await sendSetup(browser, { token, ...administrator });
    expect(response.status).toBe(403);
    const { code, detail } = (await response.json()) as Problem;
    expect(code).toBe('NOT_ALLOWED');
    expect(detail).toContain('start the service again');
  });

  test('is offered by no later start while somebody holds the role, and again when nobody does', async () => {
    expect((await startSecondNode(service)).setupLink).toBeUndefined();
    await prisma.userRole.deleteMany();
    const again = await startSecondNode(service);
    expect(again.setupLink).toBeDefined();
    const response = await sendSetup(openConsole(again), {
      token: setupTokenOf(again),
      ...administrator,
    });
    expect(response.status).toBe(201);
  });
});

describe('a link of the setup', async () => {
  const service = await startService({}, { consoleFolder });

  test('is good for an hour; a later start prints another', async () => {
    const browser = openConsole(service);
    const token = setupTokenOf(service);
    service.clock.advance(3_500_000);
    expect((await browser.open(`/console/setup?token=${token}`)).status).toBe(200);
    const later = await startSecondNode(service);
    service.clock.advance(200_000);
    expect((await browser.open(`/console/setup?token=${token}`)).status).toBe(403);
    expect((await sendSetup(browser, { token, ...administrator })).status).toBe(403);
    expect(setupTokenOf(later)).not.toBe(token);
    const made = await sendSetup(browser, { token: setupTokenOf(later), ...administrator });
    expect(made.status).toBe(201);
  });
});

describe('ADMIN_USERNAME and ADMIN_PASSWORD', () => {
  test('make the first administrator, without a link and without a trace of the password', async () => {
    const service = await startService({
      ADMIN_USERNAME: administrator.username,
      ADMIN_PASSWORD: administrator.password,
    });
    expect(service.setupLink).toBeUndefined();
    const { prisma } = service.testDatabase.database;
    const [user] = await prisma.user.findMany({ include: { roles: { include: { role: true } } } });
    expect(user?.username).toBe(administrator.username);
    expect(user?.roles.map(({ role }) => role.name)).toEqual(['Administrator']);
    expect(JSON.stringify(service.logged)).not.toContain(administrator.password);
    // They say nothing while there is one: not even when they could not be used any more.
    await startSecondNode(service, { ADMIN_USERNAME: 'other', ADMIN_PASSWORD: 'short' });
    expect(await prisma.user.count()).toBe(1);
  });

  test.each([
    ['a password that is not accepted', { ADMIN_USERNAME: 'root', ADMIN_PASSWORD: 'short' }],
    [
      'the name of somebody else',
      { ADMIN_USERNAME: 'MALLORY', ADMIN_PASSWORD: administrator.password },
    ],
  ])('end the start for %s', async (_what, environment) => {
    const service = await startService();
    const { prisma } = service.testDatabase.database;
    const now = new Date();
    await prisma.user.create({
      data: {
        id: 'user_01h455vb4pex5vsknk084sn02q',
        username: 'mallory',
        createdAt: now,
        updatedAt: now,
      },
    });
    const starting = startSecondNode(service, environment);
    await expect(starting).rejects.toThrow(/ADMIN_USERNAME and ADMIN_PASSWORD cannot be used/);
    await expect(starting).rejects.not.toThrow(environment.ADMIN_PASSWORD);
    expect(await prisma.userRole.count()).toBe(0);
  });
});
