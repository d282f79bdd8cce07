import { describe, expect, test } from 'vitest';
import { expectAccessible } from '../../../support/peers/axe.ts';
import { chromiumPath } from '../../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('developers at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;

  test('GraphiQL runs with the rights of the session, and follows the theme', async () => {
    await at.page.emulateMedia({ colorScheme: 'dark' });
    await at.open('developers', 'Developers');
    const frame = at.page.frameLocator('iframe[title=GraphiQL]');
    const run = frame.getByRole('button', { name: /^Execute query/ });
    await run.waitFor();
    await expect.poll(() => frame.locator('body').getAttribute('class')).toContain('dark');
    const [answer] = await Promise.all([
      at.page.waitForResponse(
        (response) =>
          response.url().endsWith('/console/graphql') &&
          (response.request().postData() ?? '').includes('query Users'),
      ),
      run.click(),
    ]);
    expect(answer.status()).toBe(200);
    expect(await answer.json()).toMatchObject({
      data: { users: { nodes: [{ node: { username: 'ada' } }] } },
    });
    await at.page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => frame.locator('body').getAttribute('class')).toContain('light');
  });

  test('the REST reference is searched, and says how to call a route', async () => {
    await at.tab('REST');
    await at.page.getByRole('searchbox').fill('is-suspended');
    const route = at.page.locator('details').filter({ hasText: '/is-suspended' }).first();
    await route.locator('summary').click();
    await expect
      .poll(() => route.locator('pre').innerText())
      .toContain('/api/users/{userId}/is-suspended');
    await route.getByText('users:write').waitFor();
  });

  test('an access token is made, and works as long as the session', async () => {
    await at.tab('Access token');
    await at.button('Create token').click();
    const token = (
      await at.page.getByRole('group', { name: 'Access token' }).locator('pre').innerText()
    ).trim();
    const users = async () =>
      fetch(`${at.service.url}/api/users?totalCount=true`, {
        headers: { authorization: `Bearer ${token}` },
      });
    const answer = await users();
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ totalCount: await prisma.user.count() });
    await at.page.reload();
    await at.button('Create token').waitFor();
    expect(await at.page.content()).not.toContain(token);
  });

  test.each([
    ['en', 'rest'],
    ['de', 'token'],
  ] as const)('axe finds nothing, in %s: %s', async (locale, tab) => {
    await at.inLanguage(locale, async () => {
      await at.comeTo(`developers?tab=${tab}`);
      if (tab === 'rest') await at.page.locator('summary').first().click();
      else await at.page.getByRole('button', { name: 'Token erstellen' }).click();
      await at.page.locator('pre').first().waitFor();
      await expectAccessible(at.page, `developers ${tab}`);
    });
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
