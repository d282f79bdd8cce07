import { describe, expect, test } from 'vitest';
import { readServiceSettings } from '../../../../src/service-settings/settings.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../../../support/keys/client-keys.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { chromiumPath } from '../../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../../support/people/console-screen.ts';

describe.runIf(chromiumPath)('agents, keys and proofs at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const { database } = at.service.testDatabase;
  const { prisma } = database;
  const directory = seedDirectory(database, at.service.clock);
  const { issuer } = at.service.app.services;
  const settings = () => readServiceSettings(prisma);

  test('who may come in is chosen from the empty list', async () => {
    await at.open('agents', 'Agents and other apps');
    await at.page.getByRole('link', { name: 'Choose who may come in' }).click();
    await at.dialog.waitFor({ state: 'detached' });
    await at.page.getByRole('radio', { name: 'Apps of listed hosts' }).check();
    await at.button('Add to Hosts').click();
    await at.field('Hosts 1').fill('https://agent.example.com');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Hosts 1'))).toContain('host name');
    await at.field('Hosts 1').fill('Agent.example.com');
    await at.page.getByRole('radio', { name: 'Programs with a registration token' }).check();
    await at.raises(['ServiceSettings.Updated'], () => at.button('Save').click());
    expect((await settings()).clientRegistration).toEqual({
      metadataDocuments: 'LISTED',
      metadataHosts: ['agent.example.com'],
      dynamic: 'INITIAL_ACCESS_TOKEN',
    });
  });

  test('a registration token is shown once, and registers an app, which is then listed', async () => {
    await at.button('Create registration token').click();
    await at.field('How many apps it can register', at.dialog).fill('0');
    await at.button('Create registration token', at.dialog).click();
    expect(await at.errorOf(at.field('How many apps it can register', at.dialog))).not.toBe('');
    await at.field('How many apps it can register', at.dialog).fill('2');
    await at.raises(['RegistrationToken.Created'], () =>
      at.button('Create registration token', at.dialog).click(),
    );
    const shown = at.dialog.getByRole('group', { name: 'Registration token' }).locator('pre');
    const token = (await shown.innerText()).trim();
    await at.button('Done', at.dialog).click();
    await at.dialog.waitFor({ state: 'detached' });
    expect(await at.page.content()).not.toContain(token);
    const registered = await fetch(`${issuer}/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Garden Agent',
        application_type: 'web',
        redirect_uris: ['https://garden.example.com/callback'],
      }),
    });
    expect(registered.status).toBe(201);
    await at.page.reload();
    await at.page.getByRole('cell', { name: '1 of 2', exact: true }).waitFor();
    await at.button('Delete token').click();
    await at.raises(['RegistrationToken.Deleted'], () =>
      at.button('Delete token', at.dialog).click(),
    );
    await at.page.getByText('No registration tokens.').waitFor();
    await at.open('agents', 'Agents and other apps');
    const row = at.page.getByRole('row').filter({ hasText: 'Garden Agent' });
    await row.getByText('garden.example.com').waitFor();
    await row.getByText('Registered itself').waitFor();
    await row.getByText('Never').waitFor();
  });

  test('an app of a document has its host; consent of a person is revoked there', async () => {
    const ada = await prisma.user.findFirstOrThrow({ where: { username: 'ada' } });
    const client = await directory.createClient({
      name: 'Northwind Assistant',
      type: 'SPA',
      origin: 'METADATA_DOCUMENT',
      metadataUrl: 'https://assistant.northwind.example:8443/client.json',
      redirectUris: ['https://assistant.northwind.example/callback'],
      isThirdParty: true,
    });
    const grant = await directory.createGrant(ada.id, client.id);
    await prisma.userGrant.update({
      where: { id: grant.id },
      data: { lastUsedAt: at.service.clock.now() },
    });
    await at.open('agents', 'Agents and other apps');
    const row = at.page.getByRole('row').filter({ hasText: 'Northwind Assistant' });
    await row.getByText('assistant.northwind.example:8443').waitFor();
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    await at.button('Origin').click();
    await at.field('Metadata document').check();
    await at.page.keyboard.press('Escape');
    await at.page
      .getByRole('row')
      .filter({ hasText: 'Garden Agent' })
      .waitFor({ state: 'detached' });
    await at.page.getByRole('link', { name: 'Northwind Assistant' }).click();
    await at.page.getByRole('heading', { name: 'Northwind Assistant', level: 1 }).waitFor();
    // Its document says what it is called and where it leads: neither can be changed here.
    await at.page.getByText('Its metadata document says').waitFor();
    expect(await at.field('Name').count()).toBe(0);
    await at.field('Description').fill('Answers questions');
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    await at.tab('Consent');
    await at.raises(['User.Grant.Revoked'], () =>
      at.confirm('Revoke', at.page.getByRole('row').filter({ hasText: 'ada' })),
    );
    await at.page.getByText('Nobody has allowed it anything yet').waitFor();
  });

  test('an app is deleted from the list, by keyboard', async () => {
    await at.open('agents', 'Agents and other apps');
    const row = at.page.getByRole('row').filter({ hasText: 'Garden Agent' });
    await row.getByRole('button', { name: 'Delete' }).focus();
    await at.page.keyboard.press('Enter');
    await at.dialog.getByText('It has to register again').waitFor();
    await at.dialog.getByText('An application is deleted').waitFor();
    await at.button('Delete', at.dialog).focus();
    await at.raises(['Application.Deleted'], () => at.page.keyboard.press('Enter'));
    await row.waitFor({ state: 'detached' });
    await at.dialog.waitFor({ state: 'detached' });
    await at.goByKeys('a', 'Applications');
    await at.goByKeys('n', 'Agents and other apps');
  });

  test('an application gets keys instead of its secret, and authenticates by them', async () => {
    const client = await directory.createClient({ name: 'Nightly' });
    const key = await createClientKey();
    await at.open(`applications/${client.id}?tab=security`, 'Nightly');
    await at.page.getByRole('radio', { name: 'Given here' }).check();
    await at.field('Key set (JWKS)').fill('a key');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Key set (JWKS)'))).toContain('JSON');
    await at.field('Key set (JWKS)').fill('{ "keys": [{ "kty": "oct", "k": "AAAA" }] }');
    await at.button('Save').click();
    // What is wrong is told at the text that holds it.
    await expect.poll(() => at.errorOf(at.field('Key set (JWKS)'))).toMatch(/keys\.0: must be/i);
    await at.field('Key set (JWKS)').fill(JSON.stringify({ keys: [key.publicJwk] }));
    await at.field('Secrets count beside keys').uncheck();
    await at.field('May bind exchanged tokens to its own key').check();
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    expect(await prisma.application.findUnique({ where: { id: client.id } })).toMatchObject({
      jwks: { keys: [expect.objectContaining({ kid: key.kid })] },
      allowSecrets: false,
      mayRebindTokens: true,
      requireDpop: false,
    });
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: 'urn:signet:management',
        ...assertionParameters(await signAssertion(at.service, client.id, key)),
      }),
    });
    expect(answer.status).toBe(200);
    await at.tab('General');
    await at.page.getByText('They do not count: it authenticates by its keys.').waitFor();
    expect(await at.button('Create secret').count()).toBe(0);
  });

  test('the FAPI profile asks for keys, and sets the rest', async () => {
    const { id } = await directory.createClient({
      name: 'Bank',
      type: 'TRADITIONAL',
      redirectUris: ['https://bank.example.com/callback'],
    });
    await at.open(`applications/${id}?tab=security`, 'Bank');
    await at.page.getByRole('radio', { name: 'FAPI 2.0' }).check();
    await at.button('Save').click();
    await at.page.getByText('The profile needs keys.').waitFor();
    await at.page.getByRole('radio', { name: 'At an address' }).check();
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Address of the key set'))).not.toBe('');
    await at.field('Address of the key set').fill('https://127.0.0.1/jwks.json');
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    const stored = () => prisma.application.findUniqueOrThrow({ where: { id } });
    expect(await stored()).toMatchObject({
      securityProfile: 'FAPI_2_0',
      jwksUri: 'https://127.0.0.1/jwks.json',
      allowSecrets: false,
      requireDpop: true,
      requirePushedAuthorizationRequests: true,
    });
    // Back to none, everything can be chosen again, and nothing is loosened unasked.
    await at.page.getByRole('radio', { name: 'None' }).first().check();
    expect(await at.field('Require bound tokens (DPoP)').isChecked()).toBe(true);
    await at.field('Require pushed authorization requests (PAR)').uncheck();
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    expect(await stored()).toMatchObject({
      securityProfile: 'NONE',
      requireDpop: true,
      requirePushedAuthorizationRequests: false,
    });
  });

  test('PKCE can be left out for a web application alone', async () => {
    const { id } = await directory.createClient({ name: 'Wiki', type: 'TRADITIONAL' });
    await at.open(`applications/${id}?tab=security`, 'Wiki');
    expect(await at.field('Require PKCE').isChecked()).toBe(true);
    await at.field('Require PKCE').uncheck();
    await at.page.getByText('Off only for a client that cannot send it.').waitFor();
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    const stored = () => prisma.application.findUniqueOrThrow({ where: { id } });
    expect((await stored()).requirePkce).toBe(false);
    await at.page.getByRole('radio', { name: 'FAPI 2.0' }).check();
    expect(await at.field('Require PKCE').count()).toBe(0);
  });

  test('a public application has no keys, and may require bound tokens', async () => {
    const { id } = await directory.createClient({ name: 'Phone', type: 'NATIVE' });
    await at.open(`applications/${id}?tab=security`, 'Phone');
    await at.field('Require bound tokens (DPoP)').check();
    expect(await at.page.getByRole('radio').count()).toBe(0);
    expect(await at.field('Require PKCE').count()).toBe(0);
    await at.raises(['Application.Data.Updated'], () => at.button('Save').click());
    expect(await prisma.application.findUnique({ where: { id } })).toMatchObject({
      requireDpop: true,
    });
  });

  test('nonces are required at the whole service', async () => {
    await at.open('settings', 'Settings');
    await at.page.getByRole('radio', { name: 'Required' }).check();
    await at.raises(['ServiceSettings.Updated'], () => at.button('Save').click());
    expect((await settings()).dpopNonce).toBe('REQUIRED');
    // Another form about the same settings does not undo it.
    expect((await settings()).clientRegistration.metadataDocuments).toBe('LISTED');
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });
});
