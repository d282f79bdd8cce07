import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConsole } from '../../src/http/console/files.ts';
import { expectAccessible } from '../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { comeTo } from '../support/people/console-screen.ts';
import { startService, type TestService } from '../support/service.ts';

const password = 'a long way home, twice';

const routes = [
  ['', 'Overview'],
  ['events', 'Events'],
  ['users', 'Users'],
  ['roles', 'Roles'],
  ['apis', 'APIs'],
  ['applications', 'Applications'],
  ['agents', 'Agents and other apps'],
  ['organizations', 'Organizations'],
  ['webhooks', 'Webhooks'],
  ['sign-in-experience', 'Sign-in experience'],
  ['keys', 'Signing keys'],
  ['settings', 'Settings'],
] as const;

describe.runIf(chromiumPath)('the console as it is built', async () => {
  if (!chromiumPath) return;
  const service = await startService({}, { consoleFolder: builtConsole });
  const { baseUrl } = service.app.services;
  const { prisma } = service.testDatabase.database;
  let chromium: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const hosts = new Set<string>();

  function listen(to: Page) {
    to.on('console', (message) => {
      // Chromium reports an answer with 401, which is how the page learns that nobody is signed in.
      if (/status of 401/.test(message.text())) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    to.on('pageerror', (error) => complaints.push(String(error)));
    to.on('request', (request) => hosts.add(new URL(request.url()).host));
  }

  beforeAll(async () => {
    chromium = await openChromium();
    context = await chromium.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
    page = await context.newPage();
    listen(page);
    await setUp(service, page);
  });
  afterAll(leaveChromium);

  const open = async (path: string, heading: string) => {
    await page.goto(`${baseUrl}/console/${path}`);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  };
  const typesRaised = async () =>
    (await prisma.event.findMany({ orderBy: { position: 'asc' } })).map(({ type }) => type);

  test('the printed link makes the first administrator, who is signed in', async () => {
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(await prisma.user.findMany({ select: { username: true } })).toEqual([
      { username: 'ada' },
    ]);
    expect(await typesRaised()).toEqual(['User.Created', 'User.Roles.Updated', 'PostSignIn']);
    // What Signet made itself is no step that somebody has taken.
    await page.getByRole('link', { name: 'Create an application' }).waitFor();
  });

  test.each(routes)('/%s is shown to axe, dark and narrow too', async (path, heading) => {
    await comeTo(page, path);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await expectAccessible(page, heading);
  });

  test('the keyboard alone creates an application that may exchange tokens', async () => {
    await open('applications', 'Applications');
    await tabTo(page, 'Create application');
    await page.keyboard.press('Enter');
    await page.locator('[name=name]:focus').waitFor();
    await page.keyboard.type('Order service');
    await tabTo(page, 'Create application');
    await page.keyboard.press('Enter');
    const created = () => prisma.application.findFirst({ where: { name: 'Order service' } });
    await expect.poll(created).not.toBeNull();
    const { id } = (await created()) ?? {};
    await open(`applications/${id}`, 'Order service');
    await tabTo(page, 'Allow token exchange');
    await page.keyboard.press('Space');
    await expect.poll(async () => (await created())?.allowTokenExchange).toBe(true);
  });

  test('a user made by another administrator is in the live log', async () => {
    await open('events', 'Events');
    await page.getByText('Live', { exact: true }).first().waitFor();
    const token = await service.managementToken();
    const response = await fetch(`${service.url}/api/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'grace', name: 'Grace Hopper' }),
    });
    expect(response.status).toBe(201);
    await page.getByText('Grace Hopper').first().waitFor();
  });

  test('asks no other host and breaks no policy', () => {
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual([new URL(baseUrl).host]);
  });

  test('a viewer can change nothing', async () => {
    await open('events', 'Events');
    const [role, user] = await Promise.all([
      prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } }),
      prisma.user.findFirstOrThrow({ where: { username: 'ada' } }),
    ]);
    await prisma.userRole.deleteMany({ where: { userId: user.id } });
    await prisma.userRole.create({
      data: { userId: user.id, roleId: role.id, setterScopes: ['all'] },
    });
    // The session ends with the role that it had.
    await page.getByRole('alertdialog').waitFor();
    await page.getByRole('alertdialog').getByRole('link').click();
    await page.locator('[autocomplete=username]').fill('ada');
    await page.locator('[autocomplete=current-password]').fill(password);
    await page.locator('button[type=submit]').first().click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    const before = await typesRaised();
    for (const [path, heading] of routes) {
      await open(path, heading);
      await page.getByRole('progressbar').waitFor({ state: 'detached' });
      const verbs = /^(Create|Add|Rotate|Import|Save|Delete|Send)( |$)/;
      const names = await page.getByRole('button', { name: verbs }).allInnerTexts();
      expect([path, names]).toEqual([path, []]);
    }
    const refused = await page.evaluate<{ errors: { extensions: { code: string } }[] }>(
      `fetch('/console/graphql', {
         method: 'POST',
         headers: { 'content-type': 'application/json', 'x-signet-console': '1' },
         body: JSON.stringify({ query: 'mutation { createUser(input: { username: "eve" }) { __typename } }' }),
       }).then((response) => response.json())`,
    );
    expect(refused.errors.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    expect(await typesRaised()).toEqual(before);
  });

  test('a suspended user’s session ends on the screen', async () => {
    await open('users', 'Users');
    await prisma.user.updateMany({ where: { username: 'ada' }, data: { isSuspended: true } });
    await page.getByRole('alertdialog').waitFor();
  });
});

async function setUp({ setupLink = '' }: TestService, page: Page) {
  await page.goto(setupLink);
  await page.getByLabel('User name').fill('ada');
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account and sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

/** Tabs to what has this accessible name. */
async function tabTo(page: Page, name: string) {
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press('Tab');
    if (await page.getByRole('button', { name, exact: true }).and(page.locator(':focus')).count())
      return;
    if (await page.getByRole('switch', { name, exact: true }).and(page.locator(':focus')).count())
      return;
  }
  throw new Error(`Nothing to tab to is called "${name}" at ${page.url()}.`);
}
