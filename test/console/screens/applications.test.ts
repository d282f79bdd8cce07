import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { userToken } from '../../support/tokens.ts';

const indicator = 'https://orders.example.com';

describe.runIf(chromiumPath)('APIs, roles and applications at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { prisma } = at.service.testDatabase.database;

  test('an API is created with its scopes', async () => {
    await at.open('apis', 'APIs');
    await at.button('Create API').click();
    await at.field('Name', at.dialog).fill('Orders');
    await at.field('Indicator', at.dialog).fill('orders');
    await at.button('Create API', at.dialog).click();
    expect(await at.errorOf(at.field('Indicator', at.dialog))).not.toBe('');
    await at.field('Indicator', at.dialog).fill(indicator);
    await at.button('Create API', at.dialog).click();
    await at.page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
    const create = async (name: string) => {
      await at.button('Create scope').click();
      await at.field('Name of the scope', at.dialog).fill(name);
      await at.button('Create scope', at.dialog).click();
    };
    await at.raises(['Scope.Created'], () => create('orders:read'));
    await at.raises([], () => create('orders:read'));
    expect(await at.errorOf(at.field('Name of the scope', at.dialog))).not.toBe('');
    await at.field('Name of the scope', at.dialog).fill('orders:write');
    await at.raises(['Scope.Created'], () => at.button('Create scope', at.dialog).click());
    await at.button('Edit orders:write').click();
    await at.field('Name of the scope', at.dialog).fill('orders:change');
    await at.raises(['Scope.Data.Updated'], () => at.button('Save', at.dialog).click());
    const row = at.page.getByRole('row').filter({ hasText: 'orders:change' });
    await at.raises(['Scope.Deleted'], () => at.confirm('Delete', row));
  });

  test('a role is created, holds a scope, and is given to somebody', async () => {
    await at.open('roles', 'Roles');
    await at.button('Create role').click();
    await at.field('Name', at.dialog).fill('Viewer');
    await at.raises([], () => at.button('Create role', at.dialog).click());
    expect(await at.errorOf(at.field('Name', at.dialog))).not.toBe('');
    await at.field('Name', at.dialog).fill('Order reader');
    await at.raises(['Role.Created'], () => at.button('Create role', at.dialog).click());
    await at.page.getByRole('heading', { name: 'Order reader', level: 1 }).waitFor();
    await at.raises(['Role.Scopes.Updated'], () => at.pick('Add scope', 'orders', 'orders:read'));
    await at.button('Remove orders:read').waitFor();
    // An API can have more scopes than one page of them lists.
    const { id: resourceId } = await prisma.resource.findFirstOrThrow({ where: { indicator } });
    const now = at.service.clock.now();
    await prisma.scope.createMany({
      data: Array.from({ length: 120 }, (_, i) => ({
        id: newId('Scope'),
        resourceId,
        name: `orders:zone-${String(i).padStart(3, '0')}`,
        createdAt: now,
        updatedAt: now,
      })),
    });
    await at.raises(['Role.Scopes.Updated'], () => at.pick('Add scope', 'zone-119'));
    await at.raises(['Role.Scopes.Updated'], () => at.remove('Remove orders:zone-119'));
    await at.field('Default role').check();
    await at.raises(['Role.Data.Updated'], () => at.button('Save').click());
    await at.tab('Who has it');
    await at.pick('Assign to a user', 'ada');
    await at.page.getByRole('link', { name: 'ada' }).waitFor();
    expect(
      await prisma.userRole.count({
        where: { role: { name: 'Order reader' }, user: { username: 'ada' } },
      }),
    ).toBe(1);
  });

  let secret = '';
  let id = '';
  test('a web application is created; its secret is shown once', async () => {
    await at.open('applications', 'Applications');
    await at.button('Create application').first().click();
    for (const type of ['Web application', 'Single-page app', 'Native app', 'Machine to machine']) {
      await at.dialog.getByRole('radio', { name: type }).waitFor();
    }
    await at.field('Name', at.dialog).fill('Shop');
    await at.field('Redirect URIs 1', at.dialog).fill('https://shop.example.com/#fragment');
    await at.button('Create application', at.dialog).click();
    expect(await at.errorOf(at.field('Redirect URIs 1', at.dialog))).not.toBe('');
    await at.field('Redirect URIs 1', at.dialog).fill('https://shop.example.com/callback');
    await at.button('Create application', at.dialog).click();
    secret = (
      await at.dialog.getByRole('group', { name: 'Secret' }).locator('pre').innerText()
    ).trim();
    id = (
      await at.dialog.getByRole('group', { name: 'Client ID' }).locator('pre').innerText()
    ).trim();
    await at.button('Open application', at.dialog).click();
    await at.page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    expect(secret).not.toBe('');
    expect(await at.page.content()).not.toContain(secret);
    await at.page.reload();
    await at.page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    expect(await at.page.content()).not.toContain(secret);
  });

  test('the settings of the quickstart lead to the sign-in page', async () => {
    const block = at.page.getByRole('group', { name: 'Settings for a library' }).locator('pre');
    const settings = new Map(
      (await block.innerText())
        .trim()
        .split('\n')
        .map((line) => line.replaceAll('"', '').split('=') as [string, string]),
    );
    const issuer = settings.get('OIDC_ISSUER') ?? '';
    const found = await fetch(`${issuer}/.well-known/openid-configuration`);
    const discovered = (await found.json()) as Record<string, string>;
    expect(discovered['issuer']).toBe(issuer);
    const asked = new URL(discovered['authorization_endpoint'] ?? '');
    asked.search = String(
      new URLSearchParams({
        response_type: 'code',
        client_id: settings.get('OIDC_CLIENT_ID') ?? '',
        redirect_uri: settings.get('OIDC_REDIRECT_URI') ?? '',
        scope: settings.get('OIDC_SCOPE') ?? '',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        state: 'anything',
      }),
    );
    const answer = await fetch(asked, { redirect: 'manual' });
    expect(answer.headers.get('location')).toContain('/sign-in/');
  });

  test('redirect URIs are changed line by line', async () => {
    await at.button('Add to Redirect URIs').click();
    await at.field('Redirect URIs 2').fill('not an address');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Redirect URIs 2'))).not.toBe('');
    expect(await at.field('Redirect URIs 1').getAttribute('aria-invalid')).toBe('false');
    await at.field('Redirect URIs 2').fill('https://shop.example.com/other');
    await at.button('Save').click();
    const uris = async () => (await prisma.application.findUnique({ where: { id } }))?.redirectUris;
    await expect
      .poll(uris)
      .toEqual(['https://shop.example.com/callback', 'https://shop.example.com/other']);
  });

  test('the curl line that is shown exchanges a token', async () => {
    await at.page.getByRole('switch', { name: 'Allow token exchange' }).click();
    const command = at.page.getByRole('group', { name: 'Command for an exchange' }).locator('pre');
    await at.pick('Add an API to the targets', 'orders', 'Orders');
    await at.page.getByRole('list', { name: 'Targets' }).getByText(indicator).waitFor();
    await expect.poll(() => command.innerText()).toContain(indicator);
    const { id: userId } = await prisma.user.findFirstOrThrow({ where: { username: 'ada' } });
    const subjectToken = await userToken(at.service, userId, { id });
    const { stdout } = await promisify(execFile)('sh', ['-c', await command.innerText()], {
      env: { ...process.env, CLIENT_SECRET: secret, SUBJECT_TOKEN: subjectToken },
    });
    const answer = JSON.parse(stdout) as { access_token: string };
    expect(decodeJwt(answer.access_token)).toMatchObject({
      sub: userId,
      aud: indicator,
      client_id: id,
    });
  });

  test('an exchange is explained for a user, rule by rule', async () => {
    await at.pick('Search users', 'ada');
    await at.pick('Search APIs', 'orders', 'Orders');
    await at.page.getByText('A token would be issued').waitFor();
    const row = (text: string) => at.page.getByRole('row').filter({ hasText: text });
    await row('orders:read').getByText('Granted').waitFor();
    await row('orders:read').getByText('Order reader').waitFor();
    await at.page.getByRole('switch', { name: 'Allow token exchange' }).click();
    await at.page.getByText('The exchange would be refused').waitFor();
    await row('Token exchange is allowed').getByText('Fails').waitFor();
  });

  test.each([
    ['Single-page app', 'A single-page app cannot exchange tokens.'],
    ['Native app', 'A native app cannot exchange tokens.'],
  ])('a %s has no switch, and the reason', async (type, reason) => {
    await at.open('applications', 'Applications');
    await at.button('Create application').first().click();
    await at.field('Name', at.dialog).fill(type);
    await at.dialog.getByRole('radio', { name: type }).check();
    await at.field('Redirect URIs 1', at.dialog).fill('https://app.example.com/callback');
    await at.button('Create application', at.dialog).click();
    await at.button('Open application', at.dialog).click();
    await at.page.getByText(reason).waitFor();
    expect(await at.page.getByRole('switch').count()).toBe(0);
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
