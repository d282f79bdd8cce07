import { describe, expect, test } from 'vitest';
import { readSignInExperience } from '../../../src/sign-in-experience/settings.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startMailServer } from '../../support/peers/mail-server.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('sign-in experience, keys and settings at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });

  test('a setting is on the sign-in page once it is saved', async () => {
    await at.page.getByRole('img', { name: /^Sign-ins, Last hour: \d/ }).waitFor();
    await at.button('Last 24 hours').click();
    await at.page.getByRole('img', { name: /^Sign-ins, Last 24 hours: \d/ }).waitFor();
    await at.page.getByRole('link', { name: 'Set how e-mail is sent' }).waitFor();
    // What is not well leads to the tab that it means, as the list of what to set up does.
    await at.page.getByText('1 thing needs attention').waitFor();
    await at.page.getByRole('link', { name: 'No e-mail sender is set' }).click();
    await at.page.getByRole('heading', { name: 'Senders', exact: true }).waitFor();
    expect(new URL(at.page.url()).search).toBe('?tab=messages');
    await at.open('sign-in-experience', 'Sign-in experience');
    await at.field('Primary color').fill('blue');
    // The branding needs no scrolling: what has changed can be saved at once.
    const save = await at.button('Save').boundingBox();
    expect(save?.y).toBeLessThan(700);
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Primary color'))).toContain('not a color');
    await at.field('Primary color').fill('#7c2d12');
    await at.field('Product name').fill('Harbour Freight');
    // The page itself, with what nobody has saved; it cannot be used.
    const preview = at.page.frameLocator('iframe[title=Preview]');
    await preview.getByText('Harbour Freight').waitFor();
    await at.field('Language of the page').selectOption('de');
    await preview.getByText('weiter zu Ihrer Anwendung').waitFor();
    await at.field('Page').selectOption('code');
    await preview.getByRole('heading', { name: 'Code eingeben' }).waitFor();
    await at.field('Screen').selectOption('desktop');
    const frame = at.page.locator('iframe[title=Preview]');
    await expect.poll(() => frame.getAttribute('style')).toContain('width: 1280px');
    expect(await frame.getAttribute('sandbox')).toBe('allow-scripts');
    expect(await frame.getAttribute('inert')).not.toBeNull();
    await expectAccessible(at.page, 'branding');
    await at.button('Save').click();
    await at.page.getByText('Saved', { exact: true }).waitFor();
    // Without the notice.
    await at.open('sign-in-experience', 'Sign-in experience');
    for (const tab of ['Methods', 'Messages', 'Providers', 'Security']) {
      await at.tab(tab);
      await expect.poll(() => new URL(at.page.url()).search).toBe(`?tab=${tab.toLowerCase()}`);
      await expectAccessible(at.page, tab);
    }
    await at.field('Minimum length').fill('7');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Minimum length'))).not.toBe('');
    await at.field('Minimum length').fill('15');
    // Nobody has to count in seconds.
    const unit = at.field('Unit of Without activity');
    expect(await at.field('Without activity').inputValue()).toBe('14');
    expect(await unit.locator('option:checked').innerText()).toBe('days');
    await unit.selectOption('hours');
    await at.field('Without activity').fill('36');
    await at.button('Save').click();
    await at.page.getByText('Saved', { exact: true }).waitFor();
    const { prisma } = at.service.testDatabase.database;
    await expect
      .poll(async () => (await readSignInExperience(prisma)).sessionPolicy.idleSeconds)
      .toBe(36 * 3_600);
    const other = await at.chromium.newContext();
    const page = await other.newPage();
    await page.goto(`${at.service.app.services.baseUrl}/console`);
    await page.locator('[autocomplete=username]').waitFor();
    expect(await page.title()).toContain('Harbour Freight');
    await other.close();
  });

  test('a mail server is set, and a test message sent', async () => {
    const server = await startMailServer();
    await at.open('sign-in-experience?tab=messages', 'Sign-in experience');
    await at.button('Set e-mail sender').click();
    await at.field('Host', at.dialog).fill('127.0.0.1');
    await at.field('Port', at.dialog).fill(String(server.port));
    await at.field('Sender address', at.dialog).fill('nobody');
    await at.button('Set e-mail sender', at.dialog).click();
    expect(await at.errorOf(at.field('Sender address', at.dialog))).not.toBe('');
    await at.field('Sender address', at.dialog).fill('Harbour <no-reply@example.com>');
    await at.button('Set e-mail sender', at.dialog).click();
    await at.page.getByText(`127.0.0.1:${server.port}`).waitFor();
    await at.button('Send test message').click();
    await at.field('Recipient', at.dialog).fill('ada');
    await at.button('Send test message', at.dialog).click();
    expect(await at.errorOf(at.field('Recipient', at.dialog))).not.toBe('');
    await at.field('Recipient', at.dialog).fill('ada@example.com');
    await at.button('Send test message', at.dialog).click();
    const [mail] = await server.arrived(1);
    expect(mail).toMatchObject({ from: 'no-reply@example.com', to: ['ada@example.com'] });
    await at.open('', 'Overview');
    await at.page.getByText('All is well').waitFor();
    await at.open('sign-in-experience?tab=messages', 'Sign-in experience');
    await at.confirm('Remove e-mail sender');
    await at.page.getByText('Sender removed').waitFor();
  });

  test('an identity provider is added, switched off and deleted', async () => {
    const { prisma } = at.service.testDatabase.database;
    await at.tab('Providers');
    await at.button('Add identity provider').click();
    await at.dialog.getByRole('radio', { name: 'Enterprise' }).check();
    await at.field('Name', at.dialog).fill('Northwind');
    await at.field('Issuer', at.dialog).fill('accounts.northwind.example');
    await at.field('Client ID', at.dialog).fill('harbour');
    await at.field('Client secret', at.dialog).fill('kept by nobody else');
    await at.button('Add identity provider', at.dialog).click();
    expect(await at.errorOf(at.field('Issuer', at.dialog))).not.toBe('');
    // Nothing answers there: that alone is no reason to refuse it.
    await at.field('Issuer', at.dialog).fill('https://accounts.northwind.invalid');
    await at.button('Add to Its e-mail domains').click();
    await at.field('Its e-mail domains 1', at.dialog).fill('northwind.example');
    await at.button('Add identity provider', at.dialog).click();
    const window = at.page.getByRole('dialog', { name: 'Northwind' });
    await window.getByText('/sign-in/callback/idp_').waitFor();
    await window.getByLabel('Offered to people').uncheck();
    await at.button('Save', window).click();
    await window.waitFor({ state: 'detached' });
    expect(await prisma.identityProvider.findMany()).toMatchObject([
      { name: 'Northwind', kind: 'ENTERPRISE', enabled: false },
    ]);
    for (const redirectUriState of ['TO_REGISTER', 'SHARED'] as const) {
      // As a version with one redirect URI for all providers has left it.
      await prisma.identityProvider.updateMany({ data: { redirectUriState } });
      await at.page.reload();
      await at.page.getByText('Redirect URI to register').waitFor();
      await at.button('Northwind').click();
      await window.getByText('Register this redirect URI at the provider').waitFor();
      if (redirectUriState === 'SHARED') await at.button('It is registered', window).click();
      else await at.page.keyboard.press('Escape');
      await window.waitFor({ state: 'detached' });
    }
    expect(await prisma.identityProvider.findMany()).toMatchObject([{ redirectUriState: 'OWN' }]);
    await at.button('Northwind').click();
    await at.deleteRecord('Northwind');
    await at.page.getByText('No identity provider').waitFor();
    expect(await prisma.identityProvider.count()).toBe(0);
  });

  test('a new key waits, signs once the old one is deleted, and the next comes by itself', async () => {
    await at.open('keys', 'Signing keys');
    const kids = async () => {
      const { keys } = (await (await fetch(`${at.service.url}/oidc/jwks`)).json()) as {
        keys: { kid: string; alg: string }[];
      };
      return keys;
    };
    const [before] = await kids();
    // From anywhere, by the palette.
    await at.open('roles', 'Roles');
    await at.page.keyboard.press('Control+K');
    await at.page.getByRole('combobox', { name: 'Go to' }).fill('rotate');
    await at.page.getByRole('option', { name: 'Rotate signing key' }).click();
    await at.field('Algorithm', at.dialog).selectOption('EdDSA');
    await at.button('Rotate', at.dialog).click();
    const rows = at.page.getByRole('row');
    const next = rows.filter({ hasText: 'Next' });
    await next.waitFor();
    const old = rows.filter({ hasText: before?.kid ?? '' });
    await old.getByText('Signs', { exact: true }).waitFor();
    expect((await kids()).map(({ alg }) => alg)).toEqual(['ES256', 'EdDSA']);
    // It may have leaked: the next key does not wait then.
    await at.confirm('Delete', old);
    await old.waitFor({ state: 'detached' });
    await rows.getByText('Signs', { exact: true }).waitFor();
    expect(await next.count()).toBe(0);
    expect(await kids()).toMatchObject([{ alg: 'EdDSA' }]);
    // Nor does one that is made at once.
    await at.button('Rotate').click();
    await at.field('Algorithm', at.dialog).selectOption('ES256');
    await at.field('Sign with it at once', at.dialog).check();
    await at.button('Rotate', at.dialog).click();
    await rows.filter({ hasText: 'Retired' }).waitFor();
    expect(await next.count()).toBe(0);
    expect((await kids()).map(({ alg }) => alg)).toEqual(['ES256', 'EdDSA']);

    await at.field('Days between keys').fill('90');
    await at.button('Save').click();
    await expect
      .poll(() => at.service.app.services.database.prisma.serviceSettings.findMany())
      .toMatchObject([{ settings: { signingKeyRotationDays: 90 } }]);
    // The session is none of tokens: it goes on.
    await at.page.reload();
    await at.page.getByRole('heading', { name: 'Signing keys', level: 1 }).waitFor();
  });

  test('the settings tell what the configuration is, without secrets', async () => {
    await at.open('settings', 'Settings');
    const row = at.page.getByRole('row').filter({ hasText: 'ALLOW_PRIVATE_WEBHOOKS' });
    await row.getByText('true').waitFor();
    const text = await at.page.locator('main').innerText();
    expect(text).toContain(at.service.app.services.baseUrl);
    expect(text).toContain('ada');
    expect(text).not.toMatch(/SECRET_KEY\s+\S{8}|postgres:\/\//);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
