import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { expectAccessible } from '../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { manager } from '../support/people/federation.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe.runIf(chromiumPath)('the first page of the account', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  const { baseUrl } = service.app.services;
  const { client, createUser, database, directory } = await createAccountFixture(service);
  const { prisma } = database;
  await changeSettings(service, await service.managementToken(), {
    factors: ['TOTP', 'BACKUP_CODES'],
  });
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(leaveChromium);
  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });

  const newPerson = (values: Parameters<typeof createUser>[0] = {}) =>
    createUser({ enrollmentSkippedAt: service.clock.now(), ...values });

  /** Signs in at the account, and returns its first page. */
  async function open(
    username: string | null,
    options: Parameters<Browser['newContext']>[0] = {},
    secret = password,
  ): Promise<Page> {
    const context = await chromium.newContext({ locale: 'en-GB', ...options });
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(`${baseUrl}/account`);
    await page.fill('input[name=identifier]', username ?? '');
    await page.fill('input[name=password]', secret);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account`);
    return page;
  }
  const part = (page: Page, heading: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: heading }) });
  const linesOf = (page: Page, heading: string) =>
    part(page, heading).getByRole('listitem').allInnerTexts();

  test('says what is missing for a safe account, each with the place where it is done', async () => {
    const user = await newPerson({ primaryEmail: 'careless@example.com' });
    const now = service.clock.now().getTime();
    await prisma.session.create({
      data: {
        id: newId('Session'),
        userId: user.id,
        applicationIds: [client.id],
        ip: '192.0.2.7',
        authenticationMethods: ['pwd'],
        createdAt: new Date(now - 8 * dayMs),
        lastActiveAt: new Date(now - 8 * dayMs),
        expiresAt: new Date(now + dayMs),
      },
    });
    const page = await open(user.username, { bypassCSP: true });
    const advice = part(page, 'Security check-up').getByRole('link');
    const missing = async () => {
      await page.goto(`${baseUrl}/account`);
      return Promise.all(
        (await advice.all()).map(async (link) => [
          await link.innerText(),
          (await link.getAttribute('href'))?.replace(`${baseUrl}/account`, ''),
        ]),
      );
    };
    const factor = ['Add a second factor, so that a stolen password is not enough.', '/factors'];
    const email = ['Confirm your e-mail address.', '/email'];
    const device = [
      'A device was not used for a week. Sign it out if it is not yours.',
      '/sessions',
    ];
    expect(await missing()).toEqual([factor, email, device]);
    await expectAccessible(page, 'check-up');

    // One after the other is done.
    await prisma.user.update({ where: { id: user.id }, data: { isEmailVerified: true } });
    expect(await missing()).toEqual([factor, device]);
    await page.goto(`${baseUrl}/account/sessions`);
    await page.getByRole('button', { name: 'Sign out all other devices' }).click();
    await page.waitForURL('**?done=sessions');
    expect(await missing()).toEqual([factor]);
    await prisma.userFactor.create({
      data: { id: newId('UserFactor'), userId: user.id, type: 'TOTP', createdAt: new Date(now) },
    });
    const codes = ['Create backup codes, in case you lose your second factor.', '/factors/codes'];
    expect(await missing()).toEqual([codes]);
    await page.goto(`${baseUrl}/account/factors/codes`);
    await page.fill('input[name=password]', password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create backup codes' }).click();
    await page.locator('ol.codes').waitFor();
    expect(await missing()).toEqual([]);
    await part(page, 'Security check-up').getByText('Nothing is missing.').waitFor();
  });

  test('tells in sentences what happened last, and who did it', async () => {
    const user = await newPerson({ primaryEmail: 'watchful@example.com' });
    const other = await newPerson();
    await open(other.username);
    await directory.createGrant(user.id, client.id);
    const { name } = await prisma.application.findUniqueOrThrow({ where: { id: client.id } });
    const secret = 'eight ships sail at dawn';
    await (await manager(service)).done('updateUserPassword', { id: user.id, password: secret });
    const page = await open(user.username, {}, secret);
    await page.goto(`${baseUrl}/account/applications`);
    await page.getByRole('button', { name: `Remove: ${name}` }).click();
    await page.waitForURL('**?done=applications');
    await page.goto(`${baseUrl}/account/username`);
    await page.fill('input[name=password]', secret);
    await page.keyboard.press('Enter');
    await page.fill('input[name=username]', 'watchful');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account?done=username`);

    const lines = (await linesOf(page, 'Recent activity')).map((line) => line.split('\n'));
    expect(lines.map(([sentence]) => sentence)).toEqual([
      'Your user name was changed.',
      `${name} can no longer use your account.`,
      'You signed in to your account.',
      'Your password was changed.',
    ]);
    expect(lines[0]?.[1]).toMatch(/^Chrome on Linux, .*127\.0\.0\.1$/);
    expect(lines[3]?.[1]).toBe('Not by you: by the people who run the service.');

    await page.getByRole('link', { name: 'All activity' }).click();
    await page.getByRole('heading', { name: 'Recent activity', level: 1 }).waitFor();
    expect(await page.getByRole('main').getByRole('listitem').count()).toBe(4);
  });

  test('has two columns from 900 px, one below it, and in German', async () => {
    const user = await newPerson({ name: 'Ada King Lovelace' });
    const page = await open(user.username, { locale: 'de-DE' });
    const left = part(page, 'Sicherheits-Check');
    const right = part(page, 'Anmeldung und Sicherheit');
    await part(page, 'Letzte Aktivität').getByText('Sie haben sich').waitFor();
    for (const [width, columns] of [
      [375, 1],
      [899, 1],
      [900, 2],
      [1440, 2],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const [first, second] = [await left.boundingBox(), await right.boundingBox()];
      const areBeside = (second?.x ?? 0) >= (first?.x ?? 0) + (first?.width ?? 0);
      expect([width, areBeside ? 2 : 1]).toEqual([width, columns]);
      const overflow =
        'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect([width, await page.evaluate(overflow)]).toEqual([width, 0]);
    }
  });

  test('shows the picture of the person, or the initials', async () => {
    const avatar = 'https://pictures.example.com/ada.svg';
    const user = await newPerson({ name: 'Ada King Lovelace', avatar });
    const complaints: string[] = [];
    const page = await open(user.username);
    page.on('console', (message) => complaints.push(message.text()));
    let asked = 0;
    await page.route(avatar, (route) => {
      asked += 1;
      expect(route.request().headers()['referer']).toBeUndefined();
      return route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>',
      });
    });
    await page.reload();
    const width = "document.querySelector('.face img')?.naturalWidth";
    await expect.poll(() => page.evaluate(width)).toBe(8);
    expect(asked).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    for (const none of [null, 'javascript:alert(1)']) {
      await prisma.user.update({ where: { id: user.id }, data: { avatar: none } });
      await page.reload();
      expect(await page.locator('.face').innerText()).toBe('AL');
      expect(await page.locator('.face img').count()).toBe(0);
    }
  });
});
