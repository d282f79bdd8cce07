import { describe, expect, test } from 'vitest';
import { openConsole, signInToConsole } from '../../support/people/console.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import { createSignInFixture, password } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { baseUrl } = service.app.services;
const { createUser, database } = await createSignInFixture(service);
const { prisma } = database;
const hourMs = 3_600_000;
let people = 0;

async function person() {
  people += 1;
  return createUser({
    username: `ada${people}`,
    enrollmentSkippedAt: service.clock.now(),
  });
}

/** A person in a browser that is signed in to the account pages. */
async function signedIn() {
  const user = await person();
  const browser = openBrowser(baseUrl);
  const page = await browser.open('/account/sessions');
  const overview = await browser.submit(page, { identifier: user.username ?? '', password });
  expect(overview.url.pathname).toBe('/account/sessions');
  return { user, browser };
}

const secretOf = (cookies: string, name: string): string =>
  new RegExp(`signet_${name}=([\\w-]{43})`).exec(cookies)?.[1] ?? '';

/** Where the account pages lead a browser with this secret; null if they show what was asked for. */
const accountWith = async (secret: string) => {
  const headers = { cookie: `signet_account=${secret}` };
  const response = await fetch(`${baseUrl}/account`, { headers, redirect: 'manual' });
  return response.headers.get('location');
};
const toSignIn = `${baseUrl}/account/sign-in?to=%2Faccount`;

describe('the session of one app', () => {
  test('is none of the other, whoever moves its cookie', async () => {
    const { user, browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    expect(await accountWith(secret)).toBeNull();
    const headers = { cookie: `signet_console=${secret}` };
    expect((await fetch(`${baseUrl}/console/session`, { headers })).status).toBe(401);

    const console = openConsole(service);
    await signInToConsole(console, { username: user.username ?? '', password });
    expect(await console.session()).toMatchObject({ user: { id: user.id } });
    const other = secretOf(console.cookiesFor('/console'), 'console');
    expect(await accountWith(other)).toBe(toSignIn);
    // Neither try has ended the session.
    expect(await accountWith(secret)).toBeNull();
    expect(await console.session()).toBeDefined();
  });
});

describe('a session of the account pages', () => {
  test('is stored as a digest alone', async () => {
    const { browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    expect(secret).not.toBe('');
    const rows = await prisma.$queryRaw<{ text: string }[]>`
      SELECT s::text AS "text" FROM "FirstPartySession" s`;
    expect(rows.map(({ text }) => text).join('\n')).not.toContain(secret);
  });

  test('lasts twelve hours, however little is asked, and no longer', async () => {
    const { browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    service.clock.advance(11.9 * hourMs);
    expect(await accountWith(secret)).toBeNull();
    service.clock.advance(0.2 * hourMs);
    expect(await accountWith(secret)).toBe(toSignIn);
  });

  test('ends with the sign-out, and the provider’s with it, whoever keeps the cookie', async () => {
    const { user, browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    const page = await browser.open('/account');
    const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(page.body) ?? [];
    const forged = await browser.open('/account/sign-out', {
      method: 'POST',
      body: new URLSearchParams({ csrf: 'forged' }),
    });
    expect(forged.url.pathname).toBe('/account');
    expect(await accountWith(secret)).toBeNull();
    const left = await browser.open('/account/sign-out', {
      method: 'POST',
      body: new URLSearchParams({ csrf }),
    });
    expect(left.url.pathname).toBe('/account/signed-out');
    expect(await accountWith(secret)).toBe(toSignIn);
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(0);
  });

  test('ends with the provider’s', async () => {
    const { user, browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    const { id } = await prisma.session.findFirstOrThrow({ where: { userId: user.id } });
    const token = await service.managementToken();
    const ended = await fetch(`${service.url}/api/users/${user.id}/sessions/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(ended.status).toBe(200);
    expect(await accountWith(secret)).toBe(toSignIn);
  });

  test('ends for good with a suspension', async () => {
    const { user, browser } = await signedIn();
    const secret = secretOf(browser.cookiesFor('/account'), 'account');
    await prisma.user.update({ where: { id: user.id }, data: { isSuspended: true } });
    expect(await accountWith(secret)).toBe(toSignIn);
    await prisma.user.update({ where: { id: user.id }, data: { isSuspended: false } });
    expect(await accountWith(secret)).toBe(toSignIn);
  });

  test('gives no more than the account’s scopes, whatever the person’s roles', async () => {
    const { user } = await signedIn();
    const { scopes } = await prisma.firstPartySession.findFirstOrThrow({
      where: { userId: user.id },
    });
    expect(scopes.sort()).toEqual(['account:read', 'account:write']);
  });
});

test('only the console asks how long ago the person authenticated', async () => {
  const maxAgeOf = async (path: string) => {
    const response = await openBrowser(baseUrl).request(path);
    return new URL(response.headers.get('location') as string).searchParams.get('max_age');
  };
  expect(await maxAgeOf('/account/sign-in')).toBeNull();
  expect(await maxAgeOf('/console/sign-in')).toBe('3600');
});
