import { describe, expect, test } from 'vitest';
import { builtConsole } from '../../../src/http/console/files.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startPathProxy } from '../../support/peers/path-proxy.ts';
import { setupTokenOf } from '../../support/people/console.ts';
import { setUpAtScreen, signInAtScreen, sitDownAt } from '../../support/people/console-screen.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { createUser } from '../../support/webhooks.ts';

const minute = 60_000;

describe.runIf(chromiumPath)('what stands around every page', async () => {
  if (!chromiumPath) return;
  const at = await sitDownAt(await startService({}, { consoleFolder: builtConsole }));
  const proxy = await startPathProxy('/identity');
  const proxied = await startService({ BASE_URL: proxy.url }, { consoleFolder: builtConsole });
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
    // `Save` is at the bottom, actions on the record are at the right.
    expect(y + height).toBeLessThan(((await at.button('Suspend').boundingBox()) ?? { y: 0 }).y);
    expect(await at.page.getByRole('dialog').count()).toBe(0);
    expect(await at.page.getByRole('alertdialog').count()).toBe(0);
  });

  test('a toast can be reached and closed by keyboard, and is there for screen readers too', async () => {
    const { id, username } = await createUser(at.endpoint);
    for (const [role, text] of [
      ['status', 'signed out everywhere'],
      ['alert', 'Something went wrong'],
    ] as const) {
      await at.open(`users/${id}`, username);
      if (role === 'alert')
        await at.page.route('**/console/graphql', (route) =>
          /mutation/.test(route.request().postData() ?? '') ? route.abort() : route.continue(),
        );
      await at.confirmStart('Sign out everywhere');
      if (role === 'alert') await at.button('Cancel', at.dialog).click();
      const told = at.page.getByRole(role).filter({ hasText: text });
      await told.waitFor();
      // It stays while the person looks at another window.
      await at.page.evaluate("dispatchEvent(new Event('blur'))");
      await expectAccessible(at.page, `toast-${role}`);
      await at.page.keyboard.press('F6');
      const dismiss = at.button('Dismiss');
      for (const _ of [1, 2, 3]) {
        if (await dismiss.evaluate((button) => button === document.activeElement)) break;
        await at.page.keyboard.press('Tab');
      }
      await at.page.keyboard.press('Enter');
      await told.waitFor({ state: 'detached' });
    }
    await at.page.unrouteAll();
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

  test('a part that cannot be loaded ahead leaves the page as it is', async () => {
    const tried = at.page.waitForEvent('requestfailed', (request) =>
      /overlays/.test(request.url()),
    );
    await at.page.route(/\/overlays-[^/]*\.js$/, (route) => route.abort());
    await at.open('users', 'Users');
    await tried;
    await at.page.getByRole('link', { name: 'ada', exact: true }).click();
    await at.page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
    await at.page.unrouteAll();
  });

  test('an address that has no page is told within the frame', async () => {
    await at.open('nowhere', 'Not found');
    await at.page.getByRole('link', { name: 'Users', exact: true }).first().click();
    await at.page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  });

  test('keys typed while the palette loads are its search, and no shortcuts', async () => {
    const page = await at.context.newPage();
    const arrived = Promise.withResolvers<void>();
    await page.route(/palette.*\.js/, async (route) => {
      await arrived.promise;
      await route.continue();
    });
    await page.goto(`${at.service.app.services.baseUrl}/console/users`);
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('ga');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('u/?');
    arrived.resolve();
    await expect.poll(() => page.getByRole('combobox').inputValue()).toBe('gu/?');
    await page.keyboard.type('x');
    expect(await page.getByRole('combobox').inputValue()).toBe('gu/?x');
    expect(new URL(page.url()).pathname).toBe('/console/users');
    await page.close();
  });

  test('an event of another day has its day beside its time', async () => {
    const { id, position, occurredAt } = await prisma.event.findFirstOrThrow();
    const before = new Date(occurredAt.getTime() - 3 * 24 * 60 * minute);
    await prisma.event.update({ where: { position }, data: { occurredAt: before } });
    await at.open('events', 'Events');
    const row = at.page.getByRole('row').filter({ has: at.page.locator(`[data-event="${id}"]`) });
    const day = before.toLocaleDateString('en-GB', {
      timeZone: 'Europe/Berlin',
      day: 'numeric',
      month: 'short',
    });
    expect(await row.getByRole('cell').first().innerText()).toContain(day);
    const latest = await at.page.getByRole('cell').first().innerText();
    expect(latest).toMatch(/^[\d:.]+$/);
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
    // On a busy machine, the window may take the focus back once: a person would go there again.
    await eventually(async () => {
      await field.focus();
      expect(await at.dialog.locator('.cm-focused').isVisible()).toBe(true);
    });
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

  test('what was typed outlasts the session', async () => {
    const { id } = await prisma.user.findFirstOrThrow({ where: { username: 'ada' } });
    await at.open(`users/${id}`, 'ada');
    await at.field('Name').fill('Ada Lovelace');
    await prisma.firstPartySession.deleteMany();
    const window = at.page.getByRole('alertdialog', { name: 'Your session has ended' });
    await window.getByRole('button', { name: 'Continue' }).click();
    await window.getByText('not signed in yet').waitFor();
    const opened = at.context.waitForEvent('page');
    await window.getByRole('link').click();
    const other = await opened;
    // There, the password can be shown.
    const password = other.locator('[autocomplete=current-password]');
    await other.getByRole('button', { name: 'Show password' }).click();
    expect(await password.getAttribute('type')).toBe('text');
    await other.getByRole('button', { name: 'Hide password' }).click();
    expect(await password.getAttribute('type')).toBe('password');
    await signInAtScreen(other);
    await other.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
    await other.close();
    // As the person comes back to the tab.
    await at.page.evaluate("dispatchEvent(new Event('focus'))");
    await window.waitFor({ state: 'detached' });
    await at.button('Save').click();
    await at.page.getByRole('heading', { name: 'Ada Lovelace', level: 1 }).waitFor();
    await at.page.locator('[data-state=live]').first().waitFor({ state: 'attached' });
    // And what others change is seen here again.
    const { status } = await fetch(`${at.endpoint.url}/api/users/${id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${at.endpoint.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: null }),
    });
    expect(status).toBe(200);
    await at.page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
  });

  test('whoever works in a page stays signed in, and an unattended page does not', async () => {
    const session = () => prisma.firstPartySession.findFirstOrThrow();
    const page = await at.context.newPage();
    await page.clock.install();
    await page.goto(`${at.service.app.services.baseUrl}/console`);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // What it asks as it is opened is somebody's work.
    await page.waitForLoadState('networkidle');
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
