import { describe, expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { eventually } from '../../support/wait.ts';

describe.runIf(chromiumPath)('events at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  const shoot = async (name: string) => {
    const folder = process.env['CONSOLE_SCREENSHOTS'];
    if (folder) await at.page.screenshot({ path: `${folder}/${name}.png` });
  };

  test('an event says from where it was called and in which trace', async () => {
    await at.open('users', 'Users');
    await at.button('Create user').click();
    await at.field('User name', at.dialog).fill('grace');
    const [created] = await at.raises(['User.Created'], () =>
      at.button('Create user', at.dialog).click(),
    );
    const row = await prisma.event.findFirstOrThrow({ where: { id: created?.id ?? '' } });
    expect(row.ip).toMatch(/127\.0\.0\.1$/);
    await at.open(`events?event=${row.id}`, 'Events');
    for (const text of [row.ip, row.userAgent, row.traceId])
      await at.page.getByText(String(text), { exact: true }).waitFor();
    await shoot('event');
  });

  test("a user's events are those about them, or those that they caused", async () => {
    const ada = await prisma.user.findFirstOrThrow({ where: { username: 'ada' } });
    await at.open(`users/${ada.id}?tab=events`, 'ada');
    const moment = (name: string) => at.page.getByRole('link', { name, exact: true });
    await moment('User.Roles.Updated').first().waitFor();
    await shoot('about-user');
    await at.page.getByRole('button', { name: /^Show/ }).click();
    await at.page.getByRole('radio', { name: 'Done by this user' }).click();
    await eventually(async () => expect(await moment('User.Roles.Updated').count()).toBe(0));
    // Hers: the creation of another user.
    await at.page.getByRole('link', { name: 'grace', exact: true }).waitFor();
    await at.page.keyboard.press('Escape');
    await shoot('by-user');

    await send(
      { url: at.service.url, token: at.endpoint.token ?? '' },
      'mutation { createRole(input: { name: "by the admin" }) { __typename } }',
    );
    expect(await moment('Role.Created').count()).toBe(0);
  });

  const rows = () => at.page.getByRole('row').filter({ has: at.page.locator('[data-event]') });

  test('can be limited to a span of time', async () => {
    const all = await prisma.event.findMany({ orderBy: { occurredAt: 'asc' } });
    const created = all.filter(({ type }) => type === 'User.Created').at(-1);
    if (!created) throw new Error('Nobody was created.');
    const since = created.occurredAt;
    const until = new Date(since.getTime() + 1);
    const within = all.filter(({ occurredAt }) => occurredAt >= since && occurredAt < until);
    const address = `since=${since.toISOString()}&until=${until.toISOString()}`;
    await at.open(`events?${address}`, 'Events');
    await expect.poll(() => rows().count()).toBe(within.length);
    await at.page.getByRole('button', { name: /^Any time instead of/ }).click();
    await expect.poll(() => rows().count()).toBeGreaterThan(within.length);
    expect(new URL(at.page.url()).search).toBe('');
  });

  test('filters are saved in the browser, chosen and removed', async () => {
    await at.open('events?types=USER_CREATED', 'Events');
    await at.button('Saved filters').click();
    await at.page.getByRole('textbox', { name: 'Name of the filter' }).fill('New people');
    await at.button('Save these filters').click();
    await at.button('New people').waitFor();
    await at.open('events', 'Events');
    await at.button('Saved filters').click();
    await at.button('New people').click();
    await expect.poll(() => new URL(at.page.url()).search).toBe('?types=USER_CREATED');
    await at.button('Saved filters').click();
    await at.button('Remove New people').click();
    await at.page.getByText('None yet.').waitFor();
    await at.page.keyboard.press('Escape');
  });

  test('those that match are exported as lines of JSON', async () => {
    await at.open('events?types=USER_CREATED', 'Events');
    const [download] = await Promise.all([
      at.page.waitForEvent('download'),
      at.page.getByRole('link', { name: 'Export', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('events.ndjson');
    const chunks: string[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(String(chunk));
    const lines = chunks.join('').trim().split('\n');
    const exported = lines.map((line) => JSON.parse(line) as { id: string });
    const created = await prisma.event.findMany({ where: { type: 'User.Created' } });
    expect(exported.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
  });

  test('one leads to the next and to the one before', async () => {
    await at.page.setViewportSize({ width: 1440, height: 900 });
    await at.open('events', 'Events');
    const names = () => at.page.locator('[data-event]').allInnerTexts();
    await expect.poll(async () => (await names()).length).toBeGreaterThan(3);
    const ids = await at.page
      .locator('[data-event]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-event')));
    const shown = () => new URL(at.page.url()).searchParams.get('event');
    await at.page.locator('[data-event]').first().click();
    await expect.poll(shown).toBe(ids[0]);
    expect(await at.button('Previous event').getAttribute('aria-disabled')).toBe('true');
    await at.button('Next event').click();
    await expect.poll(shown).toBe(ids[1]);
    await at.button('Next event').click();
    await expect.poll(shown).toBe(ids[2]);
    await at.button('Previous event').click();
    await expect.poll(shown).toBe(ids[1]);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
