import { describe, expect, test } from 'vitest';
import { events } from '../../../support/events.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { expectAccessible } from '../../../support/peers/axe.ts';
import { chromiumPath } from '../../../support/peers/chromium.ts';
import { signInAtScreen, startConsoleAtWork } from '../../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('whom applications trust, at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const { database } = at.service.testDatabase;
  const { prisma } = database;
  const directory = seedDirectory(database, at.service.clock);
  const deployments = await directory.createClient({ name: 'Deployments' });
  const wiki = await directory.createClient({
    name: 'Wiki',
    type: 'TRADITIONAL',
    redirectUris: ['https://wiki.example.com/callback'],
  });
  await directory.createClient({
    name: 'Elsewhere',
    type: 'TRADITIONAL',
    redirectUris: ['https://elsewhere.example.com/callback'],
    isThirdParty: true,
  });

  const open = () => at.open('agents?tab=trust', 'Agents and other apps');
  const row = (name: string) => at.page.getByRole('row').filter({ hasText: name });
  const submit = (name: string) => at.button(name, at.dialog).click();
  const picker = () => at.page.getByRole('combobox', { name: 'Application', exact: true });
  const closed = () => at.dialog.waitFor({ state: 'detached' });

  test('a trusted issuer is created; what is wrong is told at its field', async () => {
    await open();
    await at.page.getByText('No trusted issuers.').waitFor();
    await at.button('Create trusted issuer').click();
    await at.dialog.waitFor();
    await submit('Create trusted issuer');
    for (const field of ['Name', 'Issuer', 'Address of its keys (JWKS)'])
      expect(await at.errorOf(at.field(field, at.dialog))).not.toBe('');
    expect(await at.errorOf(picker())).not.toBe('');
    // Only an application that may get the tokens of a program is found.
    await picker().fill('Wiki');
    await at.page.getByText('Nothing found').waitFor();
    await at.pick('Application', 'Deploy');
    await at.field('Name', at.dialog).fill('Pipelines');
    await at.field('Issuer', at.dialog).fill('https://ci.example.com');
    await at.field('Address of its keys (JWKS)', at.dialog).fill('nowhere');
    await submit('Create trusted issuer');
    const keys = at.field('Address of its keys (JWKS)', at.dialog);
    expect(await at.errorOf(keys)).toMatch(/URL/);
    await keys.fill('https://ci.example.com/jwks');
    await submit('Create trusted issuer');
    const rules = at.page.getByRole('group', { name: 'What its tokens must say' });
    await rules.getByText(/must say which workload/i).waitFor();
    await at.button('Add to What its tokens must say', at.dialog).click();
    await at.field('Claim 1', at.dialog).fill('repository');
    await submit('Create trusted issuer');
    expect(await at.errorOf(at.field('Value 1', at.dialog))).not.toBe('');
    await at.field('Value 1', at.dialog).fill('x'.repeat(1_025));
    await submit('Create trusted issuer');
    await expect.poll(() => at.errorOf(at.field('Value 1', at.dialog))).toMatch(/1024/);
    await at.field('Value 1', at.dialog).fill('acme/shop');
    await at.raises(['TrustedIssuer.Created'], () => submit('Create trusted issuer'));
    await closed();
    expect(await prisma.trustedIssuer.findMany()).toMatchObject([
      {
        name: 'Pipelines',
        kind: 'WORKLOAD',
        issuer: 'https://ci.example.com',
        jwksUri: 'https://ci.example.com/jwks',
        claimRules: [{ claim: 'repository', equals: 'acme/shop' }],
        applicationId: deployments.id,
        maxLifetimeSeconds: 300,
        requireJti: true,
      },
    ]);
    await row('Pipelines').getByText('repository = acme/shop').waitFor();
    await row('Pipelines').getByText('A program').waitFor();
    await row('Pipelines').getByRole('link', { name: 'Deployments' }).waitFor();
  });

  test('a trusted issuer is changed', async () => {
    await at.button('Pipelines').click();
    await at.field('Name', at.dialog).fill('Releases');
    await at.button('Add to What its tokens must say', at.dialog).click();
    await at.field('Claim 2', at.dialog).fill('ref');
    await at.field('Value 2', at.dialog).fill('refs/heads/main');
    await at.field('Longest lifetime', at.dialog).fill('61');
    await submit('Save');
    expect(await at.errorOf(at.field('Longest lifetime', at.dialog))).toMatch(/one hour/);
    await at.field('Longest lifetime', at.dialog).fill('10');
    await at.field('Each token counts once', at.dialog).uncheck();
    await at.raises(['TrustedIssuer.Data.Updated'], () => submit('Save'));
    await closed();
    const stored = () => prisma.trustedIssuer.findFirstOrThrow();
    expect(await stored()).toMatchObject({
      name: 'Releases',
      claimRules: [
        { claim: 'repository', equals: 'acme/shop' },
        { claim: 'ref', equals: 'refs/heads/main' },
      ],
      maxLifetimeSeconds: 600,
      requireJti: false,
    });
    // About people, neither can be chosen, and the application is another one.
    await at.button('Releases').click();
    await at.dialog.getByRole('radio', { name: 'People' }).check();
    expect(await at.field('Longest lifetime', at.dialog).count()).toBe(0);
    await at.button('Remove rule 1', at.dialog).click();
    await at.button('Remove rule 1', at.dialog).click();
    await at.button('Choose another application than Deployments', at.dialog).click();
    await at.pick('Application', 'Wiki');
    await at.raises(['TrustedIssuer.Data.Updated'], () => submit('Save'));
    await closed();
    expect(await stored()).toMatchObject({
      kind: 'IDENTITY',
      claimRules: [],
      applicationId: wiki.id,
      maxLifetimeSeconds: 300,
      requireJti: true,
    });
    await row('Releases').getByText('Anything').waitFor();
  });

  test('what somebody else saves meanwhile is shown, and not overwritten', async () => {
    await at.button('Releases').click();
    await at.button('Add to What its tokens must say', at.dialog).click();
    await at.field('Claim 1', at.dialog).fill('tenant');
    await at.field('Value 1', at.dialog).fill('mine');
    const { id } = await prisma.trustedIssuer.findFirstOrThrow();
    await prisma.trustedIssuer.update({
      where: { id },
      data: { claimRules: [{ claim: 'tenant', equals: 'theirs' }], version: { increment: 1 } },
    });
    await at.raises([], () => submit('Save'));
    const choice = at.dialog.getByRole('group', { name: 'What its tokens must say' }).last();
    await choice.getByText('tenant = mine').waitFor();
    await choice.getByRole('radio', { name: /tenant = theirs/ }).check();
    await expect.poll(() => at.field('Value 1', at.dialog).inputValue()).toBe('theirs');
    await submit('Save');
    await closed();
    expect(await prisma.trustedIssuer.findFirst()).toMatchObject({
      claimRules: [{ claim: 'tenant', equals: 'theirs' }],
    });
  });

  test('a trusted issuer is deleted, which says before what it does', async () => {
    await at.button('Delete', row('Releases')).click();
    await at.dialog.getByText('A trusted issuer is deleted').waitFor();
    await at.raises(['TrustedIssuer.Deleted'], () => submit('Delete'));
    await at.page.getByText('No trusted issuers.').waitFor();
    expect(await prisma.trustedIssuer.count()).toBe(0);
  });

  test('a connection is created, changed and deleted', async () => {
    await at.page.getByText('No connections.').waitFor();
    await at.button('Create connection').click();
    await at.pick('Application', 'Elsewhere');
    await at.field('Issuer of the service', at.dialog).fill('nowhere');
    await at.field('Client ID there', at.dialog).fill('wiki');
    await submit('Create connection');
    expect(await at.errorOf(at.field('Issuer of the service', at.dialog))).toMatch(/URL/);
    await at.field('Issuer of the service', at.dialog).fill('https://id.chat.example.com');
    await submit('Create connection');
    await at.dialog
      .getByRole('alert')
      .getByText(/third-party/)
      .waitFor();
    await at.button('Choose another application than Elsewhere', at.dialog).click();
    await at.pick('Application', 'Wiki');
    await at.button('Add to Scopes there', at.dialog).click();
    await at.field('Scopes there 1', at.dialog).fill('two words');
    await submit('Create connection');
    expect(await at.errorOf(at.field('Scopes there 1', at.dialog))).toMatch(/RFC 6749/);
    await at.field('Scopes there 1', at.dialog).fill('messages.read');
    await at.raises(['CrossAppConnection.Created'], () => submit('Create connection'));
    await closed();
    const stored = () => prisma.crossAppConnection.findFirst();
    expect(await stored()).toMatchObject({
      applicationId: wiki.id,
      issuer: 'https://id.chat.example.com',
      clientId: 'wiki',
      scopes: ['messages.read'],
    });
    const chat = row('https://id.chat.example.com');
    await chat.getByText('as wiki').waitFor();
    await chat.getByText('messages.read').waitFor();

    await at.button('https://id.chat.example.com').click();
    await at.field('Client ID there', at.dialog).fill('the-wiki');
    await at.button('Remove Scopes there 1', at.dialog).click();
    await at.raises(['CrossAppConnection.Data.Updated'], () => submit('Save'));
    await closed();
    expect(await stored()).toMatchObject({ clientId: 'the-wiki', scopes: [] });

    await at.button('Create connection').click();
    await at.pick('Application', 'Wiki');
    await at.field('Issuer of the service', at.dialog).fill('https://id.chat.example.com');
    await at.field('Client ID there', at.dialog).fill('wiki');
    await submit('Create connection');
    expect(await at.errorOf(at.field('Issuer of the service', at.dialog))).toMatch(/connection/);
    await at.button('Cancel', at.dialog).click();
    await closed();

    await at.button('Delete', chat).click();
    await at.dialog.getByText('A connection to another service is deleted').waitFor();
    await at.raises(['CrossAppConnection.Deleted'], () => submit('Delete'));
    await at.page.getByText('No connections.').waitFor();
    expect(await stored()).toBeNull();
  });

  test('the page of an application has its own alone, by keyboard', async () => {
    const stamps = { createdAt: at.service.clock.now(), updatedAt: at.service.clock.now() };
    await prisma.crossAppConnection.create({
      data: {
        id: 'crossapp_01h455vb4pex5vsknk084sn02q',
        applicationId: wiki.id,
        issuer: 'https://id.chat.example.com',
        clientId: 'wiki',
        scopes: [],
        ...stamps,
      },
    });
    await at.open(`applications/${deployments.id}`, 'Deployments');
    await at.tab('Trust');
    await at.page.getByText('No connections.').waitFor();
    await at.button('Create trusted issuer').focus();
    await at.page.keyboard.press('Enter');
    await at.field('Name', at.dialog).fill('Cluster');
    expect(await picker().count()).toBe(0);
    await at.field('Issuer', at.dialog).fill('https://cluster.example.com');
    await at
      .field('Address of its keys (JWKS)', at.dialog)
      .fill('https://cluster.example.com/jwks');
    await at.button('Add to What its tokens must say', at.dialog).focus();
    await at.page.keyboard.press('Enter');
    await at.page.locator('[aria-label="Claim 1"]:focus').waitFor();
    await at.page.keyboard.type('sub');
    await at.page.keyboard.press('Tab');
    await at.page.keyboard.type('system:serviceaccount:shop:deploy');
    await at.raises(['TrustedIssuer.Created'], () => at.page.keyboard.press('Enter'));
    await row('Cluster').waitFor();
    await at.open(`applications/${wiki.id}?tab=trust`, 'Wiki');
    await row('https://id.chat.example.com').waitFor();
    await at.page.getByText('No trusted issuers.').waitFor();

    // The focus follows the choice of an application.
    await open();
    await at.button('Create connection').click();
    await picker().focus();
    await at.page.keyboard.type('Deploy');
    await expect.poll(() => at.page.locator('[role=option]').allInnerTexts()).toHaveLength(1);
    await at.page.keyboard.press('Enter');
    const other = 'Choose another application than Deployments';
    await at.page.locator(`[aria-label="${other}"]:focus`).waitFor();
    await at.page.keyboard.press('Enter');
    await at.page.locator('[role=combobox]:focus').waitFor();
    await at.button('Cancel', at.dialog).click();
    await closed();
  });

  test.each([
    ['en', 'Create trusted issuer', 'People'],
    ['de', 'Vertrauten Aussteller anlegen', 'Personen'],
  ] as const)('axe finds nothing, in %s', async (language, create, people) => {
    await at.inLanguage(language, async () => {
      await at.comeTo('agents?tab=trust');
      await at.page.getByRole('row').filter({ hasText: 'Cluster' }).waitFor();
      await expectAccessible(at.page, `trust-${language}`);
      await at.page.getByRole('button', { name: 'Cluster', exact: true }).click();
      await at.page.getByRole('dialog').waitFor();
      await expectAccessible(at.page, `trusted-issuer-${language}`);
      await at.page.keyboard.press('Escape');
      await at.page.getByRole('dialog').waitFor({ state: 'detached' });
      await at.page.getByRole('button', { name: create, exact: true }).click();
      const dialog = at.page.getByRole('dialog');
      await dialog.getByRole('button', { name: create, exact: true }).click();
      await dialog.locator('[aria-invalid=true]').first().waitFor();
      await dialog.getByRole('radio', { name: people }).check();
      await expectAccessible(at.page, `trusted-issuer-new-${language}`);
    });
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });

  test('who may only read sees all of it, and changes nothing', async () => {
    const [role, user] = await Promise.all([
      prisma.role.findFirstOrThrow({ where: { name: 'Viewer' } }),
      prisma.user.findFirstOrThrow({ where: { username: 'ada' } }),
    ]);
    await prisma.roleScope.deleteMany({
      where: { roleId: role.id, scope: { name: { not: 'applications:read' } } },
    });
    await at.open('events', 'Events');
    await prisma.userRole.deleteMany({ where: { userId: user.id } });
    await prisma.userRole.create({
      data: { userId: user.id, roleId: role.id, setterScopes: ['all'] },
    });
    // The session ends with the role that it had.
    await at.page.getByRole('alertdialog').getByRole('link').click();
    await signInAtScreen(at.page);
    await at.page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await open();
    const { length } = await events(at.endpoint);
    await row('https://id.chat.example.com').getByRole('link', { name: 'Wiki' }).waitFor();
    await at.button('Cluster').click();
    await at.dialog.getByRole('group', { name: 'What its tokens must say' }).waitFor();
    expect(await at.field('Value 1', at.dialog).inputValue()).toBe(
      'system:serviceaccount:shop:deploy',
    );
    expect(await at.field('Name', at.dialog).isDisabled()).toBe(true);
    expect(await at.dialog.getByRole('button').allInnerTexts()).toEqual(['']);
    await at.button('Close', at.dialog).click();
    await closed();
    const verbs = /^(Create|Delete|Save|Add)/;
    expect(await at.page.getByRole('button', { name: verbs }).count()).toBe(0);
    expect((await events(at.endpoint)).length).toBe(length);
  });
});
