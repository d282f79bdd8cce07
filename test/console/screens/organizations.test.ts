import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { createUser } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('organizations at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;
  const section = (title: string) =>
    at.page.locator('section').filter({ has: at.page.getByRole('heading', { name: title }) });

  test('the template gets a scope and a role that holds it', async () => {
    await at.open('organizations?tab=template', 'Organizations');
    await at.button('Create organization scope').click();
    await at.field('Name', at.dialog).fill('invite:member');
    await at.raises(['OrganizationScope.Created'], () =>
      at.button('Create organization scope', at.dialog).click(),
    );
    await at.button('Edit invite:member').click();
    await at.field('Description', at.dialog).fill('Asks people to join');
    await at.raises(['OrganizationScope.Data.Updated'], () => at.button('Save', at.dialog).click());
    await at.button('Create organization role').click();
    await at.field('Name', at.dialog).fill('Owner');
    await at.raises(['OrganizationRole.Created'], () =>
      at.button('Create organization role', at.dialog).click(),
    );
    // The role is open now, to be given its scopes.
    const [updated] = await at.raises(['OrganizationRole.Scopes.Updated'], () =>
      at.pick('Add organization scope', 'invite', 'invite:member'),
    );
    expect(JSON.stringify(updated?.data)).toContain('invite:member');
    await at.button('Cancel', at.dialog).click();
    await at.page.getByRole('cell', { name: 'invite:member' }).first().waitFor();
  });

  test('a scope of the template has one name only', async () => {
    await at.button('Create organization scope').click();
    await at.field('Name', at.dialog).fill('invite:member');
    // Changes are not lost by a slip.
    await at.page.keyboard.press('Escape');
    await at.button('Stay', at.dialog).click();
    await at.raises([], () => at.button('Create organization scope', at.dialog).click());
    expect(await at.errorOf(at.field('Name', at.dialog))).not.toBe('');
    await at.button('Cancel', at.dialog).click();
  });

  test('an organization is created', async () => {
    await at.open('organizations', 'Organizations');
    await at.button('Create organization').first().click();
    await at.button('Create organization', at.dialog).click();
    expect(await at.errorOf(at.field('Name', at.dialog))).toBe('This is required.');
    await at.field('Name', at.dialog).fill('Harbour Freight');
    await at.raises(['Organization.Created'], () =>
      at.button('Create organization', at.dialog).click(),
    );
    await at.page.getByRole('heading', { name: 'Harbour Freight', level: 1 }).waitFor();
  });

  test('a member is found by the combobox, and gets a role in place', async () => {
    const { username } = await createUser(at.endpoint);
    await createUser(at.endpoint);
    const now = at.service.clock.now();
    await prisma.organizationRole.create({
      data: {
        id: newId('OrganizationRole'),
        name: 'Auditor',
        type: 'USER',
        createdAt: now,
        updatedAt: now,
      },
    });
    await at.page.reload();
    const [added] = await at.raises(['Organization.Membership.Updated'], () =>
      at.pick('Add member', username),
    );
    expect(added?.data['organizationId']).toMatch(/^org_/);
    const row = at.page.getByRole('row').filter({ hasText: username });
    await row.waitFor();
    // Whoever is a member is not offered again.
    await at.page.getByRole('combobox', { name: 'Add member' }).fill(username);
    await at.page.getByText('Nothing found').waitFor();
    await at.page.keyboard.press('Escape');
    await at.button('Roles', row).click();
    // It is checked once the role is assigned.
    await at.page.getByRole('checkbox', { name: 'Auditor' }).click();
    await row.getByText('Auditor', { exact: true }).waitFor();
    await at.page.getByRole('checkbox', { name: 'Owner' }).click();
    const member = () =>
      prisma.organizationUser.findFirst({
        where: { user: { username } },
        select: { roles: { select: { organizationRole: { select: { name: true } } } } },
      });
    await expect.poll(async () => (await member())?.roles).toHaveLength(2);
    await at.page.keyboard.press('Escape');
    for (const name of ['Auditor', 'Owner']) await row.getByText(name, { exact: true }).waitFor();
    await at.raises(['Organization.Membership.Updated'], () => at.confirm('Remove', row));
    await at.page.getByText('No members yet.').waitFor();
    await prisma.organizationRole.deleteMany({ where: { name: 'Auditor' } });
  });

  test('an application becomes a member', async () => {
    await at.tab('Applications');
    await at.raises(['Organization.Membership.Updated'], () =>
      at.pick('Add application', '', 'Admin'),
    );
  });

  test('somebody is invited with a role, once, and the invitation revoked', async () => {
    await at.tab('Invitations');
    const invite = async () => {
      await at.button('Invite').first().click();
      await at.field('E-mail', at.dialog).fill('joan@example.com');
      await at.dialog.getByRole('checkbox', { name: 'Owner' }).check();
      await at.button('Invite', at.dialog).click();
    };
    await invite();
    // The link is there to copy, with the time it lasts.
    const link = at.dialog.getByRole('group', { name: 'Invitation link' });
    expect(await link.locator('pre').innerText()).toContain('/account/invitation?id=inv_');
    await at.dialog.getByText('For 7 days, and for the owner of that address alone.').waitFor();
    await at.button('Done', at.dialog).click();
    const row = at.page.getByRole('row').filter({ hasText: 'joan@example.com' });
    await row.getByText('Pending').waitFor();
    await row.getByText('Owner').waitFor();
    await at.button('Copy Invitation link', row).waitFor();
    await invite();
    expect(await at.errorOf(at.field('E-mail', at.dialog))).not.toBe('');
    await at.button('Cancel', at.dialog).click();
    await at.confirm('Revoke', row);
    await row.getByText('Revoked').waitFor();
    await at.confirm('Delete', row);
    await at.page.getByText('No invitations yet').waitFor();
  });

  test('a domain lets people join, with just-in-time roles', async () => {
    await at.tab('Just-in-time');
    await at.field('Domain').fill('not a domain');
    await at.button('Add domain').click();
    expect(await at.errorOf(at.field('Domain'))).not.toBe('');
    await at.field('Domain').fill('harbour.example');
    await at.button('Add domain').click();
    await at.button('Remove harbour.example').waitFor();
    await section('Just-in-time roles').getByRole('checkbox', { name: 'Owner' }).check();
    await at.button('Save').click();
    await expect.poll(() => prisma.organizationJitRole.count()).toBe(1);
    await at.remove('Remove harbour.example');
    await at.page.getByText('No domains. Nobody joins by e-mail address alone.').waitFor();
  });

  test('an identity provider lets its people join', async () => {
    const now = at.service.clock.now();
    await prisma.identityProvider.create({
      data: {
        id: newId('IdentityProvider'),
        name: 'Northwind',
        kind: 'ENTERPRISE',
        issuer: 'https://northwind.example',
        clientId: 'harbour',
        scopes: ['openid'],
        createdAt: now,
        updatedAt: now,
      },
    });
    await at.pick('Add identity provider', 'north', 'Northwind');
    await at.button('Remove Northwind').waitFor();
    expect(await prisma.organizationIdentityProvider.count()).toBe(1);
    await at.remove('Remove Northwind');
    await at.page.getByText('No identity providers. Nobody joins through one.').waitFor();
    expect(await prisma.organizationIdentityProvider.count()).toBe(0);
  });

  test('its name is changed, and it is deleted by that name', async () => {
    await at.tab('Settings');
    await at.field('Name').fill('Harbour & Sons');
    await at.raises(['Organization.Data.Updated'], () => at.button('Save').click());
    await at.page.getByRole('heading', { name: 'Harbour & Sons', level: 1 }).waitFor();
    // The application that is a member goes with it.
    await at.raises(['Organization.Membership.Updated', 'Organization.Deleted'], () =>
      at.deleteRecord('Harbour & Sons'),
    );
    expect(await prisma.organization.count()).toBe(0);
  });

  test('the template loses its role and its scope', async () => {
    await at.open('organizations?tab=template', 'Organizations');
    const row = (name: string) =>
      at.page.getByRole('row').filter({ has: at.page.getByText(name, { exact: true }) });
    await at.raises(['OrganizationRole.Deleted'], () => at.confirm('Delete', row('Owner')));
    await at.page.getByText('No organization roles yet.').waitFor();
    await at.raises(['OrganizationScope.Deleted'], () =>
      at.confirm('Delete', row('invite:member')),
    );
  });

  test('two long lists beside each other have pages of their own', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `parcel:${String(i).padStart(2, '0')}`);
    const now = at.service.clock.now();
    await prisma.organizationScope.createMany({
      data: names.map((name) => ({
        id: newId('OrganizationScope'),
        name,
        createdAt: now,
        updatedAt: now,
      })),
    });
    await at.open('organizations?tab=template', 'Organizations');
    const scopes = section('Organization scopes');
    await scopes.getByText('parcel:00').waitFor();
    await at.button('Next', scopes).click();
    await scopes.getByText('parcel:59').waitFor();
    expect(await scopes.getByText('parcel:00').count()).toBe(0);
    expect([...new URL(at.page.url()).searchParams.keys()]).toEqual(['tab', 'scopesAfter']);
    await at.page.reload();
    await scopes.getByText('parcel:59').waitFor();
    await at.button('Previous', scopes).click();
    await scopes.getByText('parcel:00').waitFor();
  });

  test('more than a hundred roles can be chosen from', async () => {
    const now = at.service.clock.now();
    const rows = Array.from({ length: 103 }, (_, i) => ({
      id: newId('OrganizationRole'),
      type: 'USER' as const,
      name: `Driver ${String(i).padStart(3, '0')}`,
      createdAt: now,
      updatedAt: now,
    }));
    await prisma.organizationRole.createMany({ data: rows });
    const organization = await prisma.organization.create({
      data: {
        id: newId('Organization'),
        name: 'Northwind',
        createdAt: now,
        updatedAt: now,
      },
    });
    await at.open(`organizations/${organization.id}?tab=just-in-time`, 'Northwind');
    const role = (name: string) =>
      section('Just-in-time roles').getByRole('checkbox', { name, exact: true });
    await role('Driver 102').check();
    await at.button('Save').click();
    await expect.poll(() => prisma.organizationJitRole.count()).toBe(1);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
