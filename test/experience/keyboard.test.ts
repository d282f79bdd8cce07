import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { addressLimits } from '../../src/protection/addresses.ts';
import { startApplicationServer } from '../support/peers/application-server.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { startTcpProxy } from '../support/peers/tcp-proxy.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { askUserCode } from '../support/people/device.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { allowPrivate, connect, manager } from '../support/people/federation.ts';
import { type Person, sitDown } from '../support/people/keyboard/person.ts';
import { followPages } from '../support/people/keyboard/rendered.ts';
import { codeTo, messagesTo } from '../support/people/messages.ts';
import { attachAuthenticator } from '../support/people/passkeys/virtual-authenticator.ts';
import { authorize, createSignInFixture, password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const identifier = 'User name, e-mail address or phone number';

describe.runIf(chromiumPath)('with the keyboard alone', async () => {
  if (!chromiumPath) return;
  const rendered = await followPages();
  const seen = new Set<string>();
  const walked = new Set<string>();
  const service = await startService(allowPrivate);
  const { issuer } = service.app.services;
  const fixture = await createSignInFixture(service);
  const { prisma } = fixture.database;
  const application = await startApplicationServer();
  const redirectUri = application.redirectUri;
  const client = await fixture.createApplication({
    name: 'Garden Shop',
    redirectUris: [redirectUri],
    allowHeadlessSignIn: true,
  });
  // On another site than this service: they would share their cookies on one.
  const target = { host: '127.0.0.1', port: 0 };
  const door = await startTcpProxy(target);
  const there = await startService({ BASE_URL: `http://127.0.0.1:${door.port}` });
  target.port = Number(new URL(there.url).port);
  const people = await createSignInFixture(there);

  const change = async (settings: object) =>
    changeSettings(service, await service.managementToken(), settings);
  const advance = (seconds: number) => {
    for (const { clock } of [service, there]) clock.advance(seconds * 1000);
  };

  let chromium: Browser;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const hosts = new Set<string>();
  beforeAll(async () => {
    chromium = await openChromium();
  });
  beforeEach(async () => {
    // The limits of an address count by the minute.
    advance(61);
    await change({
      signUpIdentifiers: ['EMAIL', 'USERNAME'],
      factors: [],
      factorPolicy: 'OPTIONAL',
      passwordEnabled: true,
      codeEnabled: true,
      branding: {
        termsUrl: 'https://garden.example/terms',
        privacyUrl: 'https://garden.example/privacy',
      },
    });
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await leaveChromium();
    await application.stop();
    await door.close();
    rendered.restore();
  });

  async function somebody(options: Parameters<Browser['newContext']>[0] = {}): Promise<Person> {
    const context = await chromium.newContext({ locale: 'en-GB', ...options });
    contexts.push(context);
    const person = await sitDown(context, {
      nameOf: rendered.by,
      isOurs: (address) =>
        !address.startsWith(redirectUri) && new URL(address).pathname !== '/account',
      onPage: (name) => seen.add(name),
      walked,
    });
    person.page.on('console', (message) => {
      // What Chromium says of a page whose status tells of a refusal.
      if (message.text().includes('the server responded with a status of')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    person.page.on('pageerror', (error) => complaints.push(String(error)));
    person.page.on('request', (request) => hosts.add(new URL(request.url()).host));
    return person;
  }

  /** Comes from the application. */
  async function begin(person: Person, parameters: Record<string, string> = {}): Promise<Person> {
    const { url } = await authorize(service, client, {
      redirect_uri: redirectUri,
      ...parameters,
    });
    await person.arrive(url);
    return person;
  }
  const beginAnew = async (parameters?: Record<string, string>) =>
    begin(await somebody(), parameters);

  async function signIn(person: Person, name: string | null, secret = password): Promise<void> {
    await person.fill(identifier, name ?? '');
    await person.fill('Password', secret);
    await person.enter();
  }
  const isBack = ({ page }: Person) => page.url().startsWith(`${redirectUri}?`);
  const resultOf = ({ page }: Person) => new URL(page.url()).searchParams;
  function expectSignedIn(person: Person) {
    expect([isBack(person), resultOf(person).has('code')]).toEqual([true, true]);
  }

  /** Reads the key of a new authenticator app off the page, as a person without a camera does. */
  async function readKey({ page }: Person) {
    const [, key = ''] =
      /Type this key into the app:\s*([A-Z2-7 ]+)/.exec(await page.locator('main').innerText()) ??
      [];
    return authenticatorApp(service.clock, key.replaceAll(' ', ''));
  }

  test('a password, then an app, backup codes, and both again', async () => {
    await change({ factors: ['TOTP', 'BACKUP_CODES'], factorPolicy: 'REQUIRED' });
    const user = await fixture.createUser();
    const first = await beginAnew();
    await signIn(first, user.username);
    const app = await readKey(first);
    await first.fill('Code', app.wrongCode());
    await first.fill('Code', app.code());
    await first.press('Create backup codes');
    const [code = ''] = await first.page.locator('ol.codes code').allInnerTexts();
    await first.press('I have saved them');
    expectSignedIn(first);

    advance(30);
    const second = await beginAnew();
    await signIn(second, user.username);
    await second.fill('Code', app.wrongCode());
    await second.fill('Code', app.code());
    expectSignedIn(second);

    const third = await beginAnew();
    await signIn(third, user.username);
    await third.press('Use a backup code instead');
    await third.fill('Backup code', 'not one of them');
    await third.enter();
    await third.fill('Backup code', code);
    await third.enter();
    expectSignedIn(third);
  });

  test('a name, Tab, a password, Enter', async () => {
    const person = await beginAnew();
    await person.fill(identifier, 'Ada');
    await person.page.keyboard.press('Tab');
    await person.page.keyboard.type(password);
    await person.enter();
    expectSignedIn(person);
  });

  test('a factor that nobody has to add', async () => {
    await change({ factors: ['TOTP', 'BACKUP_CODES'] });
    const user = await fixture.createUser();
    const person = await beginAnew();
    await signIn(person, user.username);
    await person.press('Not now');
    expectSignedIn(person);
  });

  test('a passkey as second factor, and as the only step', async () => {
    await change({ factors: ['TOTP', 'PASSKEY'] });
    const user = await fixture.createUser();
    const person = await somebody();
    const device = await attachAuthenticator(person.page);
    await begin(person);
    await signIn(person, user.username);
    await person.press('A passkey');
    await person.fill('Name of the passkey', 'Work laptop');
    await device.verify(false);
    await person.pressHere('Create a passkey');
    await person.page.getByText('No passkey was created.').waitFor();
    await device.verify(true);
    await person.press('Create a passkey');
    expectSignedIn(person);

    // Or it would answer as soon as the page suggests passkeys.
    await device.touch(false);
    const again = async () => {
      await person.page.context().clearCookies();
      await begin(person);
    };
    await again();
    await signIn(person, user.username);
    expect(await person.heading()).toBe('Use a passkey');
    await device.touch(true);
    await person.press('Use a passkey');
    expectSignedIn(person);

    await device.touch(false);
    await again();
    await device.touch(true);
    await person.press('Sign in with a passkey');
    expectSignedIn(person);

    await change({ factors: ['PASSKEY'], passwordEnabled: false, codeEnabled: false });
    await again();
    await device.verify(false);
    await person.pressHere('Sign in with a passkey');
    await person.page.getByText('No passkey was used.').waitFor();
    await device.verify(true);
    await person.press('Sign in with a passkey');
    expectSignedIn(person);

    await prisma.userFactor.deleteMany({ where: { userId: user.id } });
    await again();
    await person.press('Sign in with a passkey');
    expect(await person.problem()).toContain('That passkey cannot be used here.');
  });

  test('a code instead, its mistakes, and the password after all', async () => {
    const email = 'grace@example.com';
    await fixture.createUser({ primaryEmail: email });
    const person = await beginAnew();
    await signIn(person, email, 'wrong');
    expect(await person.problem()).toContain('or password. Try again');
    await person.press('Use a code instead');
    await person.press('Use your password instead');
    await person.press('Use a code instead');
    await person.press('Use your phone number instead');
    await person.fill('Phone number', 'none');
    await person.enter();
    await person.press('Use your e-mail address instead');
    await person.fill('E-mail address', email);
    await person.enter();
    await person.fill('Code', '000000');
    await person.press('Use another address');
    await person.press('Send code');
    // Another one can be sent once the first had time to come.
    advance(30);
    await person.arrive(person.page.url());
    await person.press('Send a new code');
    await person.fill('Code', await codeTo(service, email));
    expectSignedIn(person);

    const other = await beginAnew({ login_hint: email });
    await other.press('Use a code instead');
    await other.press('Send code');
    await other.press('Use your password instead');
    await other.fill('Password', 'wrong');
    await other.press('Sign in');
    await other.fill('Password', password);
    await other.enter();
    expectSignedIn(other);
  });

  test('a new account, after mistakes', async () => {
    const person = await beginAnew();
    await person.press('Create account');
    await person.fill('E-mail address', 'lin@example.com');
    await person.enter();
    await person.fill('Code', await codeTo(service, 'lin@example.com'));
    await person.fill('User name (optional)', 'Ada');
    await person.fill('Password', 'password');
    await person.press('Create account');
    await person.fill('Password', 'a long way home, twice');
    await person.enter();
    await person.fill('User name (optional)', 'lin');
    await person.fill('Password', 'a long way home, twice');
    await person.enter();
    expectSignedIn(person);
  });

  test('a forgotten password', async () => {
    const email = 'forgetful@example.com';
    const { id: userId } = await fixture.createUser({ primaryEmail: email });
    await fixture.database.prisma.userFactor.create({
      data: { id: newId('UserFactor'), userId, type: 'TOTP', createdAt: service.clock.now() },
    });
    const person = await beginAnew();
    await person.press('Forgot password?');
    await person.fill('E-mail address', email);
    await person.enter();
    await person.fill('Code', await codeTo(service, email));
    await person.fill('New password', 'password');
    await person.enter();
    await person.fill('New password', 'a long way home, twice');
    await person.press('Save password');
    await person.press('Continue');
    expectSignedIn(person);
  });

  test('a link in a message, here and elsewhere, and a one-time link', async () => {
    const email = 'reader@example.com';
    await fixture.createUser({ primaryEmail: email });
    const person = await beginAnew();
    await person.press('Use a code instead');
    await person.fill('E-mail address', email);
    await person.enter();
    const [{ link } = {}] = await messagesTo(service, email);
    await (await somebody()).arrive(String(link));
    await person.arrive(String(link));
    await person.press('Continue');
    expectSignedIn(person);

    const { token } = await (await manager(service)).done('createOneTimeToken', { email });
    const invited = await beginAnew({ one_time_token: token });
    await invited.fill('E-mail address', 'somebody@example.com');
    await invited.enter();
    await invited.fill('E-mail address', email);
    await invited.press('Continue');
    expectSignedIn(invited);
  });

  describe('and another Signet', () => {
    beforeAll(async () => {
      await connect(service, there, { name: 'Club' });
      await people.createUser({
        username: 'kim',
        primaryEmail: 'kim@club.example',
        isEmailVerified: true,
      });
      await people.createUser({
        username: 'sam',
        primaryEmail: 'sam@club.example',
        isEmailVerified: true,
      });
    });
    beforeEach(() => change({ signUpIdentifiers: ['USERNAME'] }));

    test('a stranger comes from there, and completes the profile', async () => {
      const person = await beginAnew();
      await person.press('Continue with Club');
      await person.press('Cancel');
      expect(await person.problem()).toContain('was cancelled or refused');
      await person.press('Continue with Club');
      await signIn(person, 'kim');
      await person.fill('User name', 'Ada');
      await person.enter();
      await person.fill('User name', 'kim');
      await person.press('Create account');
      expectSignedIn(person);
    });

    test('an account that exists is signed in to first', async () => {
      await fixture.createUser({ primaryEmail: 'sam@club.example' });
      const person = await beginAnew();
      await person.press('Continue with Club');
      await signIn(person, 'sam');
      expect(await person.problem()).toContain('An account with sam@club.example already exists');
      await signIn(person, 'sam@club.example');
      expectSignedIn(person);
    });

    test('an address of a company leads there', async () => {
      const admin = await manager(service);
      const id = await connect(service, there, {
        name: 'Acme',
        kind: 'ENTERPRISE',
        emailDomains: ['acme.example'],
      });
      await people.createUser({
        username: 'eve',
        primaryEmail: 'eve@acme.example',
        isEmailVerified: true,
      });
      const other = await beginAnew();
      await other.fill(identifier, 'Ida');
      await other.enter();
      // Who signs in stands above the password, and can be changed.
      expect(await other.page.locator('.who').innerText()).toContain('Ida');
      await other.press('Change');
      await other.fill(identifier, 'Ada');
      await other.enter();
      await other.fill('Password', password);
      await other.press('Sign in');
      expectSignedIn(other);
      const person = await beginAnew();
      await person.fill(identifier, 'eve@acme.example');
      await person.press('Continue');
      await signIn(person, 'eve');
      await person.fill('User name', 'eve');
      await person.enter();
      expectSignedIn(person);
      await admin.done('deleteIdentityProvider', { id });
    });

    test('a program’s person confirms what they began', async () => {
      const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
      const { id } = await prisma.identityProvider.findFirstOrThrow({ where: { name: 'Club' } });
      const { url } = await step(send, 'startFederation', { identityProviderId: id });
      const person = await somebody();
      await person.arrive(String(url));
      await signIn(person, 'kim');
      await person.press('Continue');
      expect(await person.heading()).toBe('You can go back now');
    });
  });

  test('consent is granted, and denied', async () => {
    const asking = await fixture.createApplication({
      name: 'Plant Journal',
      isThirdParty: true,
      redirectUris: [redirectUri],
    });
    const asked = {
      client_id: asking.id,
      scope: 'openid profile email offline_access read',
      resource: fixture.resource.indicator,
    };
    const denying = await beginAnew(asked);
    await signIn(denying, 'Ada');
    await denying.press('Deny');
    expect([isBack(denying), resultOf(denying).get('error')]).toEqual([true, 'access_denied']);
    const granting = await beginAnew(asked);
    await signIn(granting, 'Ada');
    await granting.press('Use another account');
    await signIn(granting, 'Ada');
    await granting.press('Allow');
    expectSignedIn(granting);
  });

  test('a sign-in that is over begins again', async () => {
    const person = await beginAnew();
    await person.fill(identifier, 'Ada');
    await person.fill('Password', password);
    advance(61 * 60);
    await person.enter();
    await person.press('Begin again');
    await signIn(person, 'Ada');
    expectSignedIn(person);
  });

  test('a service that fails, is away, or has too much to do', async () => {
    const person = await beginAnew();
    const failing = async (table: string, code: string, act: () => Promise<unknown>) => {
      await prisma.$executeRawUnsafe(
        `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fails' USING ERRCODE = '${code}'; END $$`,
      );
      await prisma.$executeRawUnsafe(
        `CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON "${table}" EXECUTE FUNCTION fail()`,
      );
      await act();
      await prisma.$executeRawUnsafe('DROP FUNCTION fail CASCADE');
    };
    await failing('AttemptCount', 'P0001', () => signIn(person, 'Ada'));
    expect(await person.heading()).toBe('Something went wrong');
    await person.press('Try again');
    await failing('AttemptCount', '57P01', () => signIn(person, 'Ada'));
    expect(await person.heading()).toBe('Back in a moment');
    await person.press('Try again');
    await failing('OidcRecord', '57P01', beginAnew);
    await person.fill(identifier, 'Ada');
    await person.fill('Password', password);
    for (let i = 0; i < addressLimits.request.most; i += 1)
      await (await fetch(`${service.url}/sign-in/callback`)).arrayBuffer();
    await person.enter();
    expect(await person.heading()).toBe('Please wait a moment');
    advance(61);
    await person.press('Try again');
    await signIn(person, 'Ada');
    expectSignedIn(person);
  });

  test('a request that nobody can answer leads to the account', async () => {
    const person = await beginAnew({ client_id: 'nobody' });
    await person.press('Go to your account');
    expect(await person.heading()).toBe('Sign in');
    await person.arrive(`${issuer}/auth?state=%00`);
    await person.press('Go to your account');
  });

  test('a sign-out is declined, and confirmed', async () => {
    const person = await beginAnew();
    await signIn(person, 'Ada');
    expectSignedIn(person);
    await person.arrive(`${issuer}/session/end`);
    await person.press('Stay signed in');
    expect(await person.heading()).toBe('Your account');
    await begin(person);
    expectSignedIn(person);
    await person.arrive(`${issuer}/session/end`);
    await person.press('Sign out');
    await person.press('Go to your account');
    expect(await person.heading()).toBe('Sign in');
  });

  test('the code of a device: a wrong one, the right one, and one that is declined', async () => {
    const tv = await fixture.createApplication({ type: 'NATIVE', allowDeviceGrant: true });
    const { baseUrl } = service.app.services;
    const person = await somebody();
    await person.arrive(`${baseUrl}/device`);
    await person.fill('Code', 'BCDF-GHJK');
    await person.enter();
    await person.fill('Code', await askUserCode(service, tv));
    await person.enter();
    await person.press('Continue');
    await signIn(person, 'Ada');
    expect(await person.heading()).toBe('Your device is connected');
    await person.arrive(`${baseUrl}/device?user_code=${await askUserCode(service, tv)}`);
    await person.press('Continue');
    await person.press('Do not connect');
    await person.press('Go to your account');
  });

  test('forms that would be sent by themselves', async () => {
    const person = await somebody({ javaScriptEnabled: false });
    await begin(person, { response_mode: 'form_post' });
    await signIn(person, 'Ada');
    await person.press('Continue');
    expect(person.page.url()).toBe(redirectUri);
    const { username } = await fixture.createUser();
    await begin(person, { prompt: 'login' });
    await signIn(person, username);
    expect(await person.heading()).toBe('Continue as another person');
    await person.press('Continue');
    expectSignedIn(person);
    await person.page.context().clearCookies();
    await person.arrive(`${issuer}/session/end`);
    await person.press('Continue');
    expect(await person.heading()).toBe('You are signed out');
  });

  test('no page is left out', () => {
    expect([...seen].sort()).toEqual(rendered.all);
  });

  test('breaks no policy, logs no error, loads nothing foreign', () => {
    expect(complaints).toEqual([]);
    const known = [service.app.services.baseUrl, there.app.services.baseUrl, redirectUri];
    expect([...hosts].sort()).toEqual(known.map((url) => new URL(url).host).sort());
  });
});
