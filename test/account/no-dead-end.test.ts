import { beforeEach, describe, expect, test } from 'vitest';
import type { User } from '../../src/generated/prisma/client.ts';
import { freePort } from '../support/peers/free-port.ts';
import { allowPrivate, manager } from '../support/people/federation.ts';
import { addOneOfEach } from '../support/people/pages/one-of-each.ts';
import { buttonsOf, expectToLeadOn, headingOf } from '../support/people/pages/ways-on.ts';
import { type Browser, openBrowser, type Visit } from '../support/people/sign-in.ts';
import { createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../support/service.ts';

// One that it can have again after a restart.
const port = String(await freePort());
const service = await startService({ ...allowPrivate, PORT: port });
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const factors = ['TOTP', 'PASSKEY', 'BACKUP_CODES'];
const change = async (settings: object) =>
  changeSettings(service, await service.managementToken(), settings);
await change({ factors });
const manage = async (operation: string, input: object) =>
  (await manager(service)).done(operation, { ...input });

// The limits of an address count by the minute.
beforeEach(() => service.clock.advance(61_000));

/** The path of each page below the first, with its heading, and what a person enters there. */
const pages: Readonly<Record<string, { heading: string; values?: Record<string, string> }>> = {
  '': { heading: 'Your account' },
  '/profile': { heading: 'Profile', values: { name: 'Ada', avatar: 'no picture' } },
  '/username': { heading: 'User name', values: { username: '1' } },
  '/email': { heading: 'E-mail address', values: { email: 'nowhere' } },
  '/phone': { heading: 'Phone number', values: { phone: 'none' } },
  '/password': { heading: 'Choose a new password', values: { password: 'short' } },
  '/sessions': { heading: 'Devices', values: { id: 'session_none' } },
  '/activity': { heading: 'Recent activity' },
  '/organizations': { heading: 'Organizations' },
  '/applications': { heading: 'Applications', values: { id: 'grant_none' } },
  '/identities': { heading: 'Linked accounts', values: { id: 'identity_none' } },
  '/factors': { heading: 'Second factors', values: { id: 'factor_none' } },
  '/factors/app': { heading: 'Add an authenticator app', values: { code: '000000' } },
  '/factors/passkey': { heading: 'Add a passkey', values: { response: 'wrong' } },
  '/factors/codes': { heading: 'Create backup codes', values: { csrf: 'wrong' } },
  '/delete': { heading: 'Delete account', values: { csrf: 'wrong' } },
};

const verify = (by: string) =>
  `/account/verify?${new URLSearchParams({ to: '/account/email', by })}`;

interface Tab {
  readonly name: string;
  readonly visit: Visit;
  readonly values?: Record<string, string>;
}

let count = 0;
async function newPerson(): Promise<User> {
  count += 1;
  return fixture.createUser({
    primaryEmail: `person${count}@example.com`,
    primaryPhone: `+49151000000${String(count).padStart(2, '0')}`,
    isEmailVerified: true,
    enrollmentSkippedAt: service.clock.now(),
  });
}

const signIn = (browser: Browser, visit: Visit, { username }: User) =>
  browser.submit(visit, { identifier: username ?? '', password });

/** Opens every page of the account in one browser, the proof included. */
async function openAll() {
  const user = await newPerson();
  await addOneOfEach(service, user, fixture.client);
  await fixture.signIn({ username: user.username ?? '' });
  const browser = openBrowser(baseUrl);
  const asked = await signIn(browser, await browser.open('/account/delete'), user);
  const tabs: Tab[] = [];
  for (const by of ['PASSWORD', 'EMAIL_CODE', 'PHONE_CODE'])
    tabs.push({ name: by, visit: await browser.open(verify(by)), values: { password: 'wrong' } });
  const sent = await browser.submit(await browser.open(verify('EMAIL_CODE')), {});
  tabs.push({ name: 'code', visit: sent, values: { code: '000000' } });
  await browser.submit(asked, { password });
  for (const [path, { values }] of Object.entries(pages)) {
    const visit = await browser.open(`/account${path}`);
    tabs.push({ name: path, visit, ...(values ? { values } : {}) });
  }
  const email = await browser.submit(await browser.open('/account/email'), {
    email: `new${count}@example.com`,
  });
  tabs.push({ name: 'code to a new address', visit: email, values: { code: '000000' } });
  return { user, browser, tabs };
}

type Opened = Awaited<ReturnType<typeof openAll>>;

test('every page is shown, and shown again after a forged or a wrong form', async () => {
  const { browser, tabs } = await openAll();
  for (const { name, visit, values } of tabs) {
    const title = pages[name]?.heading ?? headingOf(visit);
    expect([name, visit.status, headingOf(visit)]).toEqual([name, 200, title]);
    const isProof = visit.url.pathname === '/account/verify';
    const again = await browser.open(visit.url);
    if (!isProof) expect([name, headingOf(again)]).toEqual([name, title]);
    if (!values || isProof) continue;
    for (const csrf of ['', 'A'.repeat(43)]) {
      const refused = await browser.submit(again, { ...values, csrf });
      expect([name, refused.status, headingOf(refused)]).toEqual([name, 403, title]);
      expect(refused.body).toContain('This form was open for too long');
    }
    const sent = await browser.submit(visit, values);
    expect([name, headingOf(sent), sent.status < 500]).toEqual([name, title, true]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'a'.repeat(20_000);
    const large = await browser.open(visit.url, { method: 'POST', headers, body });
    expect([name, large.status, buttonsOf(large)]).toEqual([name, 413, 1]);
    expect(headingOf(await browser.submit(large, {}))).toBe(title);
  }
});

/** What happens meanwhile, and what the page is afterwards: the sign-in, the proof, or any page of the account. */
const disturbances: Readonly<
  Record<string, readonly [act: (opened: Opened) => Promise<unknown>, then: RegExp]>
> = {
  'the proof lapses': [async () => service.clock.advance(601_000), /^\/account/],
  'the session of the pages ends': [
    async () => service.clock.advance(12 * 3600 * 1000),
    /^\/account/,
  ],
  'another tab signs out': [
    async ({ browser, tabs }) => {
      const [, , , , overview] = tabs;
      if (overview) await browser.submit(overview.visit, {});
    },
    /^\/sign-in\//,
  ],
  'another tab signs in somebody else': [
    async ({ browser, tabs }) => {
      const [, , , , overview] = tabs;
      if (overview) await browser.submit(overview.visit, {});
      await signIn(browser, await browser.open('/account'), await newPerson());
    },
    /^\/account/,
  ],
  'the session of the browser ends': [
    async ({ user: { id: userId } }) => {
      for (const { id } of await prisma.session.findMany({ where: { userId } }))
        await manage('endUserSession', { userId, sessionId: id });
    },
    /^\/sign-in\//,
  ],
  'the account is suspended': [
    ({ user: { id } }) => manage('updateUserSuspensionStatus', { id, isSuspended: true }),
    /^\/sign-in\//,
  ],
  'the account is deleted': [({ user: { id } }) => manage('deleteUser', { id }), /^\/sign-in\//],
  'the addresses and the password are taken away': [
    ({ user: { id } }) =>
      prisma.user.update({
        where: { id },
        data: { primaryEmail: null, primaryPhone: null, passwordDigest: null },
      }),
    /^\/account/,
  ],
  'every factor is switched off': [() => change({ factors: [] }), /^\/account/],
  'every provider and application is deleted': [
    async () => {
      await prisma.identityProvider.deleteMany();
      await prisma.userGrant.deleteMany();
    },
    /^\/account/,
  ],
};

describe('every page leads on', () => {
  test.each(Object.entries(disturbances))('when %s', async (what, [disturb, then]) => {
    const opened = await openAll();
    await disturb(opened);
    const { browser, tabs } = opened;
    for (const { name, visit, values } of tabs) {
      service.clock.advance(5000);
      const sent = values ? [await browser.submit(visit, values)] : [];
      for (const late of [...sent, await browser.open(visit.url)]) {
        // The list of organizations has nothing but its way back.
        if (!/class="below"/.test(late.body)) expectToLeadOn(name, late);
        const { pathname } = late.url;
        expect([name, late.status < 500, pathname]).toEqual([
          name,
          true,
          expect.stringMatching(then),
        ]);
      }
    }
    if (what === 'every factor is switched off') await change({ factors });
  });
});

test('a lost session comes back to its page', async () => {
  const user = await newPerson();
  const browser = openBrowser(baseUrl);
  const profile = await signIn(browser, await browser.open('/account/profile'), user);
  await manage('signOutUser', { id: user.id });
  service.clock.advance(1000);
  const late = await browser.submit(profile, { name: 'Ada' });
  const back = await signIn(browser, late, user);
  expect([back.url.pathname, headingOf(back)]).toEqual(['/account/profile', 'Profile']);
});

test('a sign-in that is cancelled, late, repeated or lost begins again', async () => {
  const user = await newPerson();
  const beginsAgain = async (browser: Browser, visit: Visit) => {
    expect([visit.status, buttonsOf(visit)]).toEqual([400, 1]);
    expect(headingOf(await browser.submit(visit, {}))).toBe('Sign in');
  };
  const browser = openBrowser(baseUrl);
  const page = await browser.open('/account');
  await beginsAgain(browser, await browser.submit(page, { cancel: 'yes' }));
  const late = await browser.open('/account');
  service.clock.advance(61 * 60 * 1000);
  const broken = await signIn(browser, late, user);
  expect([broken.status, buttonsOf(broken)]).toEqual([404, 1]);
  expect(headingOf(await browser.submit(broken, {}))).toBe('Sign in');
  await beginsAgain(browser, await browser.open('/account/callback?state=x&code=y'));
});

test('an address that is no page, or says nonsense, leads to the account', async () => {
  const user = await newPerson();
  const browser = openBrowser(baseUrl);
  await signIn(browser, await browser.open('/account'), user);
  for (const path of [
    '/account/',
    '/account/nothing',
    '/account/factors/nothing/here',
    '/account/?x',
    '/account?done=constructor',
  ])
    expect([path, headingOf(await browser.open(path))]).toEqual([path, 'Your account']);
  const posted = await browser.open('/account', { method: 'POST', body: new URLSearchParams() });
  expect([posted.status, headingOf(posted)]).toEqual([200, 'Your account']);
});

test('who has nothing to prove it with is told, with the way back', async () => {
  const user = await newPerson();
  const browser = openBrowser(baseUrl);
  await signIn(browser, await browser.open('/account'), user);
  await prisma.user.update({
    where: { id: user.id },
    data: { primaryEmail: null, primaryPhone: null, passwordDigest: null },
  });
  const visit = await browser.open('/account/username');
  expect(visit.body).toContain('You have no way to confirm it.');
  expect(visit.body).toContain(`<a href="${baseUrl}/account">`);
});

test('every page continues after the service restarts', async () => {
  const { browser, tabs } = await openAll();
  await service.app.stop();
  await startSecondNode(service);
  for (const { name, visit } of tabs.filter(({ name }) => name in pages))
    expect([name, headingOf(await browser.open(visit.url))]).toEqual([name, headingOf(visit)]);
});
