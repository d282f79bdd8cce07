import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { signInAtScreen, startConsoleAtWork } from '../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('an exchange is explained at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const { database } = at.service.app.services;
  const directory = seedDirectory(database, at.service.clock);
  const orders = await directory.createResource(['orders:read', 'orders:refund'], {
    name: 'Orders',
  });
  const grace = await directory.createUser({ username: 'grace', name: 'Grace Hopper' });
  await directory.allowUser(grace, orders, ['orders:read']);
  const client = await directory.createClient({ name: 'Order service' });
  const row = (name: string) => at.page.getByRole('row').filter({ hasText: name });
  const application = () =>
    database.prisma.application.findUniqueOrThrow({ where: { id: client.id } });

  beforeAll(() => at.open(`applications/${client.id}`, 'Order service'));

  test('the command of the quickstart gets a token', async () => {
    const command = at.page.getByRole('group', { name: 'Command for a token' }).locator('pre');
    await expect.poll(() => command.innerText()).toContain(orders.indicator);
    const { stdout } = await promisify(execFile)('sh', ['-c', await command.innerText()], {
      env: { ...process.env, CLIENT_SECRET: client.secret },
    });
    const { access_token } = JSON.parse(stdout) as { access_token: string };
    expect(decodeJwt(access_token)).toMatchObject({ sub: client.id, aud: orders.indicator });
  });

  test('what is broken is named', async () => {
    await at.pick('Search users', 'grace', 'Grace Hopper');
    await at.pick('Search APIs', 'Orders');
    await at.page.getByText('The exchange would be refused').waitFor();
    await row('Token exchange is allowed').getByText('Fails').waitFor();
    // What fails is first of all.
    const rules = at.page.getByRole('table', { name: 'Rules' }).getByRole('row');
    expect(await rules.nth(1).innerText()).toContain('Token exchange is allowed');
    await row('orders:read').getByText('Granted').waitFor();
  });

  test('once allowed, each scope has its reason', async () => {
    await at.page.getByRole('switch', { name: 'Allow token exchange' }).click();
    await at.page.getByText('A token would be issued').waitFor();
    await row('Token exchange is allowed').getByText('Met').waitFor();
    await row('orders:read')
      .getByText(/^Role \d/)
      .waitFor();
    await row('orders:refund').getByText('Not held').waitFor();
  });

  test('a third party’s token is refused, until those are accepted', async () => {
    const shop = { type: 'SPA', name: 'Garden Shop', isThirdParty: true } as const;
    const { id } = await directory.createClient(shop);
    await at.pick('Search the token’s application', 'Garden', 'Garden Shop');
    await at.page.getByText('The exchange would be refused').waitFor();
    await row('The token is not from a third-party application').getByText('Fails').waitFor();
    expect(new URL(at.page.url()).searchParams.get('client')).toBe(id);
    await at.page.getByRole('switch', { name: 'Accept tokens of third-party' }).click();
    await at.page.getByText('A token would be issued').waitFor();
    expect(await application()).toMatchObject({ exchangeThirdPartySubjectTokens: true });
    await at.button('Change Garden Shop').click();
  });

  test('the kinds of subject token are allowed one by one', async () => {
    await at.field('Subject token').selectOption('SUBJECT_TOKEN');
    await row('This kind of subject token is allowed').getByText('Fails').waitFor();
    await at.page.getByRole('switch', { name: 'Allow impersonation' }).click();
    await row('This kind of subject token is allowed').getByText('Met').waitFor();
    expect(await application()).toMatchObject({
      allowImpersonation: true,
      allowPersonalAccessTokens: false,
    });
    await at.pick('Search the token’s application', 'Garden', 'Garden Shop');
    await row('The token is not from a third-party application').getByText('Met').waitFor();
    await at.button('Change Garden Shop').click();
    await at.page.getByRole('switch', { name: 'Allow personal access tokens' }).click();
    await expect.poll(async () => (await application()).allowPersonalAccessTokens).toBe(true);
  });

  test('what was refused leads to its explanation, and that to the cure', async () => {
    const { id, secret } = await directory.createClient({ name: 'Till' });
    const refused = await fetch(`${at.service.url}/oidc/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: 'none',
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: orders.indicator,
      }),
    });
    expect(refused.status).toBe(400);
    const failed = await at.chromium.newContext();
    const stranger = await failed.newPage();
    await stranger.goto(`${at.service.app.services.baseUrl}/console`);
    await signInAtScreen(stranger, 'ada', 'not her password');
    await stranger.getByRole('alert').waitFor();
    await failed.close();

    await at.open('refusals', 'Refusals');
    await row('Wrong password, code or passkey').getByRole('link', { name: 'Open user' }).waitFor();
    // The two clicks to the reason: here, and in the navigation before.
    await row('Token exchange is not allowed').getByRole('link', { name: 'Explain' }).click();
    await at.page.getByRole('heading', { name: 'Explain an exchange', level: 1 }).waitFor();
    await at.page.getByText('Token exchange is not allowed').waitFor();
    await at.button('Change Till').waitFor();
    await at.pick('Search users', 'grace', 'Grace Hopper');
    await at.page.getByText('The exchange would be refused').waitFor();
    const address = new URL(at.page.url()).searchParams;
    expect([address.get('user'), address.get('application')]).toEqual([grace.id, id]);
    await at.page.reload();
    const [changed] = await at.raises(['Application.Data.Updated'], () =>
      at.button('Allow token exchange').click(),
    );
    expect(changed?.data).toMatchObject({ id });
    await at.page.getByText('A token would be issued').waitFor();
  });

  test.each(['en', 'de'] as const)('axe finds nothing, in %s', async (language) => {
    await at.inLanguage(language, async () => {
      await at.comeTo(`applications/${client.id}`);
      const [user, api] = {
        en: ['Search users', 'Search APIs'],
        de: ['Personen suchen', 'APIs suchen'],
      }[language] as string[];
      for (const [name, search] of [
        [user, 'Grace Hopper'],
        [api, 'Orders'],
      ]) {
        await at.page
          .getByRole('combobox', { name: String(name), exact: true })
          .fill(String(search));
        await at.page.getByRole('option', { name: String(search) }).click();
      }
      await at.page.getByText('orders:refund').waitFor();
      await expectAccessible(at.page, 'exchange');
      for (const path of ['refusals', `explain?application=${client.id}`]) {
        await at.comeTo(path);
        await expectAccessible(at.page, path);
      }
    });
  });

  test('the browser complains about nothing', () => {
    expect(at.complaints).toEqual([]);
  });
});
