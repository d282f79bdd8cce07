import { beforeAll, describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('an exchange is explained at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { database } = at.service.app.services;
  const directory = seedDirectory(database, at.service.clock);
  const orders = await directory.createResource(['orders:read', 'orders:refund'], {
    name: 'Orders',
  });
  const grace = await directory.createUser({ username: 'grace', name: 'Grace Hopper' });
  await directory.allowUser(grace, orders, ['orders:read']);
  const client = await directory.createClient({ name: 'Order service' });
  const row = (name: string) => at.page.getByRole('row').filter({ hasText: name });
  const application = () =>
    database.prisma.application.findUniqueOrThrow({ where: { id: client.id } });

  beforeAll(() => at.open(`applications/${client.id}`, 'Order service'));

  test('what is broken is named', async () => {
    await at.pick('Search users', 'grace', 'Grace Hopper');
    await at.pick('Search APIs', 'Orders');
    await at.page.getByText('The exchange would be refused').waitFor();
    await row('Token exchange is allowed').getByText('Broken').waitFor();
    await row('orders:read').getByText('Granted').waitFor();
  });

  test('once allowed, each scope has its reason', async () => {
    await at.page.getByRole('switch', { name: 'Allow token exchange' }).click();
    await at.page.getByText('A token would be issued').waitFor();
    await row('Token exchange is allowed').getByText('Met').waitFor();
    await row('orders:read')
      .getByText(/^Role \d/)
      .waitFor();
    await row('orders:refund').getByText('Not held').waitFor();
  });

  test('the kinds of subject token are allowed one by one', async () => {
    await at.field('Subject token').selectOption('SUBJECT_TOKEN');
    await row('This kind of subject token is allowed').getByText('Broken').waitFor();
    await at.page.getByRole('switch', { name: 'Allow impersonation' }).click();
    await row('This kind of subject token is allowed').getByText('Met').waitFor();
    expect(await application()).toMatchObject({
      allowImpersonation: true,
      allowPersonalAccessTokens: false,
    });
    await at.page.getByRole('switch', { name: 'Allow personal access tokens' }).click();
    await expect.poll(async () => (await application()).allowPersonalAccessTokens).toBe(true);
  });

  test.each(['en', 'de'])('axe finds nothing, in %s', async (language) => {
    const bare = await at.chromium.newContext({
      bypassCSP: true,
      locale: language,
      reducedMotion: 'reduce',
      storageState: await at.context.storageState(),
    });
    const page = await bare.newPage();
    await page.goto(`${at.service.app.services.baseUrl}/console/applications/${client.id}`);
    const [user, api] = {
      en: ['Search users', 'Search APIs'],
      de: ['Personen suchen', 'APIs suchen'],
    }[language] as string[];
    for (const [name, search] of [
      [user, 'Grace Hopper'],
      [api, 'Orders'],
    ]) {
      await page.getByRole('combobox', { name: String(name), exact: true }).fill(String(search));
      await page.getByRole('option', { name: String(search) }).click();
    }
    await page.getByText('orders:refund').waitFor();
    await expectAccessible(page, 'exchange');
    await bare.close();
  });

  test('the browser complains about nothing', () => {
    expect(at.complaints).toEqual([]);
  });
});
