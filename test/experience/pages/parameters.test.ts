import { expect, test } from 'vitest';
import { messagesTo } from '../../support/people/messages.ts';
import { decodeText, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import { createSignInFixture, openSignInPage } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const token = await service.managementToken();
const { baseUrl } = service.app.services;

const heading = ({ body }: Visit) => decodeText(/<h1>([^<]*)/.exec(body)?.[1] ?? '');
const isBack = ({ url }: Visit) => url.searchParams.has('code') && url.origin !== baseUrl;

/** Asks for a code by e-mail, and gives the message. */
async function askForCode(way: string, email: string) {
  const { browser, visit } = await openSignInPage(service, client);
  const asked = await browser.open(`${visit.url}/${way}`);
  const sent = await browser.submit(asked, { email });
  const message = (await messagesTo(service, email)).at(-1) ?? {};
  return { browser, sent, link: String(message['link']), code: String(message['code']) };
}

async function createToken(email: string): Promise<string> {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `mutation { createOneTimeToken(input: { email: "${email}" }) {
        ... on CreateOneTimeTokenPayload { token } } }`,
    }),
  });
  const { data } = (await response.json()) as {
    data: { createOneTimeToken: { token: string } };
  };
  return data.createOneTimeToken.token;
}

test('opens at sign-up when the application asks for it', async () => {
  const { visit } = await openSignInPage(service, client, { screen_hint: 'register' });
  expect(heading(visit)).toBe('Create account');
});

test.each([
  ['what the application asks for', { ui_locales: 'fr de-AT' }, 'en', 'Anmelden'],
  ['else what the browser asks for', {}, 'fr, de;q=0.8, en;q=0.5', 'Anmelden'],
  ['else what the operator has set', {}, 'fr', 'Sign in'],
])('speaks %s', async (_case, parameters, language, title) => {
  const { browser, visit } = await openSignInPage(service, client, parameters);
  const spoken = await browser.open(visit.url, { headers: { 'accept-language': language } });
  expect(heading(spoken)).toBe(title);
});

test('fills in the expected address, also for a code', async () => {
  const { browser, visit } = await openSignInPage(service, client, { login_hint: 'a@example.com' });
  for (const path of ['/code', '/forgot-password'])
    expect((await browser.open(`${visit.url}${path}`)).body).toContain('value="a@example.com"');
});

test('a click on a message’s link signs in', async () => {
  const { browser, link } = await askForCode('code', 'Ada@example.com');
  const page = await browser.open(link);
  await browser.open(link);
  expect(heading(page)).toBe('Almost there');
  expect(isBack(await browser.submit(page, {}))).toBe(true);
});

test('explains a link in another browser without using it up', async () => {
  const { browser, sent, link, code } = await askForCode('code', 'Ada@example.com');
  const other = openBrowser(baseUrl);
  const page = await other.open(link);
  expect([page.status, heading(page)]).toEqual([200, 'Enter the code where you began']);
  expect(page.body).toContain(code);
  await other.open(link, { method: 'POST', body: new URLSearchParams() });
  expect(isBack(await browser.submit(sent, { code }))).toBe(true);
});

test('continues to the new password by a link', async () => {
  const { browser, link } = await askForCode('forgot-password', 'Ada@example.com');
  expect(heading(await browser.submit(await browser.open(link), {}))).toBe('Choose a new password');
});

test('redeems a one-time token by a click, never storing it', async () => {
  const oneTimeToken = await createToken('Ada@example.com');
  const { browser, visit } = await openSignInPage(service, client, {
    login_hint: 'Ada@example.com',
    one_time_token: oneTimeToken,
  });
  const rows = [
    await database.prisma.oidcRecord.findMany(),
    await database.prisma.interaction.findMany(),
  ];
  expect(
    JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
  ).not.toContain(oneTimeToken);
  expect(heading(visit)).toBe('Almost there');
  expect(isBack(await browser.submit(visit, {}))).toBe(true);
});

test('a stranger with a one-time token creates an account', async () => {
  const { browser, visit } = await openSignInPage(service, client, {
    one_time_token: await createToken('newcomer@example.com'),
  });
  const next = await browser.submit(visit, { email: 'newcomer@example.com' });
  expect(heading(next)).toBe('Create account');
  expect(heading(await browser.open(visit.url))).toBe('Create account');
});

test('remembers the addresses that a person skips at sign-up', async () => {
  await changeSettings(service, token, { signUpIdentifiers: ['USERNAME', 'EMAIL', 'PHONE'] });
  const { browser, visit } = await openSignInPage(service, client, { screen_hint: 'register' });
  const [, skip = ''] = /href="([^"]*)">Not now/.exec(visit.body) ?? [];
  const phone = await browser.open(decodeText(skip));
  const sent = await browser.submit(phone, { phone: '+49 151 23456789' });
  const [{ code } = {}] = await messagesTo(service, '+4915123456789');
  const last = await browser.submit(sent, { code: String(code) });
  expect(last.body).toContain('name="username"');
});

test('shows the branding that the operator set', async () => {
  await changeSettings(service, token, {
    branding: {
      productName: 'Acme & Co',
      logoUrl: 'https://cdn.example.com/logo.svg',
      primaryColor: '#ffe600',
      termsUrl: 'https://example.com/terms',
      privacyUrl: 'https://example.com/privacy',
    },
  });
  const { visit } = await openSignInPage(service, client);
  expect(visit.headers.get('content-security-policy')).toContain('img-src https://cdn.example.com');
  expect(visit.body).toContain('alt="Acme &amp; Co"');
  expect(visit.body).toContain('--accent:#ffe600;--on-accent:#000000');
  expect(visit.body).toContain('href="https://example.com/terms"');
});
