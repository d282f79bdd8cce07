import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { type Browser, discover, openBrowser } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  refresh,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange } from '../../support/tokens.ts';

const service = await startService();
const { issuer } = service.app.services;
const fixture = await createSignInFixture(service);
const { client, resource, user } = fixture;

const goodbye = 'https://app.example.com/bye';

const openSignOut = (browser: Browser, parameters: Record<string, string> = {}) =>
  browser.open(`${issuer}/session/end?${new URLSearchParams(parameters)}`);

const isSignedIn = async (browser: Browser) => {
  const { visit } = await openSignInPage(service, client, { browser, prompt: 'none' });
  return visit.url.searchParams.has('code');
};

test('signs out after confirmation, and returns to the application', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const tokens = await fixture.signIn({
    browser,
    resource: resource.indicator,
    scope: 'openid read',
  });
  const question = await openSignOut(browser, {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: goodbye,
    state: 'back',
  });
  expect(question.status).toBe(200);
  expect(question.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await isSignedIn(browser)).toBe(true);

  const asked = await openSignOut(browser, {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: goodbye,
    state: 'back',
  });
  const done = await browser.submit(asked, { logout: 'yes' });
  expect(done.url.href).toBe(`${goodbye}?state=back`);
  expect(await isSignedIn(browser)).toBe(false);
  expect(await introspect(tokens.access_token)).toMatchObject({ active: false });
});

test('keeps the session of a user who declines', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const done = await browser.submit(await openSignOut(browser), {});
  expect([done.status, done.url.pathname]).toEqual([200, '/account']);
  expect(done.body).not.toContain('You are signed out');
  expect(await isSignedIn(browser)).toBe(true);
  const asked = { client_id: client.id, post_logout_redirect_uri: goodbye };
  const back = await browser.submit(await openSignOut(browser, asked), {});
  expect(back.url.href).toBe(goodbye);
  expect(await isSignedIn(browser)).toBe(true);
});

const introspect = async (token: string) =>
  oidc.tokenIntrospection(await discover(service, client), token);

test('ends offline tokens too', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const forApi = { resource: resource.indicator, scope: 'openid offline_access read' };
  const tokens = await fixture.signIn({ browser, ...forApi });
  const backend = await fixture.directory.createClient({ allowTokenExchange: true });
  const { body } = await exchange(service, backend, {
    subject_token: tokens.access_token,
    resource: resource.indicator,
  });
  const elsewhere = await fixture.signIn(forApi);
  const done = await browser.submit(await openSignOut(browser), { logout: 'yes' });
  expect(done.status).toBe(200);
  expect(done.url.pathname).toBe('/oidc/session/end/success');
  for (const token of [tokens.access_token, tokens.refresh_token, body['access_token']]) {
    expect(await introspect(String(token))).toEqual({ active: false });
  }
  await expect(refresh(service, client, tokens.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  // The same person in another browser is still there.
  expect(await introspect(elsewhere.access_token)).toMatchObject({ active: true });
  await refresh(service, client, elsewhere.refresh_token ?? '');
});

test('refuses a sign-out from another page', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const visit = await openSignOut(browser);
  const forged = await browser.submit(visit, { logout: 'yes', xsrf: 'guessed' });
  expect(forged.status).toBe(400);
  expect(await isSignedIn(browser)).toBe(true);
});

test.each([
  [
    'an address that is not registered',
    { client_id: client.id, post_logout_redirect_uri: 'https://evil.example.com' },
  ],
  [
    'an application that does not exist',
    { client_id: 'app_none', post_logout_redirect_uri: goodbye },
  ],
  ['a hint that is no token', { id_token_hint: 'garbage' }],
  ['a hint that was signed by someone else', { id_token_hint: forge() }],
])('refuses %s', async (_case, parameters) => {
  const visit = await openSignOut(openBrowser(service.app.services.baseUrl), parameters);
  expect(visit.status).toBe(400);
  expect(visit.headers.get('content-security-policy')).toContain("default-src 'none'");
});

function forge() {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'ES256' })}.${part({ iss: issuer, aud: client.id, sub: user.id })}.AAAA`;
}

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
