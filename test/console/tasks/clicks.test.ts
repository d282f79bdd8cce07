import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { createUser, createWebhook, readWebhook } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('the ten commonest tasks, by their clicks', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const { database } = at.service.app.services;
  const { prisma } = database;
  const directory = seedDirectory(database, at.service.clock);

  let clicks = 0;
  const click = async (control: Locator) => {
    clicks += 1;
    await control.click();
  };
  /** Follows a link of the navigation. */
  const goTo = (page: string) =>
    click(
      at.page.getByRole('complementary').first().getByRole('link', { name: page, exact: true }),
    );
  const link = (name: string) => at.page.getByRole('table').getByRole('link', { name });
  const button = (name: string) => at.button(name).first();
  /** Counts the clicks of a task that begins at the Overview. What is typed is no click, nor is the Tab to a field. */
  const clicksOf = async (task: () => Promise<unknown>) => {
    await at.open('', 'Overview');
    clicks = 0;
    await task();
    return clicks;
  };

  test('an API with three scopes: 3', async () => {
    const indicator = 'https://orders.example.com';
    const taken = await clicksOf(async () => {
      await goTo('APIs');
      await click(button('Create API'));
      await at.field('Name', at.dialog).fill('Orders');
      await at.field('Indicator', at.dialog).fill(indicator);
      await at.field('Scopes', at.dialog).fill('orders:read\norders:write\n\norders:refund\n');
      await click(at.button('Create API', at.dialog));
      await at.page.getByRole('row').filter({ hasText: 'orders:refund' }).waitFor();
    });
    expect(taken).toBe(3);
    const scopes = await prisma.scope.findMany({
      where: { resource: { indicator } },
      orderBy: { id: 'asc' },
    });
    expect(scopes.map(({ name }) => name)).toEqual([
      'orders:read',
      'orders:write',
      'orders:refund',
    ]);
  });

  test('why an exchange was refused: 2', async () => {
    const { id, secret } = await directory.createClient({ name: 'Till' });
    const refused = await fetch(`${at.service.url}/oidc/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: 'none',
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: 'https://orders.example.com',
      }),
    });
    expect(refused.status).toBe(400);
    const taken = await clicksOf(async () => {
      await goTo('Refusals');
      await click(at.page.getByRole('link', { name: 'Explain', exact: true }));
      await at.page.getByRole('heading', { name: 'Explain an exchange', level: 1 }).waitFor();
      await at.page.getByText('Token exchange is not allowed').waitFor();
    });
    expect(taken).toBe(2);
  });

  test('what a user did: 2', async () => {
    const taken = await clicksOf(async () => {
      await click(at.page.getByRole('button', { name: 'Go to …' }));
      await at.page.getByRole('combobox', { name: 'Go to' }).fill('ada');
      await click(at.page.getByRole('option', { name: 'What ada did' }));
      await at.page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
      await at.page.getByRole('button', { name: 'Show Done by this user' }).waitFor();
      await at.page.getByRole('link', { name: 'Resource.Created' }).waitFor();
    });
    expect(taken).toBe(2);
  });

  test('all deliveries that failed, again: 2 on the page of the webhook', async () => {
    const receiver = await startReceiver();
    const { id } = await createWebhook(at.endpoint, { name: 'Mirror', url: receiver.url });
    for (const _ of [1, 2, 3]) await createUser(at.endpoint);
    await receiver.arrived(3);
    await expect
      .poll(async () => (await readWebhook(at.endpoint, id, 'SUCCEEDED')).deliveries)
      .toHaveLength(3);
    await prisma.delivery.updateMany({ data: { status: 'FAILED', nextAttemptAt: null } });
    await at.open(`webhooks/${id}`, 'Mirror');
    await at.page.getByText('0 of the last 3 delivered').waitFor();
    clicks = 0;
    await click(at.button('Recover failed'));
    await click(at.button('Deliver again', at.dialog));
    await receiver.arrived(6);
    expect(clicks).toBe(2);
  });

  test('a new color on the sign-in page: 2, without scrolling', async () => {
    const taken = await clicksOf(async () => {
      await goTo('Sign-in experience');
      await at.field('Primary color').fill('#7c2d12');
      const save = await at.button('Save').boundingBox();
      expect((save?.y ?? Number.NaN) + (save?.height ?? 0)).toBeLessThan(720);
      expect(await at.page.evaluate('scrollY')).toBe(0);
      await click(at.button('Save'));
      await at.page.getByText('Saved', { exact: true }).waitFor();
    });
    expect(taken).toBe(2);
  });

  test('a new user: 3', async () => {
    const taken = await clicksOf(async () => {
      await goTo('Users');
      await click(button('Create user'));
      await at.field('User name', at.dialog).fill('grace');
      await click(at.button('Create user', at.dialog));
      await at.page.getByRole('heading', { name: 'grace', level: 1 }).waitFor();
    });
    expect(taken).toBe(3);
  });

  test('a role for a user: 4', async () => {
    const taken = await clicksOf(async () => {
      await goTo('Users');
      await click(link('grace'));
      await click(at.page.getByRole('tab', { name: 'Roles', exact: true }));
      await at.page.getByRole('combobox', { name: 'Assign role' }).fill('Viewer');
      await click(at.page.getByRole('option', { name: 'Viewer' }));
      await link('Viewer').waitFor();
    });
    expect(taken).toBe(4);
  });

  test('a user suspended: 4, and three of them: 6', async () => {
    const others = ['alan', 'barbara', 'edsger'];
    for (const username of others) await directory.createUser({ username });
    const suspended = () => prisma.user.count({ where: { isSuspended: true } });
    const one = await clicksOf(async () => {
      await goTo('Users');
      await click(at.button('Actions for grace'));
      await click(at.button('Suspend'));
      await click(at.button('Suspend', at.dialog));
      await expect.poll(suspended).toBe(1);
    });
    expect(one).toBe(4);
    const three = await clicksOf(async () => {
      await goTo('Users');
      for (const username of others)
        await click(at.page.getByRole('checkbox', { name: `Select ${username}` }));
      await click(at.button('Suspend', at.page.getByRole('toolbar')));
      await click(at.button('Suspend', at.dialog));
      await expect.poll(suspended).toBe(4);
    });
    expect(three).toBe(6);
  });

  test('an application, and its secret copied: 4', async () => {
    await at.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const taken = await clicksOf(async () => {
      await goTo('Applications');
      await click(button('Create application'));
      await at.field('Name', at.dialog).fill('Shop');
      await at.field('Redirect URIs 1', at.dialog).fill('https://shop.example.com/callback');
      await click(at.button('Create application', at.dialog));
      const secret = at.dialog.getByRole('group', { name: 'Secret' });
      await click(at.button('Copy', secret));
      const shown = (await secret.locator('pre').innerText()).trim();
      await expect.poll(() => at.page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    });
    expect(taken).toBe(4);
  });

  test('somebody invited, and the link copied: 6', async () => {
    const { name } = await directory.createOrganization();
    const taken = await clicksOf(async () => {
      await goTo('Organizations');
      await click(link(name));
      await click(at.page.getByRole('tab', { name: 'Invitations', exact: true }));
      await click(button('Invite'));
      await at.field('E-mail', at.dialog).fill('joan@example.com');
      await click(at.button('Invite', at.dialog));
      const invitation = at.dialog.getByRole('group', { name: 'Invitation link' });
      await click(at.button('Copy', invitation));
      const shown = (await invitation.locator('pre').innerText()).trim();
      await expect.poll(() => at.page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    });
    expect(taken).toBe(6);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
