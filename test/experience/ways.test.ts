import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { codeTo } from '../support/people/messages.ts';
import { type Browser, decodeText, openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'PASSKEY'],
});

/** The address of the first link that has this text. */
function linkOf({ url, body }: Visit, text: string): URL {
  const links = [...body.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
  const href = links.find(([, , shown = '']) => decodeText(shown) === text)?.[1];
  if (href === undefined) throw new Error(`No link "${text}" at ${url}.`);
  return new URL(decodeText(href), url);
}

const languageOf = ({ body }: Visit) => /<html lang="(\w+)"/.exec(body)?.[1];

describe('the languages in the footer', () => {
  test('lead to the same page, and hold for all pages of the browser', async () => {
    const { browser, visit } = await openSignInPage(service, client, { ui_locales: 'en' });
    const german = await browser.open(linkOf(visit, 'Deutsch'));
    expect(german.url.href).toBe(visit.url.href);
    expect([languageOf(visit), languageOf(german)]).toEqual(['en', 'de']);
    expect(languageOf(await browser.open('/account'))).toBe('de');
    expect(languageOf(await browser.open('/sign-in/callback/none'))).toBe('de');

    // Back again, from another page, whose address has a query.
    const code = await browser.open(`${visit.url.href}/code?by=email`);
    const english = await browser.open(linkOf(code, 'English'));
    expect(english.url.href).toBe(code.url.href);
    expect(languageOf(english)).toBe('en');
    expect(() => linkOf(english, 'English')).toThrow();
  });

  test('are not offered where they would lose what is shown once', async () => {
    const user = await fixture.createUser();
    const browser = openBrowser(baseUrl);
    await changeSettings(service, await service.managementToken(), {
      factors: ['BACKUP_CODES'],
      factorPolicy: 'REQUIRED',
    });
    const { visit } = await openSignInPage(service, client, { browser });
    const offer = await browser.submit(visit, { identifier: user.username ?? '', password });
    linkOf(offer, 'Deutsch');
    const codes = await browser.submit(offer, {});
    expect(codes.body).toContain('<ol class="codes">');
    expect(() => linkOf(codes, 'Deutsch')).toThrow();
    await changeSettings(service, await service.managementToken(), {
      factors: ['TOTP', 'PASSKEY'],
      factorPolicy: 'OPTIONAL',
    });
  });

  test.each(['xx', '', 'de,en', '%0d%0aset-cookie:x=y'])('no other is taken: %s', async (asked) => {
    const { browser, visit } = await openSignInPage(service, client);
    const response = await browser.request(`${visit.url.href}?language=${asked}`);
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []]);
  });
});

describe('the ways beside the form', () => {
  const marked = 'Used last in this browser';
  /** The items of the list, in order. */
  const waysIn = ({ body }: Visit) =>
    [...body.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([, item = '']) => item);
  const textOf = (item: string) =>
    decodeText(/>([^<]+)<\/(?:button|a)>/.exec(item)?.[1] ?? '').trim();

  const again = async (browser: Browser) =>
    (await openSignInPage(service, client, { browser, prompt: 'login' })).visit;

  test('the one used last comes first, and says so', async () => {
    const email = 'last@example.com';
    const { username } = await fixture.createUser({
      primaryEmail: email,
      enrollmentSkippedAt: service.clock.now(),
    });
    const browser = openBrowser(baseUrl);
    const first = await again(browser);
    expect(first.body).not.toContain(marked);
    expect(waysIn(first).map(textOf)).toEqual(['Sign in with a passkey', 'Use a code instead']);

    const asked = await browser.open(linkOf(first, 'Use a code instead'));
    const sent = await browser.submit(asked, { email });
    await browser.submit(sent, { code: await codeTo(service, email) });
    const second = await again(browser);
    expect(waysIn(second).map((item) => [textOf(item), item.includes(marked)])).toEqual([
      ['Use a code instead', true],
      ['Sign in with a passkey', false],
    ]);

    // A wrong password is no way that led in; the right one is.
    await browser.submit(await again(browser), { identifier: username ?? '', password: 'wrong' });
    expect((await again(browser)).body).toContain(marked);
    await browser.submit(await again(browser), { identifier: username ?? '', password });
    expect((await again(browser)).body).not.toContain(marked);
  });

  test('providers have their logos, and what is too many opens by a click', async () => {
    const now = service.clock.now();
    const add = (name: string, issuer: string) =>
      prisma.identityProvider.create({
        data: {
          id: newId('IdentityProvider'),
          name,
          kind: 'SOCIAL',
          issuer,
          clientId: 'signet',
          scopes: ['openid'],
          createdAt: now,
          updatedAt: now,
        },
      });
    await add('Google', 'https://accounts.google.com');
    await add('Club', 'https://club.example.com');
    const four = (await openSignInPage(service, client)).visit;
    expect(waysIn(four).map(textOf)).toEqual([
      'Continue with Club',
      'Continue with Google',
      'Sign in with a passkey',
      'Use a code instead',
    ]);
    expect(four.body).not.toContain('<details');
    const [club, google] = waysIn(four).map((item) => /<svg.*<\/svg>/s.exec(item)?.[0]);
    expect(google).toContain('#4285f4');
    expect(club).toContain('currentColor');

    await add('Apple', 'https://appleid.apple.com');
    await add('Microsoft', 'https://login.microsoftonline.com/common/v2.0');
    const { body } = (await openSignInPage(service, client)).visit;
    const [shown = '', more = ''] = body.split('<details');
    expect(waysIn({ ...four, body: shown }).map(textOf)).toEqual([
      'Continue with Apple',
      'Continue with Club',
      'Continue with Google',
    ]);
    expect(more).toContain('<summary>Other ways</summary>');
    expect(waysIn({ ...four, body: more }).map(textOf)).toEqual([
      'Continue with Microsoft',
      'Sign in with a passkey',
      'Use a code instead',
    ]);
    expect(body.match(/<p class="or">/g)).toHaveLength(1);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
    await prisma.identityProvider.deleteMany();
  });
});
