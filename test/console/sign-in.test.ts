import { afterEach, describe, expect, test } from 'vitest';
import {
  administrator,
  consoleFolder,
  openConsole,
  setUpConsole,
  signInToConsole,
} from '../support/people/console.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { startService } from '../support/service.ts';

const service = await startService({}, { consoleFolder });
const { baseUrl, issuer } = service.app.services;
const { prisma } = service.testDatabase.database;
const first = await setUpConsole(service);

test('the first administrator is signed in after the setup', async () => {
  expect(await first.session()).toMatchObject({
    user: { username: administrator.username, name: null, primaryEmail: null, avatar: null },
    scopes: ['all'],
  });
  const { status, body } = await first.ask('{ users(first: 5) { edges { node { username } } } }');
  expect(status).toBe(200);
  expect(body.data).toEqual({ users: { edges: [{ node: { username: administrator.username } }] } });
});

describe('a sign-in', () => {
  test('leads by the service’s own pages back to where one was', async () => {
    const browser = openConsole(service);
    const visit = await signInToConsole(browser, administrator, '/console/users?search=a#b');
    expect(visit.url.href).toBe(`${baseUrl}/console/users?search=a#b`);
    expect(await browser.session()).toMatchObject({ scopes: ['all'] });
    const { data } = await prisma.event.findFirstOrThrow({
      where: { type: 'PostSignIn' },
      orderBy: { position: 'desc' },
    });
    const application = await prisma.application.findFirstOrThrow({ where: { name: 'Console' } });
    expect(data).toMatchObject({ applicationId: application.id });
  });

  test('asks the provider by PKCE, with state and nonce, for nothing but who it is', async () => {
    const response = await openConsole(service).request('/console/sign-in');
    expect(response.status).toBe(303);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const url = new URL(response.headers.get('location') as string);
    expect(`${url.origin}${url.pathname}`).toBe(`${issuer}/auth`);
    const asked = Object.fromEntries(url.searchParams);
    expect(asked).toMatchObject({
      redirect_uri: `${baseUrl}/console/callback`,
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(asked[name]).toMatch(/^[\w-]{43}$/);
    }
  });

  test('keeps nothing readable in the browser', async () => {
    const response = await openConsole(service).request('/console/sign-in?to=/console/keys');
    const [cookie = ''] = response.headers.getSetCookie();
    const asked = new URL(response.headers.get('location') as string).searchParams;
    const [, value = ''] = /=([^;]*)/.exec(cookie) ?? [];
    expect(Buffer.from(value, 'base64url').toString()).not.toContain(asked.get('state'));
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/);
  });

  test.each([
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example/console',
    '/console\\..\\..\\evil',
    '/console/../oidc/session/end',
    '/console/%2e%2e/graphql',
    '/console@evil.example',
    '/consoleevil',
    '/console/\t//evil.example',
    '/console\n/x',
    'javascript:alert(1)',
    'console',
    '',
    '/console/sign-in?to=/console',
    '/console/callback?code=x&state=y',
    '/console/graphql',
    '/console/assets/app.js',
  ])('does not lead to %j', async (to) => {
    const visit = await signInToConsole(openConsole(service), administrator, to);
    expect(visit.url.href).toBe(`${baseUrl}/console`);
  });

  test('does not lead to one of two places', async () => {
    const browser = openConsole(service);
    const page = await browser.open('/console/sign-in?to=/console/a&to=/console/b');
    const { username: identifier, password } = administrator;
    expect((await browser.submit(page, { identifier, password })).url.href).toBe(
      `${baseUrl}/console`,
    );
  });

  test('goes on in each of several tabs', async () => {
    const browser = openConsole(service);
    const page = await browser.open('/console/sign-in?to=/console/users');
    const other = await browser.open('/console/sign-in?to=/console/events');
    const { username: identifier, password } = administrator;
    expect((await browser.submit(other, { identifier, password })).url.pathname).toBe(
      '/console/events',
    );
    const before = browser.cookiesFor('/console');
    const back = await browser.submit(page, { identifier, password });
    expect(back.url.pathname).toBe('/console/users');
    // Of the two sessions one is left.
    const headers = { cookie: before };
    expect((await fetch(`${service.url}/console/session`, { headers })).status).toBe(401);
    expect(await browser.session()).toBeDefined();
  });

  test('of a browser that is signed in leads on at once, and begins no other session', async () => {
    const browser = openConsole(service);
    await signInToConsole(browser);
    const before = browser.cookiesFor('/console');
    const visit = await signInToConsole(browser, administrator, '/console/keys');
    expect(visit.url.pathname).toBe('/console/keys');
    expect(browser.cookiesFor('/console')).toBe(before);
  });

  test('keeps the cookies of a few sign-ins alone', async () => {
    const browser = openConsole(service);
    for (let time = 0; time < 12; time += 1) await browser.request('/console/sign-in');
    const cookies = browser.cookiesFor('/console/callback').split('; ');
    expect(cookies.filter((cookie) => cookie.startsWith('signet_console_sign_in'))).toHaveLength(5);
  });

  test('moves to the host of BASE_URL first, where the cookies belong', async () => {
    const elsewhere = openBrowser(service.url);
    const response = await elsewhere.request('/console/sign-in?to=/console/users');
    expect(response.headers.getSetCookie()).toEqual([]);
    const there = new URL(response.headers.get('location') as string);
    expect(there.origin).toBe(new URL(baseUrl).origin);
    expect(there.searchParams.get('to')).toBe('/console/users');
    // Behind a proxy that sends another host it does not go round in a ring.
    const second = await elsewhere.request(`${there.pathname}${there.search}`);
    expect(second.headers.get('location')).toContain('/oidc/auth?');
  });

  test('asks again for the password after an hour, whatever the provider remembers', async () => {
    const browser = openConsole(service);
    await signInToConsole(browser);
    await prisma.firstPartySession.deleteMany();
    const soon = await browser.open('/console/sign-in?to=/console/users');
    expect(soon.url.pathname).toBe('/console/users');
    await prisma.firstPartySession.deleteMany();
    // The library compares with the machine's clock.
    await prisma.$executeRaw`
      UPDATE "OidcRecord" SET "payload" = jsonb_set("payload", '{loginTs}', to_jsonb(("payload" ->> 'loginTs')::int - 3700))
       WHERE "model" = 'Session' AND "payload" ? 'loginTs'`;
    const later = await browser.open('/console/sign-in?to=/console/users');
    expect(later.url.pathname).toMatch(/^\/sign-in\//);
  });
});

describe('the way back', () => {
  const begun: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of begun.splice(0)) await end();
  });

  /** Signs in until the provider sends the browser back, and stops there. */
  async function comeBack() {
    const browser = openConsole(service);
    const page = await browser.open('/console/sign-in');
    const [, action = ''] = /<form[^>]* action="([^"]*)"/.exec(page.body) ?? [];
    const hidden = [
      ...page.body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g),
    ].map(([, name = '', value = '']) => [name, value] as [string, string]);
    const { username: identifier, password } = administrator;
    const body = new URLSearchParams([
      ...hidden,
      ['identifier', identifier],
      ['password', password],
    ]);
    let response = await browser.request(action, { method: 'POST', body });
    for (;;) {
      const url = new URL(response.headers.get('location') as string, baseUrl);
      if (url.pathname === '/console/callback') return { browser, url };
      response = await browser.request(url);
    }
  }

  async function refused(browser: ReturnType<typeof openConsole>, url: URL | string) {
    const visit = await browser.open(url);
    expect(visit.status).toBe(400);
    expect(visit.body).toContain(`action="${baseUrl}/console/sign-in"`);
    expect(await browser.session()).toBeUndefined();
  }

  test('is of no use in another browser', async () => {
    const { url } = await comeBack();
    await refused(openConsole(service), url);
  });

  test('is of no use with the cookie of another sign-in', async () => {
    const { url } = await comeBack();
    const victim = openConsole(service);
    const theirs = new URL(
      (await victim.request('/console/sign-in')).headers.get('location') as string,
    ).searchParams.get('state');
    url.searchParams.set('state', theirs as string);
    await refused(victim, url);
  });

  test.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (url: URL) => url.searchParams.delete('state')],
    ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.example/oidc')],
    ['no issuer', (url: URL) => url.searchParams.delete('iss')],
  ])('is refused with %s', async (_what, change) => {
    const { browser, url } = await comeBack();
    change(url);
    await refused(browser, url);
  });

  test('leads on when it is taken a second time', async () => {
    const { browser, url } = await comeBack();
    expect((await browser.open(url)).url.pathname).toBe('/console');
    expect((await browser.open(url)).url.pathname).toBe('/console');
    expect(await browser.session()).toBeDefined();
  });

  test('is taken once of many at the same time', async () => {
    const { browser, url } = await comeBack();
    const headers = { cookie: browser.cookiesFor('/console/callback') };
    const before = await prisma.firstPartySession.count();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fetch(url, { headers, redirect: 'manual' })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(await prisma.firstPartySession.count()).toBe(before + 1);
  });

  test('is refused when the user was suspended meanwhile', async () => {
    const { browser, url } = await comeBack();
    const token = await service.managementToken();
    const user = await prisma.user.findFirstOrThrow();
    const suspend = (isSuspended: boolean) =>
      fetch(`${service.url}/api/users/${user.id}/is-suspended`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ isSuspended }),
      });
    expect((await suspend(true)).status).toBe(200);
    expect((await suspend(false)).status).toBe(200);
    await refused(browser, url);
  });

  test('says that a sign-in was cancelled, with a way to begin again', async () => {
    const browser = openConsole(service);
    const page = await browser.open('/console/sign-in');
    const visit = await browser.submit(page, { cancel: 'yes' });
    expect(visit.status).toBe(400);
    expect(visit.url.pathname).toBe('/console/callback');
    expect(visit.body).toContain('The sign-in was cancelled');
    const german = await browser.open('/console/signed-out', {
      headers: { 'accept-language': 'de' },
    });
    expect(german.body).toContain('Sie sind abgemeldet');
  });

  test('speaks of nothing that was put into its address', async () => {
    const visit = await openConsole(service).open(
      '/console/callback?error=<script>alert(1)</script>&error_description=<b>hello</b>',
    );
    expect(visit.status).toBe(400);
    expect(visit.body).not.toMatch(/alert|hello/);
  });
});
