import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { attachAuthenticator } from '../support/people/passkeys/virtual-authenticator.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

describe.runIf(chromiumPath)('the passkeys of an account', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  const fixture = await createSignInFixture(service);
  const { baseUrl } = service.app.services;
  const { prisma } = fixture.database;
  await changeSettings(service, await service.managementToken(), { factors: ['PASSKEY'] });
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(leaveChromium);

  test('one is added and removed, and the browser learns which are left', async () => {
    const user = await fixture.createUser();
    const page = await (await chromium.newContext({ locale: 'en-GB' })).newPage();
    await page.addInitScript(`PublicKeyCredential.signalAllAcceptedCredentials = async (options) => {
      document.documentElement.dataset.accepted = JSON.stringify(options);
    }`);
    const authenticator = await attachAuthenticator(page);
    await page.goto(`${baseUrl}/account/factors/passkey`);
    await page.locator('input[name=identifier]').fill(user.username ?? '');
    await page.locator('input[name=password]').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Not now' }).click();
    // The sign-in itself is no proof.
    await page.locator('input[name=password]').fill(password);
    await page.locator('button[type=submit]').first().click();
    await page.getByLabel('Name of the passkey').fill('Phone');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.waitForURL(`${baseUrl}/account/factors?done=factors`);
    const accepted = () =>
      page
        .waitForFunction('document.documentElement.dataset.accepted')
        .then((handle) => handle.jsonValue().then((text) => JSON.parse(String(text))));
    const [credential] = await authenticator.credentials();
    const id = Buffer.from(credential?.credentialId ?? '', 'base64').toString('base64url');
    expect(await accepted()).toEqual({
      rpId: 'localhost',
      userId: Buffer.from(user.id).toString('base64url'),
      allAcceptedCredentialIds: [id],
    });
    await page.getByRole('button', { name: 'Remove: Phone' }).waitFor();
    // Nothing else is left to prove it with, once the proof has lapsed.
    const where = { id: user.id };
    const { passwordDigest, passwordAlgorithm } = await prisma.user.findUniqueOrThrow({ where });
    await prisma.user.update({ where, data: { passwordDigest: null, passwordAlgorithm: null } });
    service.clock.advance(601_000);
    await page.getByRole('button', { name: 'Remove: Phone' }).click();
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL(`${baseUrl}/account/factors`);
    await page.getByRole('button', { name: 'Remove: Phone' }).click();
    await page.getByText('You could no longer sign in.').waitFor();
    await prisma.user.update({ where, data: { passwordDigest, passwordAlgorithm } });
    await page.getByRole('button', { name: 'Remove: Phone' }).click();
    await page.getByRole('button', { name: 'Remove: Phone' }).waitFor({ state: 'detached' });
    expect(await accepted()).toMatchObject({ allAcceptedCredentialIds: [] });
  });
});
