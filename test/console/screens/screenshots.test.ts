import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConsole } from '../../../src/http/console/files.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { sitDownAt } from '../../support/people/console-screen.ts';
import { furnish, type Harbour } from '../../support/people/harbour.ts';
import { startService, type TestService } from '../../support/service.ts';

// `npm run screenshots:console` makes those of the documentation.
const folder = process.env['CONSOLE_SCREENSHOTS'];
const mostBytes = 80_000;

interface Look {
  readonly name: string;
  /** With the names of records in braces. */
  readonly path: string;
  readonly dark?: boolean;
  readonly language?: 'de';
  readonly width?: number;
  readonly height?: number;
  /** What is done before. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const looks: readonly Look[] = [
  { name: 'overview', path: '' },
  { name: 'overview-dark', path: '', dark: true },
  { name: 'overview-narrow', path: '', width: 390 },
  {
    name: 'events',
    path: 'events',
    width: 1400,
    act: (page) => page.getByText('User.Data.Updated').first().click(),
  },
  { name: 'events-dark', path: 'events', dark: true },
  { name: 'developers', path: 'developers' },
  { name: 'developers-reference-dark', path: 'developers?tab=rest', dark: true },
  { name: 'users', path: 'users' },
  { name: 'users-narrow-dark', path: 'users', dark: true, width: 390 },
  {
    name: 'users-selected',
    path: 'users',
    act: async (page) => {
      for (const row of [1, 2, 3]) await page.getByRole('checkbox').nth(row).check();
      await page
        .getByRole('button', { name: /^Actions for/ })
        .nth(3)
        .click();
    },
  },
  {
    name: 'explain',
    path: 'explain?application={Shop}&user={Grace Hopper}&resource=https://orders.harbour.example',
  },
  {
    name: 'explain-narrow-dark',
    path: 'explain?application={Shop}&user={Grace Hopper}&resource=https://nowhere.example.com',
    dark: true,
    width: 390,
  },
  { name: 'refusals', path: 'refusals' },
  {
    name: 'users-refused',
    path: 'users?create=true',
    act: async (page) => {
      await page.getByLabel('User name').fill('grace');
      await page.getByRole('dialog').getByLabel('E-mail').fill('grace@');
      await button(page, 'Create user').last().click();
      await page.locator('[aria-invalid=true]').first().waitFor();
    },
  },
  {
    name: 'users-import',
    path: 'users?import=true',
    act: async (page) => {
      const csv =
        'username,primaryEmail,name\nhedy,hedy@harbour.example,Hedy Lamarr\ngrace,,Grace\nlynn,lynn@,Lynn Conway\n';
      await page.getByLabel('File (CSV or JSON)').setInputFiles({
        name: 'users.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(csv),
      });
      await button(page, 'Import').last().click();
      await button(page, 'Done').waitFor();
    },
  },
  { name: 'user', path: 'users/{Grace Hopper}' },
  { name: 'user-access', path: 'users/{Grace Hopper}?tab=access', height: 960 },
  { name: 'user-roles', path: 'users/{Grace Hopper}?tab=roles' },
  {
    name: 'user-suspend-dark',
    path: 'users/{Grace Hopper}?tab=sessions',
    dark: true,
    act: (page) => button(page, 'Suspend').click(),
  },
  { name: 'role', path: 'roles/{Dispatcher}' },
  { name: 'api', path: 'apis/{Orders}' },
  { name: 'applications', path: 'applications' },
  { name: 'application-create', path: 'applications?create=true', height: 900 },
  { name: 'application', path: 'applications/{Shop}', height: 1000 },
  { name: 'application-native-dark', path: 'applications/{Driver app}', dark: true },
  { name: 'agents', path: 'agents' },
  { name: 'agents-dark', path: 'agents', dark: true },
  { name: 'agents-narrow', path: 'agents', width: 375 },
  { name: 'agents-admission', path: 'agents?tab=admission', height: 1200 },
  {
    name: 'agents-admission-narrow-dark',
    path: 'agents?tab=admission',
    dark: true,
    width: 375,
    height: 1600,
  },
  { name: 'agents-trust', path: 'agents?tab=trust' },
  { name: 'agents-trust-german-dark', path: 'agents?tab=trust', dark: true, language: 'de' },
  { name: 'agents-trust-narrow', path: 'agents?tab=trust', width: 375 },
  {
    name: 'trusted-issuer',
    path: 'agents?tab=trust',
    height: 1150,
    act: async (page) => {
      await button(page, 'Deployments of the reports').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'organization',
    path: 'organizations/{Northwind Bakery}',
    act: async (page) => {
      await page.getByRole('combobox', { name: 'Add member' }).fill('har');
      await page.locator('[role=option]').first().waitFor();
    },
  },
  { name: 'organization-template-dark', path: 'organizations?tab=template', dark: true },
  { name: 'webhook', path: 'webhooks/{webhook}' },
  {
    name: 'webhook-delivery-dark',
    path: 'webhooks/{webhook}?status=PENDING',
    dark: true,
    act: (page) => button(page, 'User.Data.Updated').first().click(),
  },
  { name: 'webhook-narrow', path: 'webhooks/{webhook}', width: 390 },
  {
    name: 'webhook-create',
    path: 'webhooks?create=true',
    height: 1100,
    act: async (page) => {
      await page.getByRole('checkbox', { name: 'User.Created' }).check();
      await page.getByRole('textbox', { name: 'Query' }).focus();
      await page.locator('.cm-focused').waitFor();
      await page.keyboard.insertText('subscription {\n  events {\n    id\n    name\n  }\n}');
    },
  },
  { name: 'sign-in-experience', path: 'sign-in-experience' },
  { name: 'sign-in-experience-dark', path: 'sign-in-experience', dark: true },
  { name: 'keys', path: 'keys' },
  {
    name: 'palette',
    path: 'users',
    act: async (page) => {
      await page.keyboard.press('Control+K');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.type('north');
      await page.getByRole('option', { name: 'Northwind Bakery' }).waitFor();
    },
  },
  {
    name: 'nothing-fits',
    path: 'applications?search=warehouse',
  },
];

/** Requests of an application that the token endpoint refuses: with a wrong secret, and for grants that it has not. */
async function refuseSome(service: TestService, clientId: string): Promise<void> {
  const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
  for (const grant_type of ['client_credentials', exchange, 'password', exchange])
    await fetch(`${service.url}/oidc/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${clientId}:not its secret`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type, resource: 'https://orders.harbour.example' }),
    });
}

describe.runIf(chromiumPath && folder)('screenshots of the console', async () => {
  if (!chromiumPath || !folder) return;
  await mkdir(folder, { recursive: true });
  const service = await startService(
    { ALLOW_PRIVATE_WEBHOOKS: 'true' },
    { consoleFolder: builtConsole, resolveHost: async () => ['127.0.0.1'] },
  );
  const at = await sitDownAt(service);
  let harbour: Harbour;
  let page: Page;

  const open = async (path: string) => {
    const named = path.replaceAll(/\{([^}]*)\}/g, (_all, name: string) => harbour.get(name) ?? '');
    await page.goto(`${service.app.services.baseUrl}/console/${named}`);
    await page.locator('h1').waitFor();
    await page.locator('[role=progressbar]').first().waitFor({ state: 'detached' });
    await page.locator('[data-state=live]').first().waitFor({ state: 'attached' });
  };
  const take = async (name: string) => {
    for (let quality = 86; ; quality -= 6) {
      const image = await page.screenshot({ type: 'jpeg', quality, animations: 'disabled' });
      if (image.length > mostBytes && quality > 40) continue;
      expect(image.length).toBeLessThanOrEqual(mostBytes);
      await writeFile(join(folder, `${name}.jpg`), image);
      return;
    }
  };

  beforeAll(async () => {
    page = at.page;
  });
  afterAll(() => page?.close());

  test('of what a freight company would see', async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open('webhooks');
    await take('empty');
    harbour = await furnish(service, await startReceiver());
    await refuseSome(service, harbour.get('Shop') ?? '');
    for (const { name, path, dark = false, language = 'en', ...look } of looks) {
      const { width = 1280, height = 800, act } = look;
      await page.evaluate(`localStorage.setItem('signet.console.language', '${language}')`);
      await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      await open(path);
      await act?.(page);
      await page.evaluate('document.fonts.ready');
      // What is gathered for a moment, such as the names of records in events.
      await page.waitForLoadState('networkidle');
      await take(name);
    }
    // A service that does not answer, and one that takes its time.
    const pattern = '**/console/graphql';
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await open('');
    await page.route(pattern, (route) => void route);
    await page.getByRole('link', { name: 'Roles', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
    await take('loading');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await open('');
    await page.route(pattern, (route) => route.abort());
    await page.getByRole('link', { name: 'Roles', exact: true }).first().click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await take('failed');
  });
});
