import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startPathProxy } from '../../support/peers/path-proxy.ts';
import { buildConsole } from '../../support/people/built-console.ts';
import { setupTokenOf } from '../../support/people/console.ts';
import { setUpAtScreen, sitDownAt } from '../../support/people/console-screen.ts';
import { startService } from '../../support/service.ts';
import { createUser } from '../../support/webhooks.ts';

const minute = 60_000;

describe.runIf(chromiumPath)('what stands around every page', async () => {
  if (!chromiumPath) return;
  const { folder: consoleFolder } = await buildConsole();
  const at = await sitDownAt(await startService({}, { consoleFolder }));
  const proxy = await startPathProxy('/identity');
  const proxied = await startService({ BASE_URL: proxy.url }, { consoleFolder });
  proxy.leadTo(proxied.url);
  const { prisma } = at.service.testDatabase.database;

  test('the chosen theme holds against that of the system', async () => {
    const background = () =>
      at.page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const [light, dark] = ['rgb(247, 248, 250)', 'rgb(14, 16, 20)'];
    await at.page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background).toBe(light);
    await at.page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(background).toBe(dark);
    const theme = at.page.getByLabel('Theme');
    await theme.selectOption('light');
    await expect.poll(background).toBe(light);
    await at.page.emulateMedia({ colorScheme: 'light' });
    await theme.selectOption('dark');
    await expect.poll(background).toBe(dark);
    await at.page.reload();
    await at.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await expect.poll(background).toBe(dark);
    await theme.selectOption('system');
    await expect.poll(background).toBe(light);
  });

  test('a toast is told, and is no window', async () => {
    const { id } = await createUser(at.endpoint);
    const user = await prisma.user.findUniqueOrThrow({ where: { id } });
    await at.open(`users/${id}`, user.username ?? '');
    await at.confirm('Sign out everywhere');
    const told = at.page.getByRole('status').filter({ hasText: 'signed out everywhere' });
    // What lies beneath can be clicked, or a Delete in that corner would wait for the toast to go.
    const { x, y, height } = (await told.boundingBox()) ?? { x: 0, y: 0, height: 0 };
    const point = `document.elementFromPoint(${x + 30}, ${y + height / 2})`;
    expect(await at.page.evaluate(`${point}.closest('[role=status]')`)).toBeNull();
    expect(await at.page.getByRole('dialog').count()).toBe(0);
    expect(await at.page.getByRole('alertdialog').count()).toBe(0);
  });

  test('what applies at once is offered as GraphQL and curl', async () => {
    await at.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await at.tab('Roles');
    const combobox = at.page.getByRole('combobox', { name: 'Assign role' });
    await combobox.fill('Viewer');
    await at.page.getByRole('option', { name: 'Viewer' }).waitFor();
    await at.button('Copy as GraphQL').click();
    const copied = () => at.page.evaluate<string>('navigator.clipboard.readText()');
    const role = await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } });
    await expect.poll(copied).toContain('assignUserRoles');
    expect(await copied()).toContain(role.id);
    await at.pick('Assign role', 'Viewer');
    await at.button('Remove Viewer').click();
    await at.button('Copy as curl', at.dialog).click();
    await expect.poll(copied).toContain('removeUserRole');
    expect(await copied()).toMatch(/^curl -s 'http:[^']*\/graphql'/);
    await at.button('Cancel', at.dialog).click();
  });

  test('users are filtered by a role and by an organization', async () => {
    await at.open('users', 'Users');
    await at.page.getByRole('link', { name: 'ada', exact: true }).waitFor();
    await at.button('Role').click();
    await at.pick('Role', 'View', 'Viewer');
    await at.page.getByRole('link', { name: 'ada', exact: true }).waitFor({ state: 'detached' });
    await at.page.getByRole('link', { name: /^user_\d/ }).waitFor();
    expect(new URL(at.page.url()).searchParams.get('role')).toMatch(/^role_/);
    // By a link, it has the name of what it filters by.
    await at.page.reload();
    await at.page.getByRole('button', { name: 'Role Viewer' }).click();
    await at.button('Clear').click();
    await at.page.getByRole('link', { name: 'ada', exact: true }).waitFor();
    await at.button('Organization').click();
    await at.page.getByRole('combobox', { name: 'Organization' }).fill('none such');
    await at.page.getByText('Nothing found').waitFor();
    await at.page.keyboard.press('Escape');
  });

  test('the query editor loads once its field is used', async () => {
    const loaded: string[] = [];
    at.page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    const editors = () => loaded.filter((path) => path.includes('query-editor'));
    await at.open('webhooks', 'Webhooks');
    await at.button('Create webhook').first().click();
    const field = at.dialog.getByRole('textbox', { name: 'Query' });
    // The window gives the focus to its first field.
    await at.dialog.locator('[name=name]:focus').waitFor();
    expect(editors()).toEqual([]);
    await field.focus();
    await at.dialog.locator('.cm-focused').waitFor();
    expect(editors()).not.toEqual([]);
    await at.button('Cancel', at.dialog).click();
  });

  test('the public address of the service may have a path', async () => {
    const context = await at.chromium.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    await setUpAtScreen(page, `${proxy.url}/console/setup?token=${setupTokenOf(proxied)}`);
    await page.getByRole('link', { name: 'Users', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.getByRole('table').getByRole('link', { name: 'ada', exact: true }).click();
    await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
    await page.locator('[data-state=live]').first().waitFor({ state: 'attached' });
    await page.reload();
    await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
    expect(page.url()).toContain(`${proxy.url}/console/users/user_`);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(`${proxy.url}/console/signed-out`);
    await page.goto(`${proxy.url}/console/roles`);
    await page.locator('[autocomplete=username]').waitFor();
    await context.close();
  });

  test('whoever works in a page stays signed in, and an unattended page does not', async () => {
    const session = () => prisma.consoleSession.findFirstOrThrow();
    const page = await at.context.newPage();
    await page.clock.install();
    await page.goto(`${at.service.app.services.baseUrl}/console`);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // What the Overview asks by itself, every ten seconds, is nobody's work.
    await at.page.goto('about:blank');
    await page.clock.fastForward(2 * minute);
    at.service.clock.advance(20 * minute);
    const before = (await session()).lastActiveAt;
    const asked = page.waitForResponse(/console\/graphql/);
    await page.clock.fastForward(11_000);
    expect((await asked).status()).toBe(200);
    expect((await session()).lastActiveAt).toEqual(before);
    // Somebody scrolls, and asks for nothing.
    await page.clock.fastForward(5 * minute);
    await page.mouse.wheel(0, 10);
    await expect.poll(async () => (await session()).lastActiveAt).not.toEqual(before);
    at.service.clock.advance(61 * minute);
    await page.getByRole('alertdialog').waitFor();
    await page.close();
  });
});
