import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { identifierDigest } from '../../../src/protection/identifier.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { signInAtScreen, startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('users at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  const user = (username: string) => prisma.user.findFirst({ where: { username } });
  /** As a name is often written: no key has this apostrophe. */
  const admiral = 'Rear Admiral Grace O’Hopper';

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
    await at.field('Name').fill(admiral);
    const [changed] = await at.raises(['User.Data.Updated'], () => at.button('Save').click());
    expect(changed?.data['changes']).toEqual({
      name: { from: 'Grace Hopper', to: admiral },
    });
    await at.page.getByRole('heading', { name: admiral }).waitFor();
    await at.field('Custom data').fill('{ "rank": "rear admiral" }');
    await at.raises(['User.Data.Updated'], () => at.button('Save custom data').click());
    expect((await user('grace'))?.customData).toEqual({ rank: 'rear admiral' });
  });

  test('another address is not verified because the one before was', async () => {
    const verified = at.field('The phone number is verified');
    await at.field('Phone').fill('+15005550006');
    await verified.check();
    await at.raises(['User.Data.Updated'], () => at.button('Save').click());
    expect(await user('grace')).toMatchObject({ isPhoneVerified: true });
    await at.field('Phone').fill('+15005550007');
    await expect.poll(() => verified.isChecked()).toBe(false);
    await at.field('Phone').fill('+15005550006');
    await expect.poll(() => verified.isChecked()).toBe(true);
    await at.field('Phone').fill('+15005550008');
    await at.raises(['User.Data.Updated'], () => at.button('Save').click());
    expect(await user('grace')).toMatchObject({ isPhoneVerified: false });
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

  test('what limits the rights of a user is shown, and lifted', async () => {
    const { id } = (await user('grace')) ?? { id: '' };
    await prisma.user.update({ where: { id }, data: { setterScopes: ['users:write'] } });
    await at.page.reload();
    await at.tab('Roles');
    await at.page.getByText('at most: users:write').waitFor();
    await at.button('Lift the limit').click();
    const [lifted] = await at.raises(['User.Data.Updated'], () =>
      at.button('Lift the limit', at.dialog).click(),
    );
    expect(lifted?.data['changes']).toEqual({ isVouchedFor: { from: false, to: true } });
    await at.page.getByText('at most: users:write').waitFor({ state: 'detached' });
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
    const [reset] = await at.raises(['User.Data.Updated', 'User.Credential.Updated'], () =>
      at.button('Reset password', at.dialog).click(),
    );
    expect(JSON.stringify(reset)).not.toMatch(/seven ships|argon2/);
  });

  const openGrace = async () => {
    await at.open(`users/${(await user('grace'))?.id}`, admiral);
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
    const [unlinked] = await at.raises(['User.Data.Updated', 'User.Credential.Updated'], () =>
      at.confirm('Unlink', row),
    );
    expect(Object.keys(unlinked?.data['changes'] ?? {})).toEqual(['identities']);
    await at.page.getByText('No linked identities.').waitFor();
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
    await at.page.getByText('The person has not given access to any application.').waitFor();
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
        lockedUntil: new Date(at.service.clock.now().getTime() + 900_000),
        expiresAt: new Date(at.service.clock.now().getTime() + 900_000),
      },
    });
    await at.open('users', 'Users');
    const row = at.page.getByRole('row').filter({ hasText: admiral });
    await row.getByText('Locked until').waitFor();
    await row.getByRole('link').click();
    await at.page.getByRole('heading', { name: admiral, level: 1 }).waitFor();
    await at.page.getByText('Locked until').waitFor();
    await at.button('Unlock').click();
    await at.field('Identifier', at.dialog).selectOption('EMAIL');
    await at.raises([], () => at.button('Unlock', at.dialog).click());
    await at.page.getByText('grace@example.com is unlocked').waitFor();
    await at.page.getByText('Active', { exact: true }).waitFor();
    expect(await prisma.attemptCount.count()).toBe(0);
  });

  test('signing out everywhere ends the sessions, those here too', async () => {
    const other = await at.chromium.newContext();
    const page = await other.newPage();
    await prisma.userRole.create({
      data: {
        userId: (await user('grace'))?.id ?? '',
        roleId: (await prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } })).id,
        setterScopes: ['all'],
      },
    });
    await page.goto(`${at.service.app.services.baseUrl}/console/users`);
    await signInAtScreen(page, 'grace', 'seven ships sail at noon');
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await at.tab('Sessions');
    await at.button('End session').waitFor();
    await at.confirm('Sign out everywhere');
    await page.getByRole('alertdialog').waitFor();
    await at.page.getByText('No active sessions').waitFor();
    await other.close();
  });

  test('deleting asks for the shown name', async () => {
    await at.button('Delete').click();
    const typed = at.dialog.getByRole('textbox');
    await typed.fill('Grace');
    await at.raises([], () => at.button('Delete', at.dialog).click());
    expect(await at.errorOf(typed)).not.toBe('');
    await at.button('Cancel', at.dialog).click();
    await at.raises(['User.Deleted'], () =>
      at.deleteRecord(admiral, "Rear Admiral Grace O'Hopper"),
    );
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
    await importFile('users.csv', csv.replaceAll(',', '\t').replace('Liskov\t', 'Liskov,'), '4');
    const preview = at.dialog.getByRole('table', { name: 'The first rows' });
    await preview.getByText('barbara@example.com').waitFor();
    await at.raises(['User.Created', 'User.Created'], () => at.button('Import', at.dialog).click());
    await at.dialog.getByText('2 users imported').waitFor();
    const rows = (await failedRows()).map((row) => row.split(/\s+/).slice(0, 2));
    expect(rows).toEqual([['2', 'ada'], expect.arrayContaining(['3'])]);
    expect(await user('barbara')).toMatchObject({ name: 'Liskov, Barbara', isEmailVerified: true });
    const saved = at.page.waitForEvent('download');
    await at.button('Save failed rows', at.dialog).click();
    expect((await saved).suggestedFilename()).toBe('failed-rows.csv');
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
    await at.dialog.getByText('1 user imported').waitFor();
    expect((await failedRows()).map((row) => row.trim()[0])).toEqual(['1', '3']);
    await at.button('Done', at.dialog).click();
  });

  test('a search and an order stand in the address, and Back undoes them', async () => {
    const data = { name: 'Edsger Dijkstra '.repeat(8).trim() };
    await prisma.user.updateMany({ where: { username: 'edsger' }, data });
    await at.open('users', 'Users');
    await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).waitFor();
    // A long name takes one line, and is whole in the tooltip.
    const row = at.page.getByRole('row').filter({ hasText: data.name });
    expect((await row.boundingBox())?.height).toBeLessThan(50);
    expect(await row.getByRole('link').getAttribute('title')).toBe(data.name);
    await at.page.getByRole('searchbox', { name: 'Search' }).fill('liskov');
    await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).waitFor({ state: 'detached' });
    await at.page.getByRole('link', { name: 'Liskov, Barbara' }).waitFor();
    expect(new URL(at.page.url()).searchParams.get('search')).toBe('liskov');
    await at.page.reload();
    await at.page.getByRole('link', { name: 'Liskov, Barbara' }).waitFor();
    expect(await at.page.getByRole('link', { name: 'Edsger Dijkstra' }).count()).toBe(0);
    // From a record, the way back leads to the same rows.
    await at.page.getByRole('link', { name: 'Liskov, Barbara' }).click();
    await at.page.getByRole('heading', { name: 'Liskov, Barbara', level: 1 }).waitFor();
    const crumbs = at.page.getByRole('navigation', { name: 'Breadcrumb' });
    await crumbs.getByRole('link', { name: 'Users' }).click();
    await at.page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    expect(new URL(at.page.url()).searchParams.get('search')).toBe('liskov');
  });

  test('several users are chosen, and exported, given a role, suspended and deleted', async () => {
    await at.open('users', 'Users');
    const tick = (name: string) => at.page.getByRole('checkbox', { name: `Select ${name}` });
    await tick('Liskov, Barbara').check();
    await tick('donald').check();
    const bar = at.page.getByRole('toolbar', { name: '2 selected' });
    const saved = at.page.waitForEvent('download');
    await at.button('Export', bar).click();
    const file = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(file).toHaveLength(3);
    expect(file[0]).toMatch(/^id,name,username/);
    expect(file.join()).toContain('"Liskov, Barbara",barbara');

    await at.button('Assign role', bar).click();
    await at.raises(['User.Roles.Updated', 'User.Roles.Updated'], () =>
      at.pick('Search roles for users', 'Viewer'),
    );
    await at.page.getByText('Role assigned to 2 users').waitFor();

    await tick('Liskov, Barbara').check();
    await tick('donald').check();
    await at.button('Suspend', bar).click();
    await at.raises(['User.SuspensionStatus.Updated', 'User.SuspensionStatus.Updated'], () =>
      at.button('Suspend', at.dialog).click(),
    );
    await at.page.getByText('2 users suspended').waitFor();
    expect(await user('donald')).toMatchObject({ isSuspended: true });

    await tick('Liskov, Barbara').check();
    await tick('donald').check();
    await at.button('Delete', bar).click();
    await at.field('Type “2” to confirm', at.dialog).fill('3');
    await at.raises([], () => at.button('Delete', at.dialog).click());
    expect(await at.errorOf(at.field('Type “2” to confirm', at.dialog))).not.toBe('');
    await at.field('Type “2” to confirm', at.dialog).fill('2');
    await at.raises(['User.Deleted', 'User.Deleted'], () => at.button('Delete', at.dialog).click());
    await tick('donald').waitFor({ state: 'detached' });
  });

  test("a row's menu acts on its user", async () => {
    await at.button('Actions for ada').click();
    await at.page.getByRole('dialog', { name: 'Actions for ada' }).waitFor();
    await at.button('Suspend').click();
    await at.page.getByRole('alertdialog', { name: 'Suspend 1 user?' }).waitFor();
    await at.button('Cancel', at.dialog).click();
    expect(await user('ada')).toMatchObject({ isSuspended: false });
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
