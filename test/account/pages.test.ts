import { TOTP, URI } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { settingsId } from '../../src/sign-in-experience/settings.ts';
import { expectAccessible } from '../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { codeTo } from '../support/people/messages.ts';
import { addOneOfEach } from '../support/people/pages/one-of-each.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

describe.runIf(chromiumPath)('the pages of the account', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  const { baseUrl } = service.app.services;
  const { client, createUser, database, directory } = await createAccountFixture(service);
  const { prisma } = database;
  await prisma.signInExperience.create({
    data: {
      id: settingsId,
      settings: { factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'] },
      updatedAt: service.clock.now(),
    },
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

  let count = 0;
  async function person() {
    count += 1;
    const user = await createUser({
      username: `ada${count}`,
      primaryEmail: `ada${count}@example.com`,
      primaryPhone: `+4915100000${String(count).padStart(3, '0')}`,
      isEmailVerified: true,
      name: 'Ada Lovelace',
      enrollmentSkippedAt: service.clock.now(),
    });
    const organization = await directory.createOrganization();
    await prisma.organizationUser.create({
      data: { organizationId: organization.id, userId: user.id, createdAt: service.clock.now() },
    });
    return user;
  }

  async function newPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await chromium.newContext({ locale: 'en-GB', bypassCSP: true, ...options });
    contexts.push(context);
    return context.newPage();
  }

  /** Signs in with the keyboard alone, at a page of the account. */
  async function signIn(page: Page, username: string | null, path = '/account'): Promise<void> {
    await page.goto(`${baseUrl}${path}`);
    await page.locator('input[name=identifier]').waitFor();
    await page.keyboard.type(username ?? '');
    await page.keyboard.press('Tab');
    // The link of a forgotten password stands before the field.
    while ((await page.evaluate('document.activeElement.name')) !== 'password')
      await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account**`);
  }

  /** Presses Tab until an element has the focus. */
  async function tabTo(page: Page, expression: string): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      if (
        await page.evaluate(`(() => { const e = document.activeElement; return ${expression}; })()`)
      )
        return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Nothing to tab to: ${expression} at ${page.url()}`);
  }

  /** The ids of what describes a field. */
  const explanationOf = async (page: Page, name: string) =>
    ((await page.locator(`input[name=${name}]`).getAttribute('aria-describedby')) ?? '').split(' ');

  async function prove(page: Page): Promise<void> {
    await page.locator('input[name=password]').waitFor();
    await tabTo(page, "e.name === 'password'");
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
  }

  const names = [
    'profile',
    'username',
    'email',
    'phone',
    'password',
    'sessions',
    'activity',
    'organizations',
    'applications',
    'identities',
    'factors',
    'factors/app',
    'factors/passkey',
    'factors/codes',
    'delete',
  ];

  test('are without fault for axe in each look', async () => {
    const user = await person();
    await addOneOfEach(service, user, client);
    const page = await newPage();
    await signIn(page, user.username);
    await expectAccessible(page, 'overview');
    await page.goto(`${baseUrl}/account/username`);
    await expectAccessible(page, 'verify-password');
    await page.goto(`${baseUrl}/account/verify?to=/account/email&by=EMAIL_CODE`);
    await expectAccessible(page, 'verify-code-send');
    await page.keyboard.press('Tab');
    await page.locator('button[type=submit]').first().click();
    await page.locator('input[name=code]').waitFor();
    await expectAccessible(page, 'verify-code');
    await page.goto(`${baseUrl}/account/username`);
    await prove(page);
    await page.locator('input[name=username]').waitFor();
    const { organizationId } = await prisma.organizationUser.findFirstOrThrow({
      where: { userId: user.id },
    });
    const now = service.clock.now();
    const { id } = await prisma.organizationInvitation.create({
      data: {
        id: newId('OrganizationInvitation'),
        organizationId,
        invitee: user.primaryEmail ?? '',
        expiresAt: new Date(now.getTime() + 60_000),
        createdAt: now,
        updatedAt: now,
      },
    });
    await page.goto(`${baseUrl}/account/invitation?id=${id}`);
    await page.getByRole('button', { name: /^Join / }).waitFor();
    await expectAccessible(page, 'invitation');
    for (const name of names) {
      await page.goto(`${baseUrl}/account/${name}`);
      expect(new URL(page.url()).pathname).toBe(`/account/${name}`);
      await expectAccessible(page, name.replace('/', '-'));
    }
  });

  test('fit a narrow screen in German', async () => {
    const user = await person();
    await addOneOfEach(service, user, client);
    const page = await newPage({ locale: 'de-DE', viewport: { width: 320, height: 900 } });
    await signIn(page, user.username);
    const look = async (name: string) => {
      const [language, overflow] = await page.evaluate<[string, number]>(
        '[document.documentElement.lang, document.documentElement.scrollWidth - document.documentElement.clientWidth]',
      );
      expect([name, language, overflow]).toEqual([name, 'de', 0]);
      const folder = process.env['SCREENSHOTS'];
      if (folder)
        await page.screenshot({
          path: `${folder}/de-${name.replace('/', '-')}.png`,
          fullPage: true,
        });
    };
    await look('overview');
    await page.goto(`${baseUrl}/account/verify?to=/account/email&by=EMAIL_CODE`);
    await look('verify');
    await page.goto(`${baseUrl}/account/username`);
    await prove(page);
    await page.locator('input[name=username]').waitFor();
    for (const name of names) {
      await page.goto(`${baseUrl}/account/${name}`);
      await look(name);
    }
  });

  test('change the user name by keyboard, after a proof', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username);
    await tabTo(page, "e.getAttribute('href')?.endsWith('/account/username')");
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account/verify*`);
    await tabTo(page, "e.name === 'password'");
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.locator('#error').waitFor();
    expect(await explanationOf(page, 'password')).toContain('error');
    await prove(page);
    await page.waitForURL(`${baseUrl}/account/username`);
    await tabTo(page, "e.name === 'username'");
    await page.keyboard.press('Control+A');
    await page.keyboard.type(`countess${count}`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account?done=username`);
    expect(await page.locator('[role=status]').textContent()).toContain('changed');
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      username: `countess${count}`,
    });
  });

  test('change the e-mail address by keyboard', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/email');
    await prove(page);
    await page.waitForURL(`${baseUrl}/account/email`);
    await tabTo(page, "e.name === 'email'");
    await page.keyboard.type('countess@example.org');
    await page.keyboard.press('Enter');
    // Another code can be asked for once the first has had the time to come; each way stands on a line of its own.
    const again = page.getByRole('button', { name: /^Send a new code \(\d+ s\)$/ });
    await again.waitFor();
    expect(await again.isDisabled()).toBe(true);
    const other = page.getByRole('link', { name: 'Use another address' });
    const [above, below] = [await again.boundingBox(), await other.boundingBox()];
    expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
    expect(await page.locator('.below').first().innerText()).not.toContain('·');
    await page.locator('input[name=code]').waitFor();
    await expectAccessible(page, 'email-code');
    await page.locator('input[name=code]').focus();
    // A complete code sends itself.
    await page.keyboard.type('000000');
    await page.locator('#error').waitFor();
    expect(await explanationOf(page, 'code')).toContain('error');
    await tabTo(page, "e.name === 'code'");
    await page.keyboard.type(await codeTo(service, 'countess@example.org'));
    await page.waitForURL(`${baseUrl}/account?done=email`);
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      primaryEmail: 'countess@example.org',
      isEmailVerified: true,
    });
  });

  test('tell the holder of a taken address alone', async () => {
    const victim = await person();
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/email');
    await prove(page);
    await page.locator('input[name=email]').fill(victim.primaryEmail ?? '');
    await page.keyboard.press('Enter');
    await page.locator('input[name=code]').fill(await codeTo(service, victim.primaryEmail ?? ''));
    await page.locator('#error').waitFor();
    expect(await page.locator('#error').textContent()).toContain('Another account');
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      primaryEmail: user.primaryEmail,
    });
  });

  test('change the password, and stay signed in here alone', async () => {
    const user = await person();
    const page = await newPage();
    const other = await newPage();
    await signIn(other, user.username);
    await signIn(page, user.username, '/account/password');
    await prove(page);
    await page.locator('input[name=password]').waitFor();
    await page.locator('input[name=password]').fill('1234');
    await page.keyboard.press('Enter');
    await page.locator('#error').waitFor();
    await expectAccessible(page, 'password-refused');
    await page.locator('input[name=password]').fill('a completely new secret');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account?done=password`);
    await other.goto(`${baseUrl}/account`);
    expect(new URL(other.url()).pathname).toContain('/sign-in/');
  });

  test('show devices, and sign out the others', async () => {
    const user = await person();
    const page = await newPage();
    const other = await newPage();
    await signIn(other, user.username);
    await signIn(page, user.username, '/account/sessions');
    expect(await page.locator('.entries li').count()).toBe(2);
    expect(await page.locator('.badge').count()).toBe(1);
    await expectAccessible(page, 'sessions-two');
    await tabTo(page, "e.name === 'others'");
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account/sessions?done=sessions`);
    expect(await page.locator('.entries li').count()).toBe(1);
    await other.goto(`${baseUrl}/account`);
    expect(new URL(other.url()).pathname).toContain('/sign-in/');
  });

  test('add an authenticator app, and remove it', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/factors/app');
    await prove(page);
    const uri = await page.locator('a[href^="otpauth:"]').getAttribute('href');
    const app = URI.parse(uri ?? '');
    if (!(app instanceof TOTP)) throw new Error('It is an authenticator app.');
    await page.locator('input[name=code]').fill('000000');
    await page.keyboard.press('Enter');
    await page.locator('#error').waitFor();
    expect(await explanationOf(page, 'code')).toContain('error');
    await page.locator('input[name=name]').fill('My phone');
    const timestamp = service.clock.now().getTime();
    await page.locator('input[name=code]').fill(app.generate({ timestamp }));
    await page.keyboard.press('Enter');
    // Without backup codes, whoever loses the phone is locked out: they are offered next.
    await page.waitForURL(`${baseUrl}/account/factors/codes?done=factors`);
    await page.getByRole('button', { name: 'Create backup codes' }).waitFor();
    await page.goto(`${baseUrl}/account/factors`);
    await expectAccessible(page, 'factors-one');
    await page.getByRole('button', { name: 'Remove: My phone' }).click();
    await page.getByText('None yet').waitFor();
    expect(await prisma.userFactor.count({ where: { userId: user.id } })).toBe(0);
  });

  test('make backup codes, once', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/factors/codes');
    await prove(page);
    await page.locator('main button[type=submit]').first().click();
    expect(await page.locator('ol.codes li').count()).toBe(10);
    await expectAccessible(page, 'backup-codes');
  });

  test('delete the account', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/delete');
    await prove(page);
    await page.locator('button.bad').click();
    await page.waitForURL(`${baseUrl}/account/deleted`);
    await expectAccessible(page, 'deleted');
    expect(await prisma.user.count({ where: { id: user.id } })).toBe(0);
  });

  test('work without scripts, and in German', async () => {
    const user = await person();
    const page = await newPage({ javaScriptEnabled: false, locale: 'de-DE', bypassCSP: false });
    await page.goto(`${baseUrl}/account/profile`);
    await page.locator('input[name=identifier]').fill(user.username ?? '');
    await page.locator('input[name=password]').fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account/profile`);
    await page.locator('input[name=name]').fill('Ada King');
    await page.locator('input[name=avatar]').fill('no picture');
    await page.keyboard.press('Enter');
    await page.locator('#error').waitFor();
    await page.locator('input[name=avatar]').fill('');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account?done=profile`);
    expect(await page.locator('h1').textContent()).toBe('Ihr Konto');
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      name: 'Ada King',
    });
  });

  test('sign out, and lead back after a sign-in', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${baseUrl}/account/signed-out`);
    await expectAccessible(page, 'signed-out');
    await signIn(page, user.username, '/account/sessions');
    expect(new URL(page.url()).pathname).toBe('/account/sessions');
  });

  test('a form of another session changes nothing, and leads on', async () => {
    const user = await person();
    const page = await newPage();
    await signIn(page, user.username, '/account/profile');
    await page.evaluate("document.querySelector('input[name=csrf]').value = 'forged'");
    await page.locator('input[name=name]').fill('Forged');
    await page.keyboard.press('Enter');
    await page.locator('#error').waitFor();
    expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
      name: 'Ada Lovelace',
    });
    await page.locator('input[name=name]').fill('Countess');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${baseUrl}/account?done=profile`);
  });
});
