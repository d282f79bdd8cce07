import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { createWebhook } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('changes that nobody regrets', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  let other: Page;

  beforeAll(async () => {
    const context = await at.chromium.newContext({
      baseURL: at.service.app.services.baseUrl,
      bypassCSP: true,
      locale: 'en-GB',
      reducedMotion: 'reduce',
      storageState: await at.context.storageState(),
    });
    other = await context.newPage();
  });
  afterAll(() => other?.context().close());

  const roleCalled = (name: string) => prisma.role.findFirstOrThrow({ where: { name } });
  const saveAt = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();

  test('a second save does not win over the first in silence', async () => {
    const { id } = await createWebhook(at.endpoint, {
      name: 'Warehouse',
      url: 'https://warehouse.example.com/hooks',
      enabled: false,
    });
    await at.open(`webhooks/${id}?tab=settings`, 'Warehouse');
    await other.goto(at.page.url());
    await other.getByLabel('Name', { exact: true }).fill('Warehouse, first tab');
    await other.getByLabel('URL', { exact: true }).fill('https://warehouse.example.com/other');
    await at.field('Name').fill('Warehouse, second tab');
    await saveAt(other);
    await other.getByText('Saved', { exact: true }).waitFor();

    await at.button('Save').click();
    const notice = at.page.getByRole('group', { name: 'Someone else changed this' });
    const clash = notice.getByRole('group', { name: 'Name', exact: true });
    await clash.getByText('Warehouse, first tab').waitFor();
    const stored = () => prisma.webhook.findUniqueOrThrow({ where: { id } });
    expect(await stored()).toMatchObject({ name: 'Warehouse, first tab', version: 2 });
    // The focus is where the next key is wanted, and what only the other tab changed is taken over.
    const yours = clash.getByRole('radio', { name: /^Yours/ });
    await expect.poll(() => yours.evaluate((radio) => radio === document.activeElement)).toBe(true);
    expect(await at.field('URL').inputValue()).toBe('https://warehouse.example.com/other');
    expect(await notice.innerText()).toContain('Updated to their values: URL.');

    await at.button('Save').click();
    await notice.getByRole('alert').waitFor();
    expect(await stored()).toMatchObject({ name: 'Warehouse, first tab', version: 2 });
    await at.page.keyboard.press('Space');
    await at.button('Save').click();
    await at.page.getByText('Saved', { exact: true }).waitFor();
    await notice.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({
      name: 'Warehouse, second tab',
      url: 'https://warehouse.example.com/other',
      version: 3,
    });
  });

  test('a deletion says before the click what it would do, and why it would be refused', async () => {
    const create = async (path: string, body: object) => {
      const response = await fetch(`${at.service.url}/api${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${at.endpoint.token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      expect(response.status).toBeLessThan(300);
      return Object.values((await response.json()) as Record<string, { id: string }>)[0]?.id ?? '';
    };
    const resource = await create('/resources', {
      name: 'Orders',
      indicator: 'https://orders.example.com',
    });
    const scopeIds = [await create(`/resources/${resource}/scopes`, { name: 'orders:read' })];
    for (const name of ['Clerk', 'Driver']) {
      await create('/roles', { name, type: 'USER', scopeIds });
    }
    for (const events of [['ROLE_SCOPES_UPDATED'], ['USER_CREATED']] as const) {
      await createWebhook(at.endpoint, { url: 'https://hears.example.com/', events: [...events] });
    }
    await at.open(`apis/${resource}`, 'Orders');
    await at.button('Delete', at.page.locator('section').last()).click();
    const told = at.dialog.locator('[aria-live]').first();
    await expect
      .poll(() => told.getByRole('listitem').allInnerTexts())
      .toEqual([
        '2 roles lose scopes',
        'A scope is deleted',
        'An API is deleted',
        '1 webhook hears of it',
      ]);
    expect(await prisma.role.count({ where: { name: 'Clerk' } })).toBe(1);
    expect(await prisma.resource.count({ where: { id: resource } })).toBe(1);
    await at.button('Cancel', at.dialog).click();

    // Somebody else was faster: the row is gone when it is asked about, and the page has not heard of it.
    const gone = await create('/roles', { name: 'Gone', type: 'USER' });
    await at.open(`roles/${gone}`, 'Gone');
    await at.page.route('**/console/graphql', async (route) => {
      if (route.request().postData()?.includes('@dryRun'))
        await prisma.role.deleteMany({ where: { id: gone } });
      await route.continue();
    });
    await at.button('Delete').click();
    await at.dialog.getByText('This would be refused').waitFor();
    await at.page.unrouteAll();

    // A check that fails is in nobody's way.
    await at.page.route('**/console/graphql', (route) =>
      route.request().postData()?.includes('@dryRun') ? route.abort() : route.continue(),
    );
    await at.open(`apis/${resource}`, 'Orders');
    await at.button('Delete', at.page.locator('section').last()).click();
    await at.dialog.getByText('could not be checked').waitFor();
    await at.dialog.getByRole('textbox').fill('Orders');
    await at.button('Delete', at.dialog).click();
    await at.page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor();
    expect(await prisma.resource.count({ where: { id: resource } })).toBe(0);
    await at.page.unrouteAll();
  });

  test('a configuration is exported, planned, applied, and planned again', async () => {
    await at.open('configuration', 'Configuration');
    const downloaded = at.page.waitForEvent('download');
    await at.button('Download YAML').click();
    const file = await downloaded;
    expect(file.suggestedFilename()).toBe('signet.yaml');
    const exported = await text(await file.createReadStream());
    expect(exported).toMatch(/^signet: 1\n/);

    await at.field('Document').fill(exported);
    await at.button('Plan').click();
    await at.page.getByText('Nothing to change').waitFor();

    await at.field('Document').fill('signet: 1\nroles:\n  - name: Clerk\n    type: GOD\n');
    await at.button('Plan').click();
    const fault = at.page.getByRole('alert').getByRole('listitem');
    await fault.filter({ hasText: 'roles.0.type' }).waitFor();

    // As a file, which may be chosen again once it has changed.
    await at.page.getByLabel('Choose a file').setInputFiles({
      name: 'signet.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(
        'signet: 1\nroles:\n  - name: Clerk\n    description: Sells\n  - name: Baker\n',
      ),
    });
    await at.page.getByRole('checkbox', { name: 'Role', exact: true }).check();
    await at.button('Plan').click();
    const changes = at.page.getByRole('list', { name: 'Changes' }).getByRole('listitem');
    const shown = async () =>
      (await changes.allInnerTexts()).map((change) => change.replaceAll(/\s+/g, ' ').trim());
    await expect.poll(async () => (await shown()).length).toBe(3);
    expect(await shown()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Create Role Baker/),
        expect.stringMatching(/^Change Role Clerk .*description nothing Sells/),
        expect.stringMatching(/^Delete Role Driver/),
      ]),
    );
    expect(await prisma.role.count({ where: { name: 'Baker' } })).toBe(0);

    // Somebody else is faster: nothing is applied, and the plan is another one.
    await prisma.role.update({
      where: { id: (await roleCalled('Clerk')).id },
      data: { description: 'Sold', version: { increment: 1 } },
    });
    await at.button('Apply').click();
    await at.page.getByRole('alert').getByText('changed since the plan').waitFor();
    await changes.filter({ hasText: 'Sold' }).waitFor();
    expect(await prisma.role.count({ where: { name: 'Driver' } })).toBe(1);
    await at.button('Apply').click();
    await at.page.getByText('1 created, 1 changed, 1 deleted').waitFor();
    expect(await roleCalled('Clerk')).toMatchObject({ description: 'Sells' });
    expect(await prisma.role.count({ where: { name: 'Driver' } })).toBe(0);

    // Kept in the tab, and nowhere else: what has been changed by hand is found by planning it again.
    await at.page.getByRole('link', { name: 'Overview', exact: true }).first().click();
    await at.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await prisma.role.delete({ where: { id: (await roleCalled('Baker')).id } });
    await at.page.keyboard.press('g');
    await at.page.keyboard.press('f');
    await at.button('Plan again').click();
    await expect.poll(shown).toEqual([expect.stringMatching(/^Create Role Baker/)]);
    expect(await at.page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(
      'Clerk',
    );
    await at.page.reload();
    await at.button('Plan').waitFor();
    expect(await at.field('Document').inputValue()).toBe('');
  });

  test('axe finds nothing where something is to be decided', async () => {
    const long = 'Northwind Traders of the Greater Harbour Region, Returns and Complaints';
    const { id } = await createWebhook(at.endpoint, {
      name: 'Warehouse',
      url: 'https://warehouse.example.com/hooks',
      enabled: false,
    });
    await other.goto(`/console/webhooks/${id}?tab=settings`);
    await other.getByLabel('Name', { exact: true }).fill(`${long} (mine)`);
    await other.getByRole('checkbox', { name: 'Role.Deleted', exact: true }).check();
    await other.getByLabel('Deliveries at once', { exact: true }).fill('3');
    await prisma.webhook.update({
      where: { id },
      data: {
        name: long,
        url: 'https://warehouse.example.com/a-much-longer-address/that-has-no-end',
        events: ['Role.Created', 'User.Created'],
        version: { increment: 1 },
      },
    });
    await saveAt(other);
    const events = other.getByRole('group', { name: 'Event types' }).last();
    await events.getByRole('radio', { name: /^Yours/ }).check();
    await expectAccessible(other, 'changed-meanwhile');

    await other.goto(`/console/webhooks/${id}?tab=settings`);
    await other.getByRole('button', { name: 'Delete', exact: true }).click();
    await other.getByText('A webhook is deleted').waitFor();
    await expectAccessible(other, 'foreseen');

    await other.goto('/console/configuration');
    const document = other.getByLabel('Document', { exact: true });
    await document.waitFor();
    await expectAccessible(other, 'configuration-empty');
    const plan = other.getByRole('button', { name: 'Plan', exact: true });
    await document.fill('signet: 1\nroles:\n  - name: 3\n    scope: [1]\n  - description: x\n');
    await plan.click();
    await other.getByRole('alert').waitFor();
    await expectAccessible(other, 'configuration-refused');
    const roles = Array.from(
      { length: 12 },
      (_, index) => `  - name: ${long} ${index}\n    description: ${long}\n`,
    );
    await document.fill(
      `signet: 1\nroles:\n  - name: Clerk\n    description: ${long}\n${roles.join('')}`,
    );
    await other.getByRole('checkbox', { name: 'Webhook', exact: true }).check();
    await plan.click();
    await other.getByRole('list', { name: 'Changes' }).waitFor();
    await other
      .locator('summary')
      .filter({ hasText: `${long} 3` })
      .click();
    await expectAccessible(other, 'configuration-plan');
    await other.getByRole('checkbox', { name: 'Webhook', exact: true }).uncheck();
    await document.fill('signet: 1\n');
    await plan.click();
    await other.getByText('Nothing to change').waitFor();
    await expectAccessible(other, 'configuration-nothing');
  });

  test('the browser had nothing to complain about', () => {
    // It reports the request that was cut off.
    expect(at.complaints).toEqual([expect.stringContaining('ERR_FAILED')]);
  });
});
