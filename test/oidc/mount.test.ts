import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxParameterLength } from '../../src/oidc/provider/request-bounds.ts';
import { startApplicationServer } from '../support/peers/application-server.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { authorize, createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { issuer, baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const { client } = fixture;

const post = (path: string, body: URLSearchParams | string, headers: Record<string, string> = {}) =>
  fetch(`${issuer}${path}`, { method: 'POST', body, headers, redirect: 'manual' });

describe('a request by POST', () => {
  test('becomes the same request by GET, and is not cached', async () => {
    const { url } = await authorize(service, client, { state: 'a b&c=ü', claims_locales: 'se' });
    const response = await post('/auth', url.searchParams);
    expect(response.status).toBe(303);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('set-cookie')).toBeNull();
    const location = new URL(response.headers.get('location') ?? '');
    expect([...location.searchParams]).toEqual([...url.searchParams]);
    expect(location.href.split('?')[0]).toBe(`${issuer}/auth`);
    const out = await post('/session/end', new URLSearchParams('state=1&state=2'));
    expect(out.headers.get('location')).toBe(`${issuer}/session/end?state=1&state=2`);
  });

  test('signs in', async () => {
    const { url } = await authorize(service, client);
    const browser = openBrowser(baseUrl);
    const page = await browser.open(`${issuer}/auth`, { method: 'POST', body: url.searchParams });
    const { url: back } = await browser.submit(page, { identifier: 'Ada', password });
    expect(back.searchParams.has('code')).toBe(true);
  });

  test.each([
    ['a value that is too long', `state=${'x'.repeat(maxParameterLength + 1)}`, 400],
    ['a NUL character', 'state=%00', 400],
    ['more than 16 KiB', `a=${'x'.repeat(16 * 1024)}`, 413],
  ])('is refused with %s', async (_what, body, status) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await post('/auth', body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('text/html');
  });

  test('is refused as JSON', async () => {
    const response = await post('/auth', '{}', { 'content-type': 'application/json' });
    expect(response.status).toBe(415);
  });
});

describe.runIf(chromiumPath)('in Chromium', async () => {
  if (!chromiumPath) return;
  // On another site than the service, as in life: its forms bring no cookies.
  const application = await startApplicationServer();
  const site = await fixture.createApplication({ redirectUris: [application.redirectUri] });
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(async () => {
    await leaveChromium();
    await application.stop();
  });

  /** Submits a form of the application's own page. */
  async function submit(page: Page, path: string, fields: Record<string, string>) {
    await page.goto(application.redirectUri);
    await Promise.all([
      page.waitForEvent('load'),
      page.evaluate(
        ({ action, values }) => {
          const form = Object.assign(document.createElement('form'), { action, method: 'post' });
          for (const [name, value] of Object.entries(values))
            form.append(Object.assign(document.createElement('input'), { name, value }));
          document.body.append(form);
          form.submit();
        },
        { action: `${issuer}${path}`, values: fields },
      ),
    ]);
  }

  async function request(parameters: Record<string, string> = {}) {
    const { redirectUri: redirect_uri } = application;
    const { url } = await authorize(service, site, { redirect_uri, ...parameters });
    return Object.fromEntries(url.searchParams);
  }
  async function signIn(page: Page) {
    await page.locator('[name=identifier]').fill('Ada');
    await page.locator('[name=password]').fill(password);
    await page.locator('button[type=submit]').first().click();
  }

  test('a form of another site finds the session', async () => {
    const page = await (await chromium.newContext()).newPage();
    await submit(page, '/auth', await request());
    await signIn(page);
    await page.waitForURL(`${application.redirectUri}?code=*`);

    await submit(page, '/auth', await request({ prompt: 'none' }));
    expect(new URL(page.url()).searchParams.has('code')).toBe(true);

    await submit(page, '/session/end', {});
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await submit(page, '/auth', await request({ prompt: 'none' }));
    expect(new URL(page.url()).searchParams.get('error')).toBe('login_required');
  });
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
