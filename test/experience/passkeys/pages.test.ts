import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startApplicationServer } from '../../support/peers/application-server.ts';
import { chromiumPath, launchChromium } from '../../support/peers/chromium.ts';
import { createAuthenticator } from '../../support/people/authenticator.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import {
  attachAuthenticator,
  type VirtualAuthenticator,
} from '../../support/people/virtual-authenticator.ts';
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
    chromium = await launchChromium();
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await chromium?.close();
    await application.stop();
  });

  async function begin(
    options: Parameters<Browser['newContext']>[0] & { isTouched?: boolean } = {},
    parameters: Record<string, string> = {},
  ): Promise<{ page: Page; authenticator: VirtualAuthenticator; wrong: string[] }> {
    const { isTouched = true, ...rest } = options;
    context = await chromium.newContext({ locale: 'en-GB', ...rest });
    const page = await context.newPage();
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

  test('x', async () => {
    const { page, wrong } = await begin();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    console.log(await page.content(), wrong);
    await page.screenshot({ path: '/tmp/pk1.png' });
  });
});
