import { beforeEach, describe, expect, test } from 'vitest';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import {
  allowPrivate,
  continueWith,
  createIdentityProvider,
  manager,
  passThrough,
} from '../../support/people/federation.ts';
import { codeTo } from '../../support/people/messages.ts';
import {
  expectAWayOn,
  expectToLeadOn,
  headingOf,
  isBack,
} from '../../support/people/pages/ways-on.ts';
import { type Browser, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const { baseUrl } = service.app.services;
const { client, createUser, database } = await createSignInFixture(service);
const { prisma } = database;
const there = await startOpenIdProvider(service.clock);
const { issuer, clientId, clientSecret } = there;
const change = async (settings: object) =>
  changeSettings(service, await service.managementToken(), settings);
const manage = async (operation: string, input: object) =>
  (await manager(service)).done(operation, { ...input });
const create = (input: object) =>
  createIdentityProvider(service, { issuer, clientId, clientSecret, ...input });

// The limits of an address count by the minute.
beforeEach(() => service.clock.advance(61_000));

let count = 0;
/** A stranger who is on the way to the provider, and comes back from it with this callback. */
async function onTheWay(claims: Record<string, unknown> = {}) {
  count += 1;
  const name = `Club ${count}`;
  const id = await create({ name, kind: 'SOCIAL' });
  const { browser, visit } = await openSignInPage(service, client);
  there.expect(`stranger-${count}`, claims);
  const { url } = await continueWith(browser, visit, name);
  return { id, name, browser, visit, callback: await passThrough(url) };
}

type Way = Awaited<ReturnType<typeof onTheWay>>;

/** What happens before the callback is opened. */
const disturbances: Readonly<Record<string, (way: Way) => Promise<unknown>>> = {
  'the provider is disabled': ({ id }) => manage('updateIdentityProvider', { id, enabled: false }),
  'the provider is deleted': ({ id }) => manage('deleteIdentityProvider', { id }),
  'the answer is late': async () => service.clock.advance(11 * 60 * 1000),
  'the sign-in is over': async () => service.clock.advance(61 * 60 * 1000),
  'another tab ends the sign-in': ({ browser, visit }) => browser.submit(visit, { cancel: 'yes' }),
  'another tab signs in': async ({ browser, visit }) => {
    const user = await createUser();
    const done = await browser.submit(visit, { identifier: user.username ?? '', password });
    expect(isBack(done)).toBe(true);
  },
  'another tab goes to the provider again': async ({ browser, visit, name }) => {
    await continueWith(browser, visit, name);
  },
  'the sign-in is forgotten': async ({ visit }) => {
    await prisma.interaction.deleteMany();
    expect(headingOf(visit)).toBe('Sign in');
  },
};

describe('a callback', () => {
  test.each(Object.entries(disturbances))('leads on when %s', async (what, disturb) => {
    const way = await onTheWay();
    await disturb(way);
    for (const again of ['first', 'after Back']) {
      const visit = await way.browser.open(way.callback);
      await expectAWayOn(`${what}, ${again}`, way.browser, visit);
    }
  });

  test('opened again leads to where the person is', async () => {
    const { browser, callback } = await onTheWay();
    const profile = await browser.open(callback);
    expect(headingOf(profile)).toBe('Complete your profile');
    const back = await browser.open(callback);
    expect(headingOf(back)).toBe('Complete your profile');
    const done = await browser.submit(back, { username: `known_${count}` });
    expect(isBack(done)).toBe(true);
    await expectAWayOn('after the end', browser, await browser.open(callback));
  });

  test('in another browser begins again, and uses nothing up', async () => {
    const { browser, callback } = await onTheWay();
    const stranger = openBrowser(baseUrl);
    await expectAWayOn('stranger', stranger, await stranger.open(callback));
    expect(headingOf(await browser.open(callback))).toBe('Complete your profile');
  });

  test.each([
    ['of nothing', ''],
    ['of an unknown sign-in', `?state=${'u'.repeat(43)}.${'s'.repeat(43)}&code=c`],
    ['for a program that is gone', `?state=h.${'s'.repeat(43)}&code=c`],
    ['of an account, for nobody', `?state=a.${'s'.repeat(43)}&code=c`],
  ])('%s leads to the own account', async (_case, query) => {
    const browser = openBrowser(baseUrl);
    const visit = await browser.open(`/sign-in/callback${query}`);
    expectToLeadOn('callback', visit);
    expect(headingOf(await browser.submit(visit, {}))).toBe('Sign in');
  });
});

describe('somebody who has come back', () => {
  test.each([
    ['a profile to complete', {}, ['USERNAME'], { username: 'late_comer' }],
    ['an address to show', { email: 'late@example.com' }, ['EMAIL'], { email: 'late@example.com' }],
  ])('with %s goes on without the provider', async (_what, claims, signUpIdentifiers, values) => {
    await change({ signUpIdentifiers });
    for (const operation of ['updateIdentityProvider', 'deleteIdentityProvider']) {
      const { id, browser, callback } = await onTheWay(claims);
      const page = await browser.open(callback);
      await manage(operation, { id, ...(operation.startsWith('u') ? { enabled: false } : {}) });
      const sent = await browser.submit(page, values);
      await expectAWayOn('sent', browser, sent);
      const back = await browser.open(page.url);
      await expectAWayOn('Back', browser, back);
      // Not a page that can only refuse.
      expect(headingOf(back)).not.toBe('Complete your profile');
    }
    await change({ signUpIdentifiers: ['USERNAME'] });
  });
});

describe('people of a company', () => {
  const email = 'eve@acme.example';
  async function company() {
    await prisma.identityProvider.deleteMany();
    return create({ name: 'Acme', kind: 'ENTERPRISE', emailDomains: ['acme.example'] });
  }
  const isThere = ({ url }: Visit) => url.origin === issuer;
  const at = async (path: string): Promise<{ browser: Browser; visit: Visit }> => {
    const { browser, visit } = await openSignInPage(service, client);
    return { browser, visit: await browser.open(`${visit.url}${path}`) };
  };

  test.each([
    ['the first page', '', 'identifier', ['USERNAME']],
    ['the page with the password', '?password', 'identifier', ['USERNAME']],
    ['a code', '/code', 'email', ['USERNAME']],
    ['recovery', '/forgot-password', 'email', ['USERNAME']],
    ['registration', '/register', 'email', ['EMAIL']],
    ['registration with a user name first', '/register', 'email', ['USERNAME', 'EMAIL']],
  ])('are led to their provider from %s', async (_page, path, field, signUpIdentifiers) => {
    await company();
    await change({ signUpIdentifiers });
    const { browser, visit } = await at(path);
    const left = await browser.submit(visit, {
      [field]: ` ${email.toUpperCase()} `,
      ...(visit.body.includes('name="password"') ? { password: 'whatever it is' } : {}),
    });
    expect([left.url.origin, left.url.searchParams.get('login_hint')?.toLowerCase()]).toEqual([
      issuer,
      email,
    ]);
    await change({ signUpIdentifiers: ['USERNAME'] });
  });

  test('are led there from the pages that were open before', async () => {
    await prisma.identityProvider.deleteMany();
    const user = await createUser({ primaryEmail: email, isEmailVerified: true });
    const signIn = await at('');
    const code = await at('/code');
    const sent = await code.browser.submit(code.visit, { email });
    const codes = [await codeTo(service, email)];
    const forgot = await at('/forgot-password');
    const reset = await forgot.browser.submit(forgot.visit, { email });
    codes.push(await codeTo(service, email));
    await company();
    const late = await signIn.browser.submit(signIn.visit, { identifier: email, password });
    expect(isThere(late)).toBe(true);
    for (const [i, { browser, page }] of [
      { browser: code.browser, page: sent },
      { browser: forgot.browser, page: reset },
    ].entries()) {
      expect(isThere(await browser.submit(page, { code: codes[i] ?? '' }))).toBe(true);
      expect(isThere(await browser.submit(page, { resend: 'yes' }))).toBe(true);
    }
    expect(await prisma.session.count({ where: { userId: user.id } })).toBe(0);
  });

  test('whose provider does not answer are told so', async () => {
    await company();
    there.behave({ answer: { '/.well-known/openid-configuration': (_q, r) => void r.destroy() } });
    await prisma.identityProvider.updateMany({ data: { issuer: `${issuer}/away` } });
    for (const path of ['', '/code', '/forgot-password']) {
      const { browser, visit } = await at(path);
      const told = await browser.submit(visit, path === '' ? { identifier: email } : { email });
      expect([headingOf(told), told.status < 500]).toEqual(['Sign in', true]);
      expect(told.body).toContain('could not sign you in');
    }
    there.behave({});
  });
});
