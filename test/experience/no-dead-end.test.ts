import { describe, expect, test } from 'vitest';
import { freePort } from '../support/peers/free-port.ts';
import { codeTo, messagesTo } from '../support/people/messages.ts';
import { type Browser, decodeText, openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../support/service.ts';

// One that it can have again after a restart.
const port = String(await freePort());
const service = await startService({ PORT: port });
const fixture = await createSignInFixture(service);
const { client } = fixture;
const token = await service.managementToken();
await changeSettings(service, token, { signUpIdentifiers: ['EMAIL', 'USERNAME'] });

const email = 'Ada@example.com';
let count = 0;
const stranger = () => {
  count += 1;
  return `stranger${count}@example.com`;
};

const isBack = ({ url }: Visit) => url.origin === new URL(redirectUri).origin;
const buttons = ({ body }: Visit) => body.match(/<button /g) ?? [];
const heading = ({ body }: Visit) => decodeText(/<h1>([^<]*)/.exec(body)?.[1] ?? '');

async function follow(browser: Browser, { body, url }: Visit, text: string): Promise<Visit> {
  const [, href = ''] = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}`).exec(body) ?? [];
  if (href === '') throw new Error(`No link "${text}" at ${url}.`);
  return browser.open(decodeText(href));
}

interface Tab {
  readonly browser: Browser;
  readonly visit: Visit;
}

async function codePage(way: string, address: string): Promise<Tab & { address: string }> {
  const { browser, visit } = await openSignInPage(service, client);
  const asked = await follow(browser, visit, way);
  return { browser, address, visit: await browser.submit(asked, { email: address }) };
}

async function afterCode(way: string, address: string): Promise<Tab> {
  const { browser, visit } = await codePage(way, address);
  return { browser, visit: await browser.submit(visit, { code: await codeTo(service, address) }) };
}

interface Page {
  readonly name: string;
  readonly heading: string;
  open(): Promise<Tab>;
  /** What a person enters there. */
  readonly values: Record<string, string>;
}

const through = (way: string) => async () => {
  const { browser, visit } = await openSignInPage(service, client);
  return { browser, visit: await follow(browser, visit, way) };
};

const pages: readonly Page[] = [
  {
    name: 'sign in',
    heading: 'Sign in',
    open: () => openSignInPage(service, client),
    values: { identifier: 'Ada', password },
  },
  {
    name: 'where a code is to go',
    heading: 'Sign in with a code',
    open: through('Use a code instead'),
    values: { email },
  },
  {
    name: 'the code',
    heading: 'Enter the code',
    open: () => codePage('Use a code instead', stranger()),
    values: { code: '000000' },
  },
  {
    name: 'a forgotten password',
    heading: 'Reset your password',
    open: through('Forgot password'),
    values: { email },
  },
  {
    name: 'a new password',
    heading: 'Choose a new password',
    async open() {
      const address = stranger();
      await fixture.createUser({ primaryEmail: address });
      return afterCode('Forgot password', address);
    },
    values: { password: 'short' },
  },
  {
    name: 'the address of a new account',
    heading: 'Create account',
    open: through('Create account'),
    values: { email: 'new@example.com' },
  },
  {
    name: 'the password of a new account',
    heading: 'Create account',
    open: () => afterCode('Create account', stranger()),
    values: { username: '1', password: 'short' },
  },
  {
    name: 'a one-time link',
    heading: 'Almost there',
    open: () => openSignInPage(service, client, { login_hint: email, one_time_token: 'none' }),
    values: {},
  },
  {
    name: 'a link in a message',
    heading: 'Almost there',
    async open() {
      const address = stranger();
      await fixture.createUser({ primaryEmail: address });
      const { browser } = await codePage('Use a code instead', address);
      const [{ link } = {}] = await messagesTo(service, address);
      return { browser, visit: await browser.open(String(link)) };
    },
    values: {},
  },
];

/** The page has a form of its interaction's, or the application has the person back. */
function expectToLeadOn(visit: Visit) {
  expect(visit.status).toBeLessThan(500);
  if (!isBack(visit)) expect(buttons(visit).length).toBeGreaterThan(0);
}

/** The page has one button, and it begins the sign-in once more, in the browser that has it. */
async function expectToBeginAgain(browser: Browser, visit: Visit): Promise<Visit> {
  expect([visit.status, heading(visit)]).toEqual([404, 'This sign-in cannot continue']);
  expect(buttons(visit)).toHaveLength(1);
  expect(visit.body).toMatch(/<button type="submit">Begin again</);
  return browser.submit(visit, {});
}

const signInElsewhere = async (browser: Browser, { url }: Visit) => {
  const base = url.pathname.split('/').slice(0, 3).join('/');
  const first = await browser.open(`${base}?sign-in`);
  const done = await browser.submit(first, { identifier: 'Ada', password });
  expect(isBack(done)).toBe(true);
};

describe.each(pages)('$name', ({ heading: title, open, values }) => {
  test('is shown, also after a reload', async () => {
    const { browser, visit } = await open();
    expect([visit.status, heading(visit)]).toEqual([200, title]);
    const again = await browser.open(visit.url);
    expect([again.status, heading(again)]).toEqual([200, title]);
    expectToLeadOn(await browser.submit(again, values));
  });

  test('restarts when a second tab was faster, and after Back', async () => {
    const { browser, visit } = await open();
    await signInElsewhere(browser, visit);
    const late = await browser.submit(visit, values);
    expect(isBack(await expectToBeginAgain(browser, late))).toBe(true);
    const back = await browser.open(visit.url);
    expect(isBack(await expectToBeginAgain(browser, back))).toBe(true);
  });

  test('accepts the form of a second tab', async () => {
    const { browser, visit } = await open();
    await browser.open(visit.url);
    expectToLeadOn(await browser.submit(visit, values));
  });

  test.each([
    ['forged', { csrf: 'A'.repeat(43) }],
    ['absent', { csrf: '' }],
  ])('is shown again when its token is %s, and continues', async (_case, csrf) => {
    const { browser, visit } = await open();
    const refused = await browser.submit(visit, { ...values, ...csrf });
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('This form was open for too long');
    expectToLeadOn(await browser.submit(refused, values));
  });

  test('restarts after it expired, with and without its cookie', async () => {
    const { browser, visit } = await open();
    service.clock.advance(61 * 60 * 1000);
    for (const late of [await browser.submit(visit, values), await browser.open(visit.url)])
      expect(heading(await expectToBeginAgain(browser, late))).toBe('Sign in');
    // A browser drops the cookie when it expires.
    const forgetful = openBrowser(service.app.services.baseUrl);
    const late = await forgetful.open(visit.url);
    expect(heading(await expectToBeginAgain(forgetful, late))).toBe('Sign in');
  });

  test('cancels to the application', async () => {
    const { browser, visit } = await open();
    const { url } = await browser.submit(visit, { cancel: 'yes' });
    expect(url.searchParams.get('error')).toBe('access_denied');
  });

  test('has a way back from requests it refuses', async () => {
    const { browser, visit } = await open();
    const body = 'a'.repeat(20_000);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const refused = await browser.open(visit.url, { method: 'POST', headers, body });
    expect(refused.status).toBe(413);
    expect(buttons(refused)).toHaveLength(1);
    expect(heading(await browser.submit(refused, {}))).toBe(title);
  });
});

test('continues on every page after the service restarts', async () => {
  const tabs = await Promise.all(pages.map(({ open }) => open()));
  await service.app.stop();
  await startSecondNode(service);
  for (const [i, { browser, visit }] of tabs.entries()) {
    const { heading: title, values = {}, name } = pages[i] ?? {};
    expect([name, heading(await browser.open(visit.url))]).toEqual([name, title]);
    expectToLeadOn(await browser.submit(visit, values));
  }
});
