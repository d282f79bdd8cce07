import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { seedDirectory } from '../../support/operations/directory.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('who can do what, at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { database } = at.service.app.services;
  const directory = seedDirectory(database, at.service.clock);
  const orders = await directory.createResource(['orders:read', 'orders:refund'], {
    name: 'Orders',
  });
  const grace = await directory.createUser({ username: 'grace', name: 'Grace Hopper' });
  const lise = await directory.createUser({ username: 'lise', name: 'Lise Meitner' });
  await directory.allowUser(grace, orders, ['orders:read']);
  const bakery = await database.prisma.organization.create({
    data: {
      id: newId('Organization'),
      name: 'Northwind Bakery',
      createdAt: new Date(),
      updatedAt: new Date(),
    },
  });
  await directory.addMember(bakery, lise, { resource: orders, resourceScopes: ['orders:read'] });
  const worker = await directory.createClient({ name: 'Nightly job' });
  await directory.allowClient(worker, orders, ['orders:refund']);

  const row = (name: string) => at.page.getByRole('row').filter({ hasText: name });
  const choose = async (filter: string, what: string) => {
    await at.page.getByRole('button', { name: new RegExp(`^${filter}`) }).click();
    await at.pick(filter, what);
  };
  const parameters = () => new URL(at.page.url()).searchParams;

  beforeAll(() => at.open('who-can', 'Who can …'));

  test('asks for an API and a scope, and lists who has it, with the reasons', async () => {
    await at.page.getByText('Choose an API and a scope').waitFor();
    await choose('API', 'Orders');
    await choose('Scope', 'orders:read');
    await row('Grace Hopper')
      .getByRole('link', { name: /^Role \d/ })
      .waitFor();
    await row('Lise Meitner').getByRole('link', { name: 'Northwind Bakery' }).waitFor();
    expect([parameters().get('api'), parameters().get('scope')]).toEqual([
      orders.id,
      'orders:read',
    ]);
  });

  test('an organization narrows it, and the address keeps the question', async () => {
    await choose('Organization', 'Northwind Bakery');
    await row('Grace Hopper').waitFor({ state: 'detached' });
    await row('Lise Meitner').waitFor();
    await at.page.reload();
    await row('Lise Meitner').waitFor();
    await at.page.getByRole('button', { name: 'Organization Northwind Bakery' }).waitFor();
  });

  test('another API begins with its own scopes', async () => {
    await at.open(`who-can?api=${orders.id}&scope=orders:refund`, 'Who can …');
    await row('Nightly job').getByText('Application').waitFor();
    await choose('API', 'Signet management API');
    await at.page.getByText('Choose an API and a scope').waitFor();
    expect(parameters().get('scope')).toBeNull();
  });

  test('by keyboard alone', async () => {
    await at.goByKeys('c', 'Who can …');
    await at.page.getByRole('button', { name: /^API/ }).focus();
    await at.page.keyboard.press('Enter');
    await at.page.getByRole('combobox', { name: 'API' }).fill('Orders');
    await expect.poll(() => at.page.locator('[role=option]').allInnerTexts()).toHaveLength(1);
    await at.page.keyboard.press('Enter');
    await at.page.getByRole('button', { name: 'API Orders' }).waitFor();
    await at.page.getByRole('button', { name: /^Scope/ }).waitFor();
  });

  test.each([
    ['users', grace.id, 'Grace Hopper', 'orders:read'],
    ['applications', worker.id, 'Nightly job', 'orders:refund'],
  ])('a record of %s has its permissions', async (list, id, name, scope) => {
    await at.open(`${list}/${id}?tab=permissions`, name);
    await at.page.getByText('Choose an API', { exact: true }).waitFor();
    await choose('API', 'Orders');
    await row(scope)
      .getByRole('link', { name: /^Role \d/ })
      .waitFor();
    await choose('Organization', 'Northwind Bakery');
    await at.page.getByText('No permissions').waitFor();
  });

  test.each(['en', 'de'] as const)('axe finds nothing, in %s', async (language) => {
    await at.inLanguage(language, async () => {
      for (const path of [
        'who-can',
        `who-can?api=${orders.id}&scope=orders:read`,
        `users/${grace.id}?tab=permissions&api=${orders.id}`,
      ]) {
        await at.comeTo(path);
        if (path.includes('api=')) await at.page.getByRole('link', { name: /^Role \d/ }).waitFor();
        await expectAccessible(at.page, path);
      }
      await at.page.setViewportSize({ width: 320, height: 640 });
      const width = await at.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(320);
    });
  });

  test('the browser complains about nothing', () => {
    expect(at.complaints).toEqual([]);
  });
});
