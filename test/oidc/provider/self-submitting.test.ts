import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import type { Browser as Chromium, Page, Request as SentRequest } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApplicationServer } from '../../support/peers/application-server.ts';
import { chromiumPath, leaveChromium, openChromium } from '../../support/peers/chromium.ts';
import { buttonsOf, headingOf } from '../../support/people/pages/ways-on.ts';
import {
  type Browser,
  decodeText,
  discover,
  openBrowser,
  type Visit,
} from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { issuer, baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
await changeSettings(service, await service.managementToken(), {
  branding: { productName: 'Harbour' },
});
const goodbye = 'https://app.example.com/bye';
const shop = await fixture.createApplication({
  name: 'Nuts & Bolts',
  postLogoutRedirectUris: [goodbye],
});

type Parameters = Record<string, string>;

/** A browser with a session of Ada's that nobody ends. */
const ada = await signedIn();

async function signedIn(): Promise<Browser> {
  const browser = openBrowser(baseUrl);
  await fixture.signIn({ browser });
  return browser;
}

async function answerByForm(parameters: Parameters = {}, browser: Browser = ada) {
  const asked = { response_mode: 'form_post', ...parameters };
  return openSignInPage(service, shop, { browser, ...asked });
}

/** Somebody else signs in where Ada has a session. */
async function changePerson(parameters: Parameters = {}, browser?: Browser) {
  const user = await fixture.createUser();
  const { visit, ...opened } = await openSignInPage(service, shop, {
    browser: browser ?? (await signedIn()),
    prompt: 'login',
    ...parameters,
  });
  const known = { identifier: user.username ?? '', password };
  return { ...opened, user, visit: await opened.browser.submit(visit, known) };
}

async function signOutNobody(parameters: Parameters = {}) {
  const browser = openBrowser(baseUrl);
  const query = new URLSearchParams({ client_id: shop.id, ...parameters });
  return { browser, visit: await browser.open(`${issuer}/session/end?${query}`) };
}

const fieldsOf = ({ body }: Visit) =>
  Object.fromEntries(
    [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, decodeText(value)],
    ),
  );

const refusedInGerman = (method: string, query: string) => {
  const headers = { 'accept-language': 'de' };
  const browser = openBrowser(baseUrl);
  return method === 'GET'
    ? browser.open(`${issuer}/auth?${query}`, { headers })
    : browser.open(`${issuer}/auth`, { method, headers, body: new URLSearchParams(query) });
};

test('every page that the library can send is known', () => {
  const root = join(createRequire(import.meta.url).resolve('oidc-provider'), '..');
  const pages = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) => {
      const count = readFileSync(join(root, path), 'utf8').match(/<!DOCTYPE|<html/gi)?.length;
      return count === undefined ? [] : [path];
    })
    .sort();
  expect(pages).toEqual([
    // Three of settings that are set here, and three of the device flow, which is off.
    'helpers/defaults.js',
    'response_modes/form_post.js',
    // Off.
    'response_modes/web_message.js',
    // For development; off.
    'views/layout.js',
  ]);
});

describe.each([
  ['the answer as a form', answerByForm, 'Continue to Nuts & Bolts', 'Weiter zu Nuts & Bolts'],
  [
    'the change of the person',
    changePerson,
    'Continue as another person',
    'Als andere Person weiter',
  ],
  ['the sign-out of nobody', signOutNobody, 'Sign out', 'Abmelden'],
] as const)('%s', (_name, open, en, de) => {
  test('has the look and the languages of the pages', async () => {
    const { visit } = await open();
    expect([visit.status, headingOf(visit), buttonsOf(visit)]).toEqual([200, en, 1]);
    expect(visit.headers.get('content-language')).toBe('en');
    expect(visit.body).toContain('<span>Harbour</span>');
    const { visit: german } = await open({ ui_locales: 'de' });
    expect([headingOf(german), german.headers.get('content-language')]).toEqual([de, 'de']);
    expect(german.body).toMatch(/<html lang="de">.*<button type="submit">Weiter</s);
  });

  test('runs its own script alone', async () => {
    const { visit } = await open();
    expect((visit.headers.get('content-security-policy') ?? '').split('; ')).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[^ ]+'$/),
      expect.stringMatching(/^script-src 'sha256-[^ ]+'$/),
      "base-uri 'none'",
      expect.stringMatching(/^frame-ancestors [^ ]+$/),
    ]);
    expect(visit.body.match(/<script/g)).toHaveLength(1);
    expect(visit.headers.get('cache-control')).toBe('no-store');
    expect(visit.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

test('the language of the browser counts where none is asked for', async () => {
  const { url } = await authorize(service, shop, { response_mode: 'form_post' });
  const headers = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' };
  const answer = await ada.request(url, { headers });
  expect(answer.headers.get('content-language')).toBe('de');
});

test('the page of a sign-out speaks one language to its end', async () => {
  const browser = await signedIn();
  const asked = await browser.open(`${issuer}/session/end?ui_locales=de`);
  expect(headingOf(asked)).toBe('Abmelden?');
  const [, value] =
    / form="op.logoutForm" name="ui_locales" value="([^"]*)"/.exec(asked.body) ?? [];
  const done = await browser.submit(asked, { logout: 'yes', ui_locales: value ?? '' });
  expect(headingOf(done)).toBe('Sie sind abgemeldet');
  const nobody = await signOutNobody({ ui_locales: 'de' });
  expect(headingOf(await nobody.browser.submit(nobody.visit, { xsrf: 'forged' }))).toBe(
    'Das hat nicht geklappt',
  );
});

describe('the answer as a form', () => {
  test('brings openid-client its tokens', async () => {
    const state = 'a&"b\'ü';
    const { visit, verifier } = await answerByForm({ state });
    const form = fieldsOf(visit);
    expect(form).toEqual({ code: expect.any(String), state, iss: issuer });
    const [, action = ''] = /<form method="post" action="([^"]*)"/.exec(visit.body) ?? [];
    expect(decodeText(action)).toBe(redirectUri);
    const posted = new Request(action, { method: 'POST', body: new URLSearchParams(form) });
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const config = await discover(service, shop);
    const tokens = await oidc.authorizationCodeGrant(config, posted, checks);
    expect(tokens.claims()?.sub).toBe(fixture.user.id);
  });

  test('brings errors too, with status 400', async () => {
    const { visit } = await answerByForm({ prompt: 'none', state: 's' }, openBrowser(baseUrl));
    expect([visit.status, headingOf(visit)]).toEqual([400, 'Continue to Nuts & Bolts']);
    expect(fieldsOf(visit)).toMatchObject({ error: 'login_required', state: 's', iss: issuer });
  });

  test('comes also while a sign-out is asked about', async () => {
    const browser = await signedIn();
    await browser.open(`${issuer}/session/end`);
    const { visit } = await answerByForm({ prompt: 'login' }, browser);
    const answer = await browser.submit(visit, { identifier: 'Ada', password });
    expect(headingOf(answer)).toBe('Continue to Nuts & Bolts');
    expect(fieldsOf(answer)).toHaveProperty('code');
  });

  test('begins again after Back', async () => {
    const asked = { prompt: 'login', ui_locales: 'de' };
    const { browser, visit } = await answerByForm(asked, await signedIn());
    const answer = await browser.submit(visit, { identifier: 'Ada', password });
    const back = await browser.open(answer.url);
    expect([headingOf(back), buttonsOf(back)]).toEqual([
      'Diese Anmeldung kann nicht fortgesetzt werden',
      1,
    ]);
    expect(headingOf(await browser.submit(back, {}))).toBe('Anmelden');
  });
});

test('another person continues after the first is signed out', async () => {
  const { browser, visit, user } = await changePerson();
  const done = await browser.submit(visit, {});
  expect(done.url.searchParams.get('code')).toBeTruthy();
  const session = await fixture.database.prisma.session.findFirst({
    orderBy: { createdAt: 'desc' },
  });
  expect(session?.userId).toBe(user.id);
});

test('the sign-out of nobody leads to the application', async () => {
  const { browser, visit } = await signOutNobody({ post_logout_redirect_uri: goodbye, state: 's' });
  expect((await browser.submit(visit, {})).url.href).toBe(`${goodbye}?state=s`);
});

test('a sign-in whose session changed at its end begins again', async () => {
  const browser = await signedIn();
  const { visit } = await openSignInPage(service, shop, { browser, prompt: 'login' });
  const form = { ...fieldsOf(visit), identifier: 'Ada', password };
  const sent = await browser.request(visit.url, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const other = await changePerson({}, browser);
  expect((await browser.submit(other.visit, {})).url.searchParams.has('code')).toBe(true);
  const late = await browser.open(sent.headers.get('location') ?? '');
  expect(headingOf(late)).toBe('This sign-in cannot continue');
  expect(headingOf(await browser.submit(late, {}))).toBe('Sign in');
});

test.each([
  ['GET', 'a NUL character', 'state=%00'],
  ['POST', 'too long a value', `state=${'x'.repeat(3000)}`],
])('a %s request with %s is refused in German', async (method, _what, query) => {
  const visit = await refusedInGerman(method, query);
  expect([visit.status, headingOf(visit), buttonsOf(visit)]).toEqual([
    400,
    'Das hat nicht geklappt',
    1,
  ]);
  expect(visit.body).toContain('<span>Harbour</span>');
});

test('a request that is too large is refused in German', async () => {
  const visit = await refusedInGerman('POST', `state=${'x'.repeat(20_000)}`);
  const heading = 'Die Anfrage kann nicht beantwortet werden';
  expect([visit.status, headingOf(visit)]).toEqual([413, heading]);
  expect(visit.body).toContain('<html lang="de">');
});

describe.runIf(chromiumPath)('in Chromium', async () => {
  if (!chromiumPath) return;
  // As often: the address that takes the answer, and the pages of the application, have two hosts.
  const pages = await startApplicationServer();
  const application = await startApplicationServer({ leadsTo: pages.redirectUri });
  const site = await fixture.createApplication({
    name: 'Site',
    redirectUris: [application.redirectUri],
    postLogoutRedirectUris: [application.redirectUri],
  });
  let chromium: Chromium;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(async () => {
    await leaveChromium();
    await Promise.all([application.stop(), pages.stop()]);
  });

  async function open(javaScriptEnabled: boolean) {
    const context = await chromium.newContext({ locale: 'de-DE', javaScriptEnabled });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    /** Takes a step, and presses the one button of the page after it where no scripts run. */
    const step = async (act: () => Promise<unknown>) => {
      await act();
      if (javaScriptEnabled) return;
      await page.getByText('Drücken Sie den Knopf').waitFor();
      await page.getByRole('button', { name: 'Weiter' }).click();
    };
    return { context, page, complaints, step };
  }

  const addressOf = async (parameters: Parameters = {}) => {
    const { redirectUri: redirect_uri } = application;
    return (await authorize(service, site, { redirect_uri, ...parameters })).url.href;
  };
  const arrival = (page: Page) =>
    page.waitForRequest(
      (sent) => sent.url() === application.redirectUri && sent.method() === 'POST',
    );
  const formOf = (sent: SentRequest) =>
    Object.fromEntries(new URLSearchParams(sent.postData() ?? ''));

  async function signIn(page: Page, username: string) {
    await page.locator('[name=identifier]').fill(username);
    await page.locator('[name=password]').fill(password);
    await page.locator('button[type=submit]').first().click();
  }

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('all three lead on %s', async (_how, javaScriptEnabled) => {
    const { context, page, complaints, step } = await open(javaScriptEnabled);
    await page.goto(await addressOf({ response_mode: 'form_post', state: '<a&"b' }));
    const answered = arrival(page);
    await step(() => signIn(page, 'Ada'));
    const sent = await answered;
    expect(formOf(sent)).toEqual({ code: expect.any(String), state: '<a&"b', iss: issuer });
    // Frameworks let a POST of another origin in by this.
    expect(await sent.headerValue('origin')).toBe(new URL(baseUrl).origin);
    await page.waitForURL(pages.redirectUri);

    const { username } = await fixture.createUser();
    await page.goto(await addressOf({ prompt: 'login' }));
    await step(() => signIn(page, username ?? ''));
    await page.waitForURL(`${application.redirectUri}?code=*`);

    await context.clearCookies();
    const query = new URLSearchParams({
      client_id: site.id,
      post_logout_redirect_uri: application.redirectUri,
    });
    await step(() => page.goto(`${issuer}/session/end?${query}`));
    await page.waitForURL(application.redirectUri);
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('an application may ask in a frame, another may not', async () => {
    const { context, page } = await open(true);
    const asked = await addressOf({ response_mode: 'form_post', prompt: 'none' });
    const frameIn = async (origin: string) => {
      await page.goto(origin);
      await page.evaluate((src) => {
        document.body.append(Object.assign(document.createElement('iframe'), { src }));
      }, asked);
    };
    const answered = arrival(page);
    await frameIn(application.redirectUri);
    expect(formOf(await answered)).toMatchObject({ error: 'login_required' });
    const refused = page.waitForEvent('console', (message) =>
      message.text().includes('frame-ancestors'),
    );
    await frameIn(pages.redirectUri);
    expect((await refused).type()).toBe('error');
    await context.close();
  });
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
