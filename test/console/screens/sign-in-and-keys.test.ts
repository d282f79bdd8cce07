import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startMailServer } from '../../support/peers/mail-server.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('sign-in experience, keys and settings at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });

  test('a setting is on the sign-in page once it is saved', async () => {
    await at.open('sign-in-experience', 'Sign-in experience');
    await at.field('Primary color').fill('blue');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Primary color'))).toContain('not a color');
    await at.field('Primary color').fill('#7c2d12');
    await at.field('Product name').fill('Harbour Freight');
    await at.field('Least length').fill('7');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Least length'))).not.toBe('');
    await at.field('Least length').fill('15');
    await at.button('Save').click();
    await at.page.getByText('Saved', { exact: true }).waitFor();
    const other = await at.chromium.newContext();
    const page = await other.newPage();
    await page.goto(`${at.service.app.services.baseUrl}/console`);
    await page.locator('[autocomplete=username]').waitFor();
    expect(await page.title()).toContain('Harbour Freight');
    await other.close();
  });

  test('a mail server is set, and a test message sent', async () => {
    const server = await startMailServer();
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
    await at.confirm('Remove e-mail sender');
    await at.page.getByText('The sender is removed').waitFor();
  });

  test('an identity provider is added, switched off and deleted', async () => {
    const { prisma } = at.service.testDatabase.database;
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
    await window.getByText('/sign-in/callback').waitFor();
    await window.getByLabel('Offered to people').uncheck();
    await at.button('Save', window).click();
    await window.waitFor({ state: 'detached' });
    expect(await prisma.identityProvider.findMany()).toMatchObject([
      { name: 'Northwind', kind: 'ENTERPRISE', enabled: false },
    ]);
    await at.button('Northwind').click();
    await at.deleteRecord('Northwind');
    await at.page.getByText('No identity provider').waitFor();
    expect(await prisma.identityProvider.count()).toBe(0);
  });

  test('a new key signs, and the old one stays until it is deleted', async () => {
    await at.open('keys', 'Signing keys');
    const kids = async () => {
      const { keys } = (await (await fetch(`${at.service.url}/oidc/jwks`)).json()) as {
        keys: { kid: string; alg: string }[];
      };
      return keys;
    };
    const [before] = await kids();
    await at.button('Rotate').click();
    await at.field('Algorithm', at.dialog).selectOption('EdDSA');
    await at.button('Rotate', at.dialog).click();
    const retired = at.page.getByRole('row').filter({ hasText: 'Retired' });
    await retired.getByText(before?.kid ?? '').waitFor();
    expect((await kids()).map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA']);
    await at.confirm('Delete', retired);
    await retired.waitFor({ state: 'detached' });
    expect(await kids()).toMatchObject([{ alg: 'EdDSA' }]);
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
