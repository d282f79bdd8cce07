import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startApplicationServer } from '../../support/peers/application-server.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../../support/peers/chromium.ts';
import {
  attachAuthenticator,
  type VirtualAuthenticator,
} from '../../support/people/passkeys/virtual-authenticator.ts';
import { authorize, createSignInFixture, password } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

describe.runIf(chromiumPath)('passkeys in a browser', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  const application = await startApplicationServer();
  const fixture = await createSignInFixture(service);
  const { prisma } = fixture.database;
  await prisma.application.update({
    where: { id: fixture.client.id },
    data: { redirectUris: [application.redirectUri], allowHeadlessSignIn: true },
  });
  const token = await service.managementToken();
  await changeSettings(service, token, { factors: ['PASSKEY'] });

  let chromium: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await leaveChromium();
    await application.stop();
  });

  async function begin(
    options: Parameters<Browser['newContext']>[0] & {
      isTouched?: boolean;
      offersSuggestions?: boolean;
    } = {},
    parameters: Record<string, string> = {},
  ): Promise<{ page: Page; authenticator: VirtualAuthenticator; wrong: string[] }> {
    const { isTouched = true, offersSuggestions = true, ...rest } = options;
    context = await chromium.newContext({ locale: 'en-GB', ...rest });
    const page = await context.newPage();
    if (!offersSuggestions) {
      await page.addInitScript(
        'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
      );
    }
    const wrong: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(message.text());
    });
    page.on('pageerror', (error) => wrong.push(error.message));
    const authenticator = await attachAuthenticator(page, { isTouched });
    const redirect = { redirect_uri: application.redirectUri, ...parameters };
    const { url } = await authorize(service, fixture.client, redirect);
    await page.goto(url.href);
    return { page, authenticator, wrong };
  }

  async function signInByPassword(page: Page, username: string | null) {
    await page.locator('input[name=identifier]').fill(username ?? '');
    await page.locator('input[name=password]').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  const atApplication = (page: Page) => page.waitForURL(`${application.redirectUri}?**`);
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

  /** A new person who enrols a passkey in a browser, and is signed in. */
  async function enroll(options?: Parameters<typeof begin>[0]) {
    const user = await fixture.createUser();
    const begun = await begin(options);
    await signInByPassword(begun.page, user.username);
    await begun.page.getByLabel('Name of the passkey').fill('Work laptop');
    await press(begun.page, 'Create a passkey');
    await atApplication(begun.page);
    expect(begun.wrong).toEqual([]);
    return { user, ...begun };
  }

  /** Begins another sign-in in the same browser, which has forgotten the session. */
  async function again(page: Page, parameters: Record<string, string> = {}) {
    await context.clearCookies();
    const redirect = { redirect_uri: application.redirectUri, ...parameters };
    await page.goto((await authorize(service, fixture.client, redirect)).url.href);
  }

  test('a person enrols one, and signs in with it alone', async () => {
    // A touch could otherwise answer the suggestion before the button is pressed.
    const { user, page, authenticator } = await enroll({ offersSuggestions: false });
    const [credential] = await authenticator.credentials();
    expect(credential).toMatchObject({ rpId: 'localhost' });
    const [factor] = await prisma.userFactor.findMany({ where: { userId: user.id } });
    expect(factor).toMatchObject({ type: 'PASSKEY', name: 'Work laptop' });
    await authenticator.touch(false);
    await again(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await authenticator.touch(true);
    await press(page, 'Sign in with a passkey');
    await atApplication(page);
    const [session] = await prisma.session.findMany({
      where: { userId: user.id },
      orderBy: { createdAt: 'desc' },
    });
    expect(session?.authenticationMethods).toEqual(['swk', 'user', 'mfa']);
  });

  test('a passkey is offered among the suggestions of the first field', async () => {
    const { page } = await enroll();
    // The virtual person chooses the only suggestion at once.
    await again(page);
    await atApplication(page);
  });

  test('is the second factor after a password', async () => {
    const { user, page, authenticator } = await enroll();
    await authenticator.touch(false);
    await again(page);
    await signInByPassword(page, user.username);
    await page.getByRole('heading', { name: 'Use a passkey' }).waitFor();
    await authenticator.touch(true);
    await press(page, 'Use a passkey');
    await atApplication(page);
  });

  test('a person who is not verified is told, and can try again', async () => {
    const { page, authenticator } = await enroll({ offersSuggestions: false });
    await authenticator.verify(false);
    await again(page);
    await press(page, 'Sign in with a passkey');
    await page.getByText('No passkey was used.').waitFor();
    await authenticator.verify(true);
    await press(page, 'Sign in with a passkey');
    await atApplication(page);
  });

  test('a deleted one is refused, and the browser is told to forget it', async () => {
    const { user, page } = await enroll({ offersSuggestions: false });
    await page.addInitScript(`PublicKeyCredential.signalUnknownCredential = async (options) => {
      document.documentElement.dataset.forgotten = JSON.stringify(options);
    }`);
    const [factor] = await prisma.userFactor.findMany({ where: { userId: user.id } });
    await prisma.userFactor.deleteMany({ where: { userId: user.id } });
    await again(page);
    await press(page, 'Sign in with a passkey');
    await page.getByText('That passkey cannot be used here.').waitFor();
    expect(JSON.parse(String(await page.locator('html').getAttribute('data-forgotten')))).toEqual({
      rpId: 'localhost',
      credentialId: Buffer.from(factor?.credentialId ?? []).toString('base64url'),
    });
  });

  test('the script is the only file that its pages can run', async () => {
    const { page, wrong } = await begin();
    const answer = await page.reload();
    const policy = (await answer?.headerValue('content-security-policy')) ?? '';
    const { baseUrl } = service.app.services;
    // Beside it, the page's own lines that show a password.
    const [, scripts = ''] = /script-src ([^;]+);/.exec(policy) ?? [];
    expect(scripts.split(' ')).toEqual([
      expect.stringMatching(/^'sha256-/),
      `${baseUrl}/sign-in/passkeys.js`,
    ]);
    expect(policy).toMatch(/connect-src [^ ;]+\/passkey;/);
    expect(wrong).toEqual([]);
    const registration = await page.goto(
      (await page.getByRole('link', { name: 'Create account' }).getAttribute('href')) ?? '',
    );
    expect(await registration?.headerValue('content-security-policy')).not.toContain('passkeys.js');
    await changeSettings(service, token, { factors: [] });
    await again(page);
    expect(await page.locator('script[src]').count()).toBe(0);
    await changeSettings(service, token, { factors: ['PASSKEY'] });
  });

  test.each([
    ['en-GB', 'Sign in with a passkey', 'Create a passkey', 'Use a passkey'],
    ['de-DE', 'Mit einem Passkey anmelden', 'Passkey anlegen', 'Passkey verwenden'],
  ])('axe finds nothing on their pages in %s', async (locale, signIn, create, verify) => {
    const user = await fixture.createUser();
    const { page } = await begin({ locale, bypassCSP: true, offersSuggestions: false });
    const look = async (name: string) => {
      await page.getByRole('button', { name }).waitFor();
      await expectAccessible(page, name);
    };
    await look(signIn);
    await page.locator('input[name=identifier]').fill(user.username ?? '');
    await page.locator('input[name=password]').fill(password);
    await page.locator('button[type=submit]').first().click();
    await look(create);
    await press(page, create);
    await atApplication(page);
    await again(page);
    await page.locator('input[name=identifier]').fill(user.username ?? '');
    await page.locator('input[name=password]').fill(password);
    await page.locator('button[type=submit]').first().click();
    await look(verify);
    await press(page, verify);
    await atApplication(page);
  });

  test('without scripts there is no button, and the password is enough', async () => {
    const user = await fixture.createUser();
    const { page } = await begin({ javaScriptEnabled: false });
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await signInByPassword(page, user.username);
    await page.getByText('This browser cannot use passkeys here').waitFor();
    await press(page, 'Not now');
    await atApplication(page);
  });
});
