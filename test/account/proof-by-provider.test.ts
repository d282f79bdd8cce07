import { expect, test } from 'vitest';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { allowPrivate, connectSteered, continueWith } from '../support/people/federation.ts';
import { type Browser, openBrowser } from '../support/people/sign-in.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const { createUser, database } = await createSignInFixture(service);
const { prisma } = database;
const acme = await startOpenIdProvider(service.clock);
await connectSteered(service, acme, 'Acme');

const back = (url: URL, subject: string, claims: object = {}) =>
  acme.signedIn(url, subject, { ...claims });

let people = 0;
/** Somebody who has nothing but an identity at the provider, and is signed in to the account. */
async function person() {
  people += 1;
  const subject = `subject-${people}`;
  const browser = openBrowser(service.app.services.baseUrl);
  const left = await continueWith(browser, await browser.open('/account'), 'Acme');
  const profile = await browser.open(back(left.url, subject));
  const account = await browser.submit(profile, { username: `person${people}` });
  expect(account.url.pathname).toBe('/account');
  return { subject, browser };
}

/** Asks for the page of the user name, and leaves for the provider from the page that asks for a proof. */
async function leave(browser: Browser): Promise<URL> {
  const visit = await browser.open('/account/username');
  expect(visit.url.pathname).toBe('/account/verify');
  return (await continueWith(browser, visit, 'Acme')).url;
}

const isProved = async (browser: Browser) =>
  (await browser.open('/account/username')).url.pathname === '/account/username';

test('whoever has an identity alone proves by it', async () => {
  const { subject, browser } = await person();
  const url = await leave(browser);
  expect(url.searchParams.get('prompt')).toBe('login');
  const done = await browser.open(back(url, subject));
  expect(done.url.pathname).toBe('/account');
  expect(await isProved(browser)).toBe(true);
  service.clock.advance(601_000);
  expect(await isProved(browser)).toBe(false);
});

test.each([
  ['another person there', { subject: 'somebody' }],
  ['a sign-in there of long ago', { auth_time: 1_000_000_000 }],
])('%s proves nothing', async (_what, { subject: other, ...claims }: Record<string, unknown>) => {
  const { subject, browser } = await person();
  const url = await leave(browser);
  const refused = await browser.open(back(url, String(other ?? subject), claims));
  expect(refused.url.pathname).toBe('/account/proof');
  expect(refused.body).toContain('That is not right.');
  expect(await isProved(browser)).toBe(false);
  expect(await prisma.userIdentity.count({ where: { subject: 'somebody' } })).toBe(0);
});

test('it counts once, and for its own person', async () => {
  const [one, two] = [await person(), await person()];
  const callback = back(await leave(one.browser), one.subject);
  await two.browser.open(callback);
  expect(await isProved(two.browser)).toBe(false);
  await one.browser.open(callback);
  expect(await isProved(one.browser)).toBe(true);
  service.clock.advance(601_000);
  await one.browser.open(callback);
  expect(await isProved(one.browser)).toBe(false);
});

test('whoever has a password is not offered it', async () => {
  await createUser({ username: 'both' });
  const browser = openBrowser(service.app.services.baseUrl);
  const visit = await browser.open('/account');
  await browser.submit(visit, { identifier: 'both', password });
  const asked = await browser.open('/account/username');
  expect(asked.body).toContain('type="password"');
  expect(asked.body).not.toContain('Continue with');
});
