import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApplicationServer } from '../../support/peers/application-server.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../../support/peers/chromium.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import { allowPrivate, createIdentityProvider, manager } from '../../support/people/federation.ts';
import { authorize, createSignInFixture, password } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

describe.runIf(chromiumPath)('in Chromium', async () => {
  if (!chromiumPath) return;
  const service = await startService(allowPrivate);
  const fixture = await createSignInFixture(service);
  const application = await startApplicationServer();
  const client = await fixture.createApplication({
    name: 'Garden Shop',
    allowHeadlessSignIn: true,
    redirectUris: [application.redirectUri],
  });
  // On another site than the service, as in life: cookies and form-action count.
  const provider = await startOpenIdProvider();
  const { issuer, clientId, clientSecret } = provider;
  const common = { issuer, clientId, clientSecret };
  const social = await createIdentityProvider(service, { name: 'Club', kind: 'SOCIAL', ...common });
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(async () => {
    await leaveChromium();
    await application.stop();
  });

  async function open(parameters: Record<string, string> = {}, locale = 'en-GB') {
    const page = await (await chromium.newContext({ locale, bypassCSP: false })).newPage();
    const { url } = await authorize(service, client, {
      redirect_uri: application.redirectUri,
      ...parameters,
    });
    await page.goto(url.href);
    return page;
  }
  const click = (page: Page, name: string) =>
    Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name, exact: true }).click(),
    ]);
  const isBack = (page: Page) => page.url().startsWith(application.redirectUri);

  test('a stranger continues with a provider, and completes the profile', async () => {
    provider.expect('chromium-1', {
      email: 'lin@example.com',
      email_verified: true,
      name: 'Lin',
    });
    const page = await open();
    await expectAccessible(page, 'provider-buttons');
    await click(page, 'Continue with Club');
    expect(new URL(page.url()).pathname).toMatch(/\/profile$/);
    await expectAccessible(page, 'profile');
    await page.getByLabel('User name').fill('lin');
    await click(page, 'Create account');
    expect(isBack(page)).toBe(true);
    // Back, and a reload, lead on too.
    await page.goBack();
    await page.goto(`${page.url()}`);
    expect(await page.locator('h1').count()).toBe(1);
  });

  test('the page of registration has the button too', async () => {
    const page = await open({ screen_hint: 'register' });
    await expectAccessible(page, 'register-providers');
    await click(page, 'Continue with Club');
    expect(isBack(page)).toBe(true);
  });

  test('an account with the address is signed in to first', async () => {
    await fixture.createUser({ username: 'kim', primaryEmail: 'kim@example.com' });
    provider.expect('chromium-2', { email: 'kim@example.com', email_verified: true });
    const page = await open();
    await click(page, 'Continue with Club');
    await expectAccessible(page, 'account-exists');
    await page.locator('input[name=password]').fill(password);
    await click(page, 'Sign in');
    expect(isBack(page)).toBe(true);
  });

  test('a program’s person confirms what they began', async () => {
    provider.expect('chromium-1', { email: 'lin@example.com', email_verified: true });
    const { send } = await startHeadless(service, {
      clientId: client.id,
      redirectUri: application.redirectUri,
    });
    const { url } = await step(send, 'startFederation', { identityProviderId: social });
    const page = await (await chromium.newContext({ locale: 'en-GB' })).newPage();
    await page.goto(url);
    await expectAccessible(page, 'confirm');
    await click(page, 'Continue');
    await expectAccessible(page, 'go-back');
    expect(await step(send, 'submitInteraction')).toMatchObject({ redirectTo: expect.any(String) });
  });

  test('an address of a company leads to its provider', async () => {
    const admin = await manager(service);
    const { identityProvider } = await admin.done('createIdentityProvider', {
      ...{ name: 'Acme', kind: 'ENTERPRISE', emailDomains: ['acme.example'], ...common },
    });
    provider.expect('chromium-3', { email: 'eve@acme.example', email_verified: true });
    const page = await open({}, 'de-DE');
    await expectAccessible(page, 'address-first-de');
    await page.locator('input[name=identifier]').fill('eve@acme.example');
    await click(page, 'Weiter');
    expect(new URL(page.url()).pathname).toMatch(/\/profile$/);
    await admin.done('deleteIdentityProvider', { id: identityProvider.id });
  });
});
