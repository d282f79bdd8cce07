import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { createUser, createWebhook } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('the console, lived in', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { database } = at.service.app.services;
  const { prisma } = database;
  const directory = seedDirectory(database, at.service.clock);

  test('what is left to set up counts nothing that Signet made itself', async () => {
    await at.open('', 'Overview');
    await at.page.getByText('0 of 5 steps are done.').waitFor();
    await directory.createResource(['orders:read'], { name: 'Orders' });
    await createUser(at.endpoint);
    await at.page.reload();
    await at.page.getByText('2 of 5 steps are done.').waitFor();
  });

  test('events are filtered by a record that is found by its name', async () => {
    const { id, username } = await createUser(at.endpoint);
    await at.open('events', 'Events');
    const row = (name: string) => at.page.getByRole('row').filter({ hasText: name }).first();
    await row('User.Roles.Updated').waitFor();
    await at.button('Subject').click();
    await at.pick('Subject', username);
    await row('User.Roles.Updated').waitFor({ state: 'detached' });
    await row('User.Created').waitFor();
    expect(new URL(at.page.url()).searchParams.get('subject')).toBe(id);
  });

  test('what has changed at the top of a long page can be saved there', async () => {
    const { id } = await createWebhook(at.endpoint, {
      name: 'Warehouse',
      url: 'https://warehouse.example.com/hooks',
      enabled: false,
    });
    for (const [path, heading, field] of [
      [`webhooks/${id}?tab=settings`, 'Warehouse', 'Name'],
      ['sign-in-experience?tab=security', 'Sign-in experience', 'Minimum length'],
    ] as const) {
      await at.open(path, heading);
      await at.field(field).fill('15');
      const { y, height } = (await at.button('Save').boundingBox()) ?? { y: 0, height: 0 };
      expect([path, y > 0, y + height <= 720]).toEqual([path, true, true]);
      expect(await at.page.evaluate('scrollY')).toBe(0);
      await at.button('Discard').click();
    }
  });

  test('what is filled in has one width on a page, whatever it is for', async () => {
    await at.page.setViewportSize({ width: 1440, height: 900 });
    const { id: user } = await prisma.user.findFirstOrThrow({ where: { username: 'ada' } });
    const { id: resource } = await prisma.resource.findFirstOrThrow({ where: { name: 'Orders' } });
    const { id: webhook } = await prisma.webhook.findFirstOrThrow();
    const { id: client } = await directory.createClient({
      name: 'Shop',
      type: 'TRADITIONAL',
      allowTokenExchange: true,
    });
    // Where each section ends that has a form, a switch, or a search for what is added.
    const ends = `JSON.stringify([...document.querySelectorAll('main section')].flatMap((section) => {
      const places = [
        ...section.querySelectorAll('form > fieldset, form [type=submit], [role=switch]'),
        ...[...section.querySelectorAll('[role=combobox]')].map((field) => field.parentElement.parentElement),
      ].map((place) => Math.round(place.getBoundingClientRect().right));
      return places.length === 0 ? [] : [Math.max(...places)];
    }))`;
    for (const [path, sections] of [
      [`applications/${client}`, 2],
      [`users/${user}`, 3],
      [`apis/${resource}`, 1],
      [`webhooks/${webhook}?tab=settings`, 1],
      ['settings', 1],
    ] as const) {
      await at.page.goto(`${at.service.app.services.baseUrl}/console/${path}`);
      await at.button('Save').first().waitFor();
      const found = JSON.parse(await at.page.evaluate<string>(ends)) as number[];
      expect([path, found.length]).toEqual([path, sections]);
      expect([path, new Set(found).size]).toEqual([path, 1]);
    }
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
