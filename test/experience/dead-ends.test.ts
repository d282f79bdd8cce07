import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FactorType, User } from '../../src/generated/prisma/client.ts';
import { newId } from '../../src/ids.ts';
import type { TestClient } from '../support/operations/directory.ts';
import { freePort } from '../support/peers/free-port.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { startPathProxy } from '../support/peers/path-proxy.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import {
  allowPrivate,
  continueWith,
  createIdentityProvider,
  manager,
  passThrough,
} from '../support/people/federation.ts';
import {
  buttonsOf,
  expectAWayOn,
  expectToLeadOn,
  headingOf,
  isBack,
} from '../support/people/pages/ways-on.ts';
import { type Browser, openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../support/service.ts';

// One that it can have again after a restart.
const port = String(await freePort());
const service = await startService({ ...allowPrivate, PORT: port });
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
// The clock moves on, so that tokens do not last.
const manage = async (operation: string, input: object) =>
  (await manager(service)).done(operation, { ...input });
const club = await startOpenIdProvider(service.clock);
const { issuer, clientId, clientSecret } = club;
const provider = { issuer, clientId, clientSecret };
await createIdentityProvider(service, {
  ...provider,
  name: 'Club',
  kind: 'SOCIAL',
});
await createIdentityProvider(service, {
  ...provider,
  name: 'Acme',
  kind: 'ENTERPRISE',
  emailDomains: ['acme.example'],
});
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'],
  signUpIdentifiers: ['USERNAME', 'EMAIL'],
});

// The limits of an address count by the minute.
beforeEach(() => service.clock.advance(61_000));

/** A browser at a page, who sits there, and the application that they are on the way to. */
interface Case {
  readonly browser: Browser;
  readonly visit: Visit;
  readonly client: TestClient;
  readonly user?: User;
}

interface Page {
  readonly name: string;
  readonly heading: string;
  open(): Promise<Case>;
  /** What a person enters there. */
  readonly values?: Record<string, string>;
  /** Whether nobody is known to sit there. */
  readonly isAnonymous?: boolean;
}

async function begin(
  client: TestClient,
  parameters: Record<string, string> = {},
  browser = openBrowser(baseUrl),
) {
  const { url } = await authorize(service, client, parameters);
  return { browser, client, visit: await browser.open(url) };
}

async function signIn(user: User, ...rest: Parameters<typeof begin>) {
  const { browser, client, visit } = await begin(...rest);
  const known = { identifier: user.username ?? '', password };
  return { browser, client, user, visit: await browser.submit(visit, known) };
}

/** Where somebody else has a session, the library's own form ends it first. */
const pastSignOut = async (browser: Browser, visit: Visit) =>
  /^\/oidc\/auth\/[^/]+$/.test(visit.url.pathname) ? browser.submit(visit, {}) : visit;

const newClient = (values = {}) => fixture.createApplication({ name: 'Garden Shop', ...values });
const thirdParty = () => newClient({ isThirdParty: true });
const done = () => ({ enrollmentSkippedAt: service.clock.now() });

/** Gives somebody every kind of factor, without what only a right answer needs: nobody gives one here. */
async function addFactors({ id: userId }: User) {
  const createdAt = service.clock.now();
  const factor = (type: FactorType) => ({ id: newId('UserFactor'), userId, type, createdAt });
  const passkey = { credentialId: randomBytes(32), publicKey: randomBytes(77), signCount: 0n };
  const backup = factor('BACKUP_CODES');
  const { userFactor, backupCode } = fixture.database.prisma;
  await userFactor.createMany({
    data: [factor('TOTP'), backup, { ...factor('PASSKEY'), ...passkey }],
  });
  await backupCode.create({ data: { factorId: backup.id, digest: randomBytes(32) } });
}

const factor = (kind: string) => async () => {
  const person = await fixture.createUser();
  await addFactors(person);
  const at = await signIn(person, await newClient());
  return { ...at, visit: await at.browser.open(at.visit.url.href.replace(/[^/]*$/, kind)) };
};

const enrolling = (path: string) => async () => {
  const at = await signIn(await fixture.createUser(), await newClient());
  return { ...at, visit: await at.browser.open(`${at.visit.url}${path}`) };
};

let count = 0;
/** Comes back from the provider as a stranger of this kind. */
async function federated(claims: Record<string, unknown> = {}): Promise<Case> {
  const { browser, visit, client } = await begin(await newClient());
  count += 1;
  club.expect(`stranger-${count}`, { name: 'Grace', ...claims });
  const { url } = await continueWith(browser, visit, 'Club');
  return { browser, client, visit: await browser.open(await passThrough(url)) };
}

const firstPage = ({ visit }: Pick<Case, 'visit'>) =>
  visit.url.pathname.split('/').slice(0, 3).join('/');

const pages: readonly Page[] = [
  {
    name: 'the code of an app',
    heading: 'Enter the code of your app',
    open: factor('app'),
    values: { code: '000000' },
  },
  {
    name: 'a backup code',
    heading: 'Enter a backup code',
    open: factor('backup-code'),
    values: { code: 'wrong' },
  },
  {
    name: 'a passkey as the second factor',
    heading: 'Use a passkey',
    open: factor('passkey'),
    values: { response: 'wrong' },
  },
  {
    name: 'the factor that a session lacks',
    heading: 'Enter the code of your app',
    async open() {
      const person = await fixture.createUser(done());
      const { browser } = await signIn(person, await newClient());
      await addFactors(person);
      const at = await begin(
        await newClient(),
        { acr_values: 'urn:signet:aal2', prompt: 'login' },
        browser,
      );
      const known = { identifier: person.username ?? '', password };
      return { ...at, user: person, visit: await browser.submit(at.visit, known) };
    },
    values: { code: '000000' },
  },
  {
    name: 'the choice of a factor',
    heading: 'Protect your account',
    open: enrolling(''),
    values: { kind: 'TOTP' },
  },
  {
    name: 'a new authenticator app',
    heading: 'Set up an authenticator app',
    open: enrolling('/app'),
    values: { code: '000000' },
  },
  {
    name: 'a new passkey',
    heading: 'Create a passkey',
    open: enrolling('/passkey'),
    values: { response: 'wrong' },
  },
  {
    name: 'backup codes to save',
    heading: 'Save backup codes',
    async open() {
      const at = await enrolling('/app')();
      const [, key = ''] = /<code>([^<]*)/.exec(at.visit.body) ?? [];
      const app = authenticatorApp(service.clock, key.replaceAll(' ', ''));
      return { ...at, visit: await at.browser.submit(at.visit, { code: app.code() }) };
    },
  },
  {
    name: 'a passkey alone',
    isAnonymous: true,
    heading: 'Sign in with a passkey',
    async open() {
      const at = await begin(await newClient());
      return { ...at, visit: await at.browser.open(`${at.visit.url}/passkey`) };
    },
    values: { response: 'wrong' },
  },
  {
    name: 'consent after a sign-in',
    heading: 'Allow Garden Shop?',
    open: async () => signIn(await fixture.createUser(done()), await thirdParty()),
  },
  {
    name: 'consent in a session',
    heading: 'Allow Garden Shop?',
    async open() {
      const user = await fixture.createUser(done());
      const { browser } = await signIn(user, await newClient());
      return { user, ...(await begin(await thirdParty(), {}, browser)) };
    },
  },
  {
    name: 'the profile of a stranger',
    isAnonymous: true,
    heading: 'Complete your profile',
    open: () => federated({ email: 'grace@example.com', email_verified: true }),
    values: { username: '1' },
  },
  {
    name: 'an account that exists',
    heading: 'Sign in',
    async open() {
      const user = await fixture.createUser({ primaryEmail: `unproved${count}@example.com` });
      return {
        user,
        ...(await federated({ email: user.primaryEmail, email_verified: true })),
      };
    },
    values: { identifier: 'nobody', password: 'wrong' },
  },
  {
    name: 'the password after the identifier',
    isAnonymous: true,
    heading: 'Sign in',
    async open() {
      const at = await begin(await newClient());
      return { ...at, visit: await at.browser.submit(at.visit, { identifier: 'somebody' }) };
    },
    values: { password: 'wrong' },
  },
];

type Disturbances = Readonly<Record<string, (at: Case) => Promise<unknown>>>;

const disturbances: Disturbances = {
  async 'another tab ends the sign-in'({ browser, visit }) {
    const tab = await browser.open(visit.url);
    await browser.submit(tab, { cancel: 'yes' });
  },
  async 'another tab begins another sign-in'({ browser, client }) {
    await begin(client, { prompt: 'login' }, browser);
  },
  async 'another tab signs in somebody else'({ browser }) {
    const somebody = await fixture.createUser(done());
    const { visit } = await signIn(somebody, await newClient(), { prompt: 'login' }, browser);
    const changed = await pastSignOut(browser, visit);
    expect(changed.url.searchParams.get('code')).toBeTruthy();
  },
  async 'the application is deleted'({ client }) {
    await manage('deleteApplication', { id: client.id });
  },
};

const disturbancesOfPeople: Disturbances = {
  async 'the session of the browser ends'({ user }) {
    const userId = user?.id ?? '';
    for (const { id } of await fixture.database.prisma.session.findMany({ where: { userId } }))
      await manage('endUserSession', { userId, sessionId: id });
  },
  async 'the account is suspended'({ user }) {
    await manage('updateUserSuspensionStatus', { id: user?.id, isSuspended: true });
  },
  async 'all sessions of the account end'({ user }) {
    service.clock.advance(1000);
    await manage('signOutUser', { id: user?.id });
  },
  async 'the account is deleted'({ user }) {
    await manage('deleteUser', { id: user?.id });
  },
};

describe.each(pages)('$name', ({ name, heading: title, isAnonymous, open, values = {} }) => {
  test('is shown, and shown again', async () => {
    const { browser, visit } = await open();
    expect([name, visit.status, headingOf(visit)]).toEqual([name, 200, title]);
    const again = await browser.open(visit.url);
    expect([again.status, headingOf(again)]).toEqual([200, title]);
    for (const csrf of ['', 'A'.repeat(43)]) {
      const refused = await browser.submit(again, { ...values, csrf });
      expect([refused.status, headingOf(refused)]).toEqual([403, title]);
      expect(refused.body).toContain('This form was open for too long');
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'a'.repeat(20_000);
    const large = await browser.open(visit.url, { method: 'POST', headers, body });
    expect([large.status, buttonsOf(large)]).toEqual([413, 1]);
    expect(headingOf(await browser.submit(large, {}))).toBe(title);
    const unknown = await browser.open(`${firstPage({ visit })}/nothing-here`);
    await expectAWayOn('a path that is no page', browser, unknown);
    expectToLeadOn(name, await browser.submit(visit, values));
  });

  const all = { ...disturbances, ...(isAnonymous ? {} : disturbancesOfPeople) };
  test.each(Object.entries(all))('leads on when %s', async (_what, disturb) => {
    const at = await open();
    await disturb(at);
    const sent = await at.browser.submit(at.visit, values);
    await expectAWayOn(`${name}, sent`, at.browser, await pastSignOut(at.browser, sent));
    await expectAWayOn(`${name}, Back`, at.browser, await at.browser.open(at.visit.url));
  });
});

test.each(['/sign-in/any', '/account/email'])(
  '%s leads on below a path of the public address',
  async (path) => {
    const proxy = await startPathProxy('/identity');
    const below = await startService({ BASE_URL: proxy.url });
    proxy.leadTo(below.url);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'a'.repeat(20_000);
    const browser = openBrowser(proxy.url);
    const large = await browser.open(`${proxy.url}${path}`, { method: 'POST', headers, body });
    expect([large.status, buttonsOf(large)]).toEqual([413, 1]);
    const led = await browser.submit(large, {});
    expect(led.url.pathname).toMatch(/^\/identity\/sign-in\//);
    expectToLeadOn(path, led);
  },
);

const goodbye = { postLogoutRedirectUris: [`${new URL(redirectUri).origin}/bye`] };

async function askSignOut(browser: Browser, client: TestClient): Promise<Case> {
  const asked = new URLSearchParams({
    client_id: client.id,
    post_logout_redirect_uri: `${new URL(redirectUri).origin}/bye`,
  });
  const visit = await browser.open(`${baseUrl}/oidc/session/end?${asked}`);
  return { browser, client, visit };
}

interface RequestPage extends Pick<Page, 'name' | 'heading' | 'open' | 'values'> {
  /** What may happen while it is open. */
  readonly meanwhile: readonly string[];
}

const always = ['the application is deleted', 'an hour passes'];
const withPeople = [
  ...always,
  'another tab signs in somebody else',
  'the session of the browser ends',
  'all sessions of the account end',
  'the account is deleted',
];

const requests: readonly RequestPage[] = [
  {
    name: 'an answer as a form',
    meanwhile: always,
    heading: 'Continue to Garden Shop',
    open: async () =>
      signIn(await fixture.createUser(done()), await newClient(), { response_mode: 'form_post' }),
  },
  {
    name: 'another person',
    meanwhile: withPeople,
    heading: 'Continue as another person',
    async open() {
      const { browser } = await signIn(await fixture.createUser(done()), await newClient());
      const user = await fixture.createUser(done());
      return signIn(user, await newClient(), { prompt: 'login' }, browser);
    },
  },
  {
    name: 'a sign-out',
    meanwhile: withPeople,
    heading: 'Sign out?',
    async open() {
      const user = await fixture.createUser(done());
      const client = await newClient(goodbye);
      const { browser } = await signIn(user, client);
      return { user, ...(await askSignOut(browser, client)) };
    },
    values: { logout: 'yes' },
  },
  {
    name: 'a sign-out of nobody',
    meanwhile: [...always, 'another tab signs in somebody else'],
    heading: 'Sign out',
    open: async () => askSignOut(openBrowser(baseUrl), await newClient(goodbye)),
  },
];

describe.each(requests)('$name', ({ name, heading: title, open, meanwhile, values = {} }) => {
  test('is shown, and leads on', async () => {
    const { browser, visit } = await open();
    expect([visit.status, headingOf(visit)]).toEqual([200, title]);
    // The application itself opens nowhere here.
    if (name !== 'an answer as a form')
      expect(isBack(await browser.submit(visit, values))).toBe(true);
    await expectAWayOn('Back', browser, await browser.open(visit.url));
    await expectAWayOn('elsewhere', browser, await openBrowser(baseUrl).open(visit.url));
  });

  const all: Disturbances = {
    ...disturbances,
    ...disturbancesOfPeople,
    'an hour passes': async () => service.clock.advance(61 * 60 * 1000),
  };
  test.each(meanwhile)('leads on when %s', async (what) => {
    const at = await open();
    const disturb = all[what];
    if (!disturb) throw new Error(`Nobody knows how "${what}".`);
    await disturb(at);
    if (name !== 'an answer as a form')
      await expectAWayOn('sent', at.browser, await at.browser.submit(at.visit, values));
    await expectAWayOn('Back', at.browser, await at.browser.open(at.visit.url));
  });
});

test('every page leads on in another browser, after a restart, and after an hour', async () => {
  const tabs: (Case & Page)[] = [];
  for (const page of pages) tabs.push({ ...page, ...(await page.open()) });

  for (const { name, visit } of tabs) {
    const stranger = openBrowser(baseUrl);
    const found = await stranger.open(visit.url);
    expect([name, found.status]).toEqual([name, 404]);
    await expectAWayOn(name, stranger, found);
  }

  await service.app.stop();
  await startSecondNode(service);
  for (const { name, heading: title, browser, visit, values } of tabs) {
    expect([name, headingOf(await browser.open(visit.url))]).toEqual([name, title]);
    if (values) expectToLeadOn(name, await browser.submit(visit, values));
  }

  service.clock.advance(61 * 60 * 1000);
  for (const { name, browser, visit, values = {} } of tabs) {
    await expectAWayOn(`${name}, sent`, browser, await browser.submit(visit, values));
    await expectAWayOn(`${name}, Back`, browser, await browser.open(visit.url));
  }
});
