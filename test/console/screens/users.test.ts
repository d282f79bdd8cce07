import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { identifierDigest } from '../../../src/protection/identifier.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('users at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  const user = (username: string) => prisma.user.findFirst({ where: { username } });

  test('a user is created, once the form has no error', async () => {
    await at.open('users', 'Users');
    await at.button('Create user').click();
    await at.field('User name', at.dialog).fill('ada');
    await at.raises([], () => at.button('Create user', at.dialog).click());
    expect(await at.errorOf(at.field('User name', at.dialog))).toBe(
      'Another user has this user name.',
    );
    await at.field('User name', at.dialog).fill('grace');
    await at.field('E-mail', at.dialog).fill('not an address');
    await at.button('Create user', at.dialog).click();
    expect(await at.errorOf(at.field('E-mail', at.dialog))).not.toBe('');
    await at.field('E-mail', at.dialog).fill('grace@example.com');
    await at.field('Name', at.dialog).fill('Grace Hopper');
    const [created] = await at.raises(['User.Created'], () =>
      at.button('Create user', at.dialog).click(),
    );
    const ada = await user('ada');
    expect(created?.actor).toMatchObject({ type: 'USER', id: ada?.id });
    await at.page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor();
    expect(new URL(at.page.url()).pathname).toBe(`/console/users/${(await user('grace'))?.id}`);
  });

  test('the profile is changed, and another change is taken along', async () => {
    await at.field('Name').fill('Rear Admiral Grace Hopper');
    const [changed] = await at.raises(['User.Data.Updated'], () => at.button('Save').click());
    expect(changed?.data['changes']).toEqual({
      name: { from: 'Grace Hopper', to: 'Rear Admiral Grace Hopper' },
    });
    await at.page.getByRole('heading', { name: 'Rear Admiral Grace Hopper' }).waitFor();
    await at.field('Custom data').fill('{ "rank": "rear admiral" }');
    await at.raises(['User.Data.Updated'], () => at.button('Save custom data').click());
    expect((await user('grace'))?.customData).toEqual({ rank: 'rear admiral' });
  });

  test('a role is assigned by the combobox, and removed', async () => {
    await at.tab('Roles');
    await at.pick('Assign role', 'view', 'Viewer');
    await at.page.getByRole('link', { name: 'Viewer' }).waitFor();
    expect(await prisma.userRole.count({ where: { user: { username: 'grace' } } })).toBe(1);
    await at.remove('Remove Viewer');
    await at.page.getByRole('link', { name: 'Viewer' }).waitFor({ state: 'detached' });
    expect(await prisma.userRole.count({ where: { user: { username: 'grace' } } })).toBe(0);
  });

  test('suspending and reactivating ask for a click', async () => {
    await at.button('Suspend').click();
    await at.raises([], () => at.button('Cancel', at.dialog).click());
    expect((await user('grace'))?.isSuspended).toBe(false);
    await at.raises(['User.SuspensionStatus.Updated'], () => at.confirm('Suspend'));
    await at.page.getByText('Suspended', { exact: true }).waitFor();
    await at.raises(['User.SuspensionStatus.Updated'], () => at.confirm('Reactivate'));
    expect((await user('grace'))?.isSuspended).toBe(false);
  });

  test('a password is reset, unless the policy refuses it', async () => {
    await at.button('Reset password').click();
    const password = at.dialog.getByLabel('New password');
    await password.fill('short');
    await at.raises([], () => at.button('Reset password', at.dialog).click());
    expect(await at.errorOf(password)).not.toBe('');
    await password.fill('seven ships sail at noon');
    const [reset] = await at.raises(['User.Data.Updated'], () =>
      at.button('Reset password', at.dialog).click(),
    );
    expect(JSON.stringify(reset)).not.toMatch(/seven ships|argon2/);
  });

  const openGrace = async () => {
    await at.open(`users/${(await user('grace'))?.id}`, 'Rear Admiral Grace Hopper');
    await at.tab('Access');
  };
  const section = (title: string) =>
    at.page.locator('section').filter({ has: at.page.getByRole('heading', { name: title }) });

  test('an identity is shown, and unlinked', async () => {
    const now = at.service.clock.now();
    const provider = await prisma.identityProvider.create({
      data: {
        id: newId('IdentityProvider'),
        name: 'Northwind',
        kind: 'SOCIAL',
        issuer: 'https://northwind.example',
        clientId: 'harbour',
        scopes: ['openid'],
        createdAt: now,
        updatedAt: now,
      },
    });
    await prisma.userIdentity.create({
      data: {
        id: newId('UserIdentity'),
        userId: (await user('grace'))?.id ?? '',
        identityProviderId: provider.id,
        issuer: provider.issuer,
        subject: 'grace-at-northwind',
        email: 'grace@northwind.example',
        linkedAt: now,
      },
    });
    await openGrace();
    const row = at.page.getByRole('row').filter({ hasText: 'Northwind' });
    await row.getByText('grace-at-northwind').waitFor();
    const [unlinked] = await at.raises(['User.Data.Updated'], () => at.confirm('Unlink', row));
    expect(Object.keys(unlinked?.data['changes'] ?? {})).toEqual(['identities']);
    await at.page.getByText('No identity is linked.').waitFor();
  });

  test('a personal access token is shown once, and deleted', async () => {
    await at.button('Create token').click();
    await at.field('Name', at.dialog).fill('Terminal');
    await at.field('Expires', at.dialog).fill('2020-01-01T00:00');
    await at.button('Create token', at.dialog).click();
    expect(await at.errorOf(at.field('Expires', at.dialog))).not.toBe('');
    await at.field('Expires', at.dialog).fill('2100-01-01T00:00');
    await at.button('Create token', at.dialog).click();
    const shown = at.dialog.getByRole('group', { name: 'Personal access token' });
    expect(await shown.innerText()).toMatch(/^pat_/);
    await at.button('Done', at.dialog).click();
    const row = section('Personal access tokens').getByRole('row').filter({ hasText: 'Terminal' });
    await row.getByText('Never').waitFor();
    expect(await prisma.personalAccessToken.count()).toBe(1);
    await at.confirm('Delete token', row);
    await row.waitFor({ state: 'detached' });
    expect(await prisma.personalAccessToken.count()).toBe(0);
  });

  test('what an application was allowed is taken back', async () => {
    const application = await prisma.application.findFirstOrThrow({
      where: { type: 'MACHINE_TO_MACHINE' },
    });
    await prisma.userGrant.create({
      data: {
        id: newId('UserGrant'),
        userId: (await user('grace'))?.id ?? '',
        applicationId: application.id,
        createdAt: at.service.clock.now(),
        scopes: { create: [{ resource: '', name: 'email' }] },
      },
    });
    await openGrace();
    const row = section('Allowed applications')
      .getByRole('row')
      .filter({ hasText: application.name });
    await row.getByText('email').waitFor();
    await at.confirm('Revoke', row);
    await at.page.getByText('The person has allowed no application anything.').waitFor();
    expect(await prisma.userGrant.count()).toBe(0);
  });

  test('who acted for the person, and why, is listed', async () => {
    const { id } = (await user('grace')) ?? {};
    const response = await fetch(`${at.endpoint.url}/api/users/${id}/subject-tokens`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.endpoint.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ reason: 'Ticket 4711' }),
    });
    expect(response.status).toBe(201);
    await openGrace();
    const row = section('Impersonation').getByRole('row').filter({ hasText: 'Ticket 4711' });
    await row.getByRole('link').waitFor();
    await row.getByText('Not used').waitFor();
  });

  test('a locked identifier is unlocked', async () => {
    const { services } = at.service.app;
    await prisma.attemptCount.create({
      data: {
        identifier: identifierDigest(services.cipher, {
          type: 'email',
          value: 'grace@example.com',
        }),
        check: 'password',
        device: '',
        count: 10,
        expiresAt: new Date(at.service.clock.now().getTime() + 900_000),
      },
    });
    await at.button('Unlock').click();
    await at.field('Identifier', at.dialog).selectOption('EMAIL');
    await at.raises([], () => at.button('Unlock', at.dialog).click());
    await at.page.getByText('grace@example.com is unlocked').waitFor();
    expect(await prisma.attemptCount.count()).toBe(0);
  });

  test('signing out everywhere ends the sessions, those here too', async () => {
    const other = await at.chromium.newContext();
    const page = await other.newPage();
    await prisma.userRole.create({
      data: {
        userId: (await user('grace'))?.id ?? '',
        roleId: (await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } })).id,
      },
    });
    await page.goto(`${at.service.app.services.baseUrl}/console/users`);
    await page.locator('[autocomplete=username]').fill('grace');
    await page.locator('[autocomplete=current-password]').fill('seven ships sail at noon');
    await page.locator('button[type=submit]').first().click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await at.tab('Sessions');
    await at.button('End session').waitFor();
    await at.confirm('Sign out everywhere');
    await page.getByRole('alertdialog').waitFor();
    await at.page.getByText('Nowhere signed in').waitFor();
    await other.close();
  });

  test('deleting asks for the shown name', async () => {
    await at.button('Delete').click();
    const name = 'Rear Admiral Grace Hopper';
    const typed = at.dialog.getByRole('textbox');
    await typed.fill('Grace');
    await at.raises([], () => at.button('Delete', at.dialog).click());
    expect(await at.errorOf(typed)).not.toBe('');
    await at.button('Cancel', at.dialog).click();
    await at.raises(['User.Deleted'], () => at.deleteRecord(name));
    expect(await user('grace')).toBeNull();
    await at.page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  });

  const importFile = async (name: string, content: string, rows: string) => {
    await at.open('users', 'Users');
    await at.button('Import').click();
    await at.dialog
      .getByLabel('File (CSV or JSON)')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
    await at.dialog.getByText(`${rows} rows found`).waitFor();
  };
  const failedRows = () => at.dialog.getByRole('row').filter({ hasText: /^\d/ }).allInnerTexts();

  test('imports CSV, and counts the rows that failed from 1', async () => {
    const csv = [
      'username,primaryEmail,isEmailVerified,name',
      'barbara,barbara@example.com,true,"Liskov, Barbara"',
      'ada,,,',
      'katherine,,perhaps,',
      'edsger,edsger@example.com,false,Edsger Dijkstra',
    ].join('\r\n');
    await importFile('users.csv', csv, '4');
    await at.raises(['User.Created', 'User.Created'], () => at.button('Import', at.dialog).click());
    await at.dialog.getByText('2 users are imported').waitFor();
    const rows = (await failedRows()).map((row) => row.split(/\s+/).slice(0, 2));
    expect(rows).toEqual([['2', 'ada'], expect.arrayContaining(['3'])]);
    expect(await user('barbara')).toMatchObject({ name: 'Liskov, Barbara', isEmailVerified: true });
    await at.button('Done', at.dialog).click();
    await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).waitFor();
  });

  test('imports JSON, and counts the rows that failed from 1', async () => {
    const json = [
      { username: 'barbara' },
      { username: 'donald', profile: { locale: 'en' } },
      { username: 'tony', unknown: 1 },
    ];
    await importFile('users.json', JSON.stringify(json), '3');
    await at.raises(['User.Created'], () => at.button('Import', at.dialog).click());
    await at.dialog.getByText('1 user is imported').waitFor();
    expect((await failedRows()).map((row) => row.trim()[0])).toEqual(['1', '3']);
    await at.button('Done', at.dialog).click();
  });

  test('a search and an order stand in the address, and Back undoes them', async () => {
    await at.open('users', 'Users');
    await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).waitFor();
    await at.page.getByRole('searchbox', { name: 'Search' }).fill('liskov');
    await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).waitFor({ state: 'detached' });
    await at.page.getByRole('link', { name: 'Liskov, Barbara' }).waitFor();
    expect(new URL(at.page.url()).searchParams.get('search')).toBe('liskov');
    await at.page.reload();
    await at.page.getByRole('link', { name: 'Liskov, Barbara' }).waitFor();
    expect(await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).count()).toBe(0);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
