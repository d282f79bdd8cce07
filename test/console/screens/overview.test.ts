import { Registry } from 'prom-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { noteActive, takeActive } from '../../../src/metrics/active-people.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

const hourMs = 3_600_000;

describe.runIf(chromiumPath)('the charts of the overview', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  const thisHour = () => Math.floor(at.service.clock.now().getTime() / hourMs) * hourMs;

  const chart = (name: string) => at.page.getByRole('figure').filter({ hasText: name });
  const moments = (name: string) =>
    at.page.getByRole('slider', { name: `${name}: choose a moment`, exact: true });
  const drawn = (name: string, range: string, told: RegExp) =>
    at.page.getByRole('img', { name: new RegExp(`^${name}, ${range}: ${told.source}`) }).waitFor();

  /** Writes what was counted some hours ago. */
  const count = (hoursAgo: number, counts: Readonly<Record<string, number>>) =>
    prisma.hourCount.createMany({
      data: Object.entries(counts).map(([name, value]) => ({
        hour: new Date(thisHour() - hoursAgo * hourMs),
        name,
        count: value,
      })),
    });

  async function people(hoursAgo: number, ids: readonly string[]): Promise<void> {
    const registry = new Registry();
    for (const id of ids) noteActive(registry, id);
    const sketch = `x${Buffer.from(takeActive(registry) ?? []).toString('hex')}`;
    await prisma.$executeRaw`
      INSERT INTO "HourCount" ("hour", "name", "count", "people")
      VALUES (${new Date(thisHour() - hoursAgo * hourMs)}, 'activePeople', 0, ${sketch}::text::bit(16384))`;
  }

  beforeAll(async () => {
    // In the last seven days, in those before, and some weeks ago.
    for (const [hoursAgo, factor] of [
      [5, 1],
      [30, 3],
      [77, 2],
      [200, 1],
      [260, 2],
      [600, 4],
    ] as const) {
      await count(hoursAgo, {
        signIns: 40 * factor,
        failedSignIns: 3 * factor,
        exchanges: 100 * factor,
        refusedExchanges: 6 * factor,
        'refusedBy:RESOURCE_ALLOWED': 4 * factor,
        'refusedBy:MAY_ACT': 2 * factor,
        deliveries: 50 * factor,
        failedDeliveries: factor,
        'attemptsWithin:0.1': 40 * factor,
        'attemptsWithin:0.25': 51 * factor,
        'attemptsWithin:+Inf': 51 * factor,
      });
      await people(
        hoursAgo,
        Array.from({ length: 10 * factor }, (_, person) => `user_${person}`),
      );
    }
    await at.open('', 'Overview');
  });

  test('show an hour, a day, a week and a month, each against the one before', async () => {
    await drawn('Sign-ins', 'Last hour', /\d/);
    await at.button('Last 7 days').click();
    await drawn('Sign-ins', 'Last 7 days', /24\d, 18 failed/);
    await drawn('Token exchanges', 'Last 7 days', /600, 36 refused/);
    await drawn('Deliveries', 'Last 7 days', /30\d, 6 failed, 95 % within \d+ ms/);
    // Whoever came in several hours is one person; the administrator is another, unless their bit in the sketch is
    // somebody's already, as one in 140 is.
    await drawn('Active people', 'Last 7 days', /3[01]$/);
    await chart('Token exchanges').getByText('+100% vs. the 7 days before').waitFor();
    expect(new URL(at.page.url()).search).toBe('?range=week');
    await at.button('Last 30 days').click();
    await drawn('Token exchanges', 'Last 30 days', /1,300, 78 refused/);
    await chart('Token exchanges').getByText('none in the 30 days before').waitFor();
    await at.button('Last 24 hours').click();
    await drawn('Sign-ins', 'Last 24 hours', /\d/);
    await at.page.goBack();
    await drawn('Token exchanges', 'Last 30 days', /1,300/);
  });

  test('tell what a bar counts, to the mouse and to the keyboard', async () => {
    await at.open('?range=week', 'Overview');
    const slider = moments('Token exchanges');
    await slider.waitFor();
    const texts: string[] = [];
    await slider.focus();
    await at.page.keyboard.press('Home');
    for (let bar = 0; bar < 56; bar += 1) {
      texts.push((await slider.getAttribute('aria-valuetext')) ?? '');
      await at.page.keyboard.press('ArrowRight');
    }
    expect(await slider.getAttribute('aria-valuenow')).toBe('55');
    const counted = texts.filter((text) => /: [1-9]\d* granted/.test(text));
    expect(counted.map((text) => /: (\d+) granted, (\d+) refused/.exec(text)?.slice(1))).toEqual([
      ['200', '12'],
      ['300', '18'],
      ['100', '6'],
    ]);
    expect(counted[0]).toContain('The API is not among the targets: 8');
    expect(counted[0]).toContain('Period before: ');
    await at.page.keyboard.press('Home');
    for (let bar = texts.indexOf(counted[1] ?? ''); bar > 0; bar -= 1)
      await at.page.keyboard.press('ArrowRight');
    const tip = chart('Token exchanges').getByText('300 granted', { exact: true });
    await tip.waitFor();
    await at.page.keyboard.press('Escape');
    await tip.waitFor({ state: 'detached' });
    const { width = 0 } = (await slider.boundingBox()) ?? {};
    const index = texts.indexOf(counted[1] ?? '');
    await slider.hover({ position: { x: ((index + 0.5) / 56) * width, y: 40 } });
    await tip.waitFor();
  });

  test('lead to the rows of a moment, and of the range', async () => {
    await at.open('?range=day', 'Overview');
    const slider = moments('Sign-ins');
    await slider.focus();
    await at.page.keyboard.press('ArrowLeft');
    await at.page.keyboard.press('Enter');
    await at.page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    const { searchParams } = new URL(at.page.url());
    const [since, until] = ['since', 'until'].map((name) =>
      Date.parse(searchParams.get(name) ?? ''),
    ) as [number, number];
    expect(until - since).toBe(30 * 60_000);
    expect(searchParams.get('types')).toBe('POST_SIGN_IN,SIGN_IN_FAILED');
    await at.page.getByRole('button', { name: /^Any time instead of/ }).waitFor();

    await at.open('?range=week', 'Overview');
    await at.page
      .getByRole('list', { name: 'Refusals by rule' })
      .getByRole('link', { name: 'The subject token allows another actor only' })
      .click();
    await at.page.getByRole('heading', { name: 'Refusals', level: 1 }).waitFor();
    expect(new URL(at.page.url()).searchParams.get('since')).not.toBeNull();
  });

  test('fill the screen', async () => {
    await at.open('?range=week', 'Overview');
    await at.button('Full screen').click();
    await at.button('Leave full screen').waitFor();
    for (const name of ['Sign-ins', 'Token exchanges', 'Deliveries', 'Active people'])
      expect(await moments(name).isVisible()).toBe(true);
    expect(await moments('Mutations').isVisible()).toBe(false);
    await at.button('Leave full screen').click();
    await at.button('Full screen').waitFor();
    expect(await moments('Mutations').isVisible()).toBe(true);
  });

  test.each(['en', 'de'] as const)('axe finds nothing, in %s', async (locale) => {
    await at.inLanguage(locale, async () => {
      await at.comeTo('?range=week');
      await at.page.getByRole('slider').first().focus();
      await at.page.keyboard.press('Home');
      await expectAccessible(at.page, `overview with charts ${locale}`);
    });
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
