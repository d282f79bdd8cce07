import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstTypes, settledEvents } from '../support/events.ts';
import { startApplicationServer } from '../support/peers/application-server.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { allowPrivate, createIdentityProvider } from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { formsDriver, openPagesInChromium, pagesDriver } from '../support/people/page-drivers.ts';
import {
  cookieDriver,
  type Driver,
  headlessDriver,
  type Person,
} from '../support/people/sign-in-drivers.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

interface Row {
  readonly action: string;
  readonly events: readonly string[];
}

const rows = JSON.parse(readFileSync(new URL('../fixtures/events.json', import.meta.url), 'utf8'))
  .userActions as Row[];
const eventsOf = (action: string) => rows.find((row) => row.action === action)?.events ?? [];

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { directory, database } = fixture;
const token = await service.managementToken();
await changeSettings(service, token, { signUpIdentifiers: ['USERNAME', 'EMAIL'] });
const application = await startApplicationServer();
afterAll(() => application.stop());
const client = await fixture.createApplication({
  allowHeadlessSignIn: true,
  redirectUris: [redirectUri, application.redirectUri],
});

const company = await startOpenIdProvider(service.clock);
const { issuer, clientId, clientSecret } = company;
const identityProvider = {
  name: 'Company',
  id: await createIdentityProvider(service, {
    ...{ name: 'Company', kind: 'SOCIAL', issuer, clientId, clientSecret },
  }),
};

const newPassword = 'a long way home, twice';
let count = 0;
const next = (word: string) => {
  count += 1;
  return `${word}${count}`;
};

/** The events of the first catalogue that something raises, in their order. */
async function raisedBy(work: () => Promise<unknown>) {
  const before = (await settledEvents(service, token)).length;
  await work();
  const told = (await settledEvents(service, token)).slice(before);
  return told.filter(({ name }) => firstTypes.has(name));
}
const names = (raised: readonly { name: string }[]) => raised.map(({ name }) => name);

const idOf = (event: { data: Record<string, unknown> } | undefined) => String(event?.data['id']);

const register = 'registering';
const signIn = 'signing in';
const reset = 'resetting a forgotten password';
const joinJustInTime =
  'being added to an organization just in time, by e-mail domain or enterprise single sign-on connector';
const linkFactor = 'linking multi-factor authentication';
const linkIdentity = 'linking a social or single sign-on identity';
const lockOut = 'too many consecutive failed password, code or one-time token verifications';
const sendTooOften = 'asking for verification codes beyond the sending limit of one recipient';

/** Rows for which there is nothing yet that a person could do. */
const outOfReach = ['linking an e-mail address or phone number'];

test('covers every row of the catalogue', () => {
  const known = [
    register,
    signIn,
    reset,
    joinJustInTime,
    linkFactor,
    linkIdentity,
    lockOut,
    sendTooOften,
    ...outOfReach,
  ];
  expect(new Set(rows.map(({ action }) => action))).toEqual(new Set(known));
});

async function registerByCode(person: Person, email: string, username = next('person')) {
  expect(await person.sendCode('REGISTER', { email })).toMatchObject({ code: 'OK' });
  const stored = email.replace(/@.*/, (domain) => domain.toLowerCase());
  expect(await person.verifyCode(await codeTo(service, stored))).toMatchObject({ code: 'OK' });
  expect(await person.register({ username, password: newPassword })).toMatchObject({ code: 'OK' });
}

let chromium: Browser | undefined;
afterAll(leaveChromium);
const chromiumDriver = pagesDriver(
  'pages in Chromium',
  async () => {
    chromium ??= await openChromium();
    return openPagesInChromium(chromium);
  },
  () => application.redirectUri,
);

const drivers = [
  headlessDriver,
  cookieDriver,
  formsDriver,
  ...(chromiumPath ? [chromiumDriver] : []),
];

describe.each<Driver>(drivers)('$name', (driver) => {
  // Each starts anew with what one address may fail.
  beforeAll(() => service.clock.advance(11 * 60 * 1000));
  const start = () => driver.start(service, client);

  test(`${register} by user name, and no sign-in beside it`, async () => {
    const person = await start();
    const username = next('person');
    const raised = await raisedBy(async () => {
      const registered = await person.register({ username, password: newPassword });
      expect(registered).toMatchObject({ code: 'OK' });
      const { sub = '' } = (await person.submit()).claims() ?? {};
      expect(await database.prisma.user.findUnique({ where: { id: sub } })).toMatchObject({
        username,
      });
    });
    expect(names(raised)).toEqual(eventsOf(register));
    const id = idOf(raised[0]);
    expect(raised[1]?.data).toMatchObject({
      user: { id },
      applicationId: client.id,
      sessionId: null,
    });
    expect(raised.map(({ actor }) => actor)).toEqual(
      raised.map(() => ({ type: 'USER', id, clientId: client.id })),
    );
  });

  test(`${register} by code`, async () => {
    const email = `${next('ada')}@example.com`;
    const raised = await raisedBy(async () => {
      const person = await start();
      await registerByCode(person, email);
      await person.submit();
    });
    expect(names(raised)).toEqual(eventsOf(register));
    expect(raised[0]?.data).toMatchObject({ primaryEmail: email, isEmailVerified: true });
  });

  test(joinJustInTime, async () => {
    const domain = `${next('company')}.example`;
    const organization = await directory.createOrganization();
    await database.prisma.organizationEmailDomain.create({
      data: { organizationId: organization.id, domain, createdAt: service.clock.now() },
    });
    const raised = await raisedBy(async () => {
      const person = await start();
      await registerByCode(person, `Someone@${domain.toUpperCase()}`);
      await person.submit();
    });
    expect(names(raised)).toEqual([...eventsOf(register), ...eventsOf(joinJustInTime)]);
    expect(raised.at(-1)?.data).toMatchObject({
      organizationId: organization.id,
      addedUserIds: [idOf(raised[0])],
    });
  });

  test(`${joinJustInTime}: by provider`, async () => {
    const organization = await directory.createOrganization();
    await database.prisma.organizationIdentityProvider.create({
      data: {
        organizationId: organization.id,
        identityProviderId: identityProvider.id,
        createdAt: service.clock.now(),
      },
    });
    const user = await fixture.createUser({
      primaryEmail: `${next('member')}@example.com`,
      isEmailVerified: true,
    });
    company.expect(next('subject'), { email: user.primaryEmail, email_verified: true });
    const raised = await raisedBy(async () => {
      const person = await start();
      expect(await person.federate(identityProvider)).toMatchObject({ code: 'OK' });
      await person.submit();
    });
    await database.prisma.organizationIdentityProvider.deleteMany();
    expect(names(raised)).toEqual([
      ...eventsOf(linkIdentity),
      ...eventsOf(joinJustInTime),
      ...eventsOf(signIn),
    ]);
    expect(raised[1]?.data).toMatchObject({
      organizationId: organization.id,
      addedUserIds: [user.id],
    });
  });

  test(linkIdentity, async () => {
    const user = await fixture.createUser({
      primaryEmail: `${next('holder')}@example.com`,
      isEmailVerified: true,
    });
    const subject = next('subject');
    company.expect(subject, { email: user.primaryEmail, email_verified: true });
    const raised = await raisedBy(async () => {
      const person = await start();
      expect(await person.federate(identityProvider)).toMatchObject({ code: 'OK' });
      expect((await person.submit()).claims()).toMatchObject({ sub: user.id, amr: ['fed'] });
    });
    expect(names(raised)).toEqual([...eventsOf(linkIdentity), ...eventsOf(signIn)]);
    expect(raised[0]).toMatchObject({
      actor: { type: 'USER', id: user.id, clientId: client.id },
      data: { id: user.id, changes: { identities: { from: [], to: [identityProvider] } } },
    });
    expect(JSON.stringify(raised)).not.toContain(subject);
  });

  test(`${signIn} by password`, async () => {
    const user = await fixture.createUser();
    const raised = await raisedBy(async () => {
      const person = await start();
      await person.signInWithPassword(user.username ?? '', password);
      expect((await person.submit()).claims()).toMatchObject({ sub: user.id, amr: ['pwd'] });
    });
    expect(names(raised)).toEqual(eventsOf(signIn));
    expect(raised[0]?.data).toMatchObject({
      user: { id: user.id },
      applicationId: client.id,
      sessionId: expect.stringMatching(/^session_/),
    });
  });

  test(`${signIn} by code`, async () => {
    const email = `${next('ada')}@example.com`;
    const user = await fixture.createUser({ primaryEmail: email });
    const raised = await raisedBy(async () => {
      const person = await start();
      await person.sendCode('SIGN_IN', { email });
      await person.verifyCode(await codeTo(service, email));
      expect((await person.submit()).claims()).toMatchObject({ sub: user.id, amr: ['otp'] });
    });
    expect(names(raised)).toEqual(['User.Data.Updated', ...eventsOf(signIn)]);
  });

  test(reset, async () => {
    const email = `${next('ada')}@example.com`;
    const user = await fixture.createUser({ primaryEmail: email });
    const person = await start();
    const raised = await raisedBy(async () => {
      await person.sendCode('RESET_PASSWORD', { email });
      await person.verifyCode(await codeTo(service, email));
      expect(await person.resetPassword(newPassword)).toMatchObject({ code: 'OK' });
      // The pages go on by themselves.
      await person.submit();
    });
    expect(names(raised)).toEqual([...eventsOf(reset), ...eventsOf(signIn)]);
    expect(JSON.stringify(raised)).not.toContain(newPassword);
    const again = await start();
    expect(await again.signInWithPassword(email, password)).toMatchObject({
      code: 'VERIFICATION_FAILED',
    });
    await again.signInWithPassword(email, newPassword);
    expect((await again.submit()).claims()).toMatchObject({ sub: user.id });
  });

  describe('second factors', () => {
    beforeAll(() => changeSettings(service, token, { factors: ['TOTP'] }));
    afterAll(() => changeSettings(service, token, { factors: [] }));

    async function enroll(username: string) {
      const person = await start();
      await person.signInWithPassword(username, password);
      const app = authenticatorApp(service.clock, await person.enrollTotp());
      expect(await person.confirmTotp(app.wrongCode())).toMatchObject({
        code: 'VERIFICATION_FAILED',
      });
      expect(await person.confirmTotp(app.code())).toMatchObject({ code: 'OK' });
      return { person, app };
    }

    test(linkFactor, async () => {
      const user = await fixture.createUser();
      const raised = await raisedBy(async () => {
        const { person } = await enroll(user.username ?? '');
        expect((await person.submit()).claims()).toMatchObject({
          sub: user.id,
          amr: ['pwd', 'otp', 'mfa'],
          acr: 'urn:signet:aal2',
        });
      });
      expect(names(raised)).toEqual([...eventsOf(linkFactor), ...eventsOf(signIn)]);
      expect(raised[0]).toMatchObject({
        actor: { type: 'USER', id: user.id, clientId: client.id },
        data: { id: user.id, changes: { factors: { from: [], to: ['TOTP'] } } },
      });
    });

    test(`${signIn} with a second factor, and ${lockOut}`, async () => {
      const user = await fixture.createUser();
      const { app } = await enroll(user.username ?? '');
      const person = await start();
      await person.signInWithPassword(user.username ?? '', password);
      // The code that confirmed the app is used up.
      expect(await person.verifyTotp(app.code(-1))).toMatchObject({ code: 'VERIFICATION_FAILED' });
      expect(await person.verifyTotp(app.code(1))).toMatchObject({ code: 'OK' });
      expect((await person.submit()).claims()).toMatchObject({ acr: 'urn:signet:aal2' });
      const stranger = await start();
      await stranger.signInWithPassword(user.username ?? '', password);
      const raised = await raisedBy(async () => {
        const codes = [];
        for (let i = 0; i < 10; i += 1)
          codes.push((await stranger.verifyTotp(app.wrongCode())).code);
        expect(codes).toEqual([...Array(9).fill('VERIFICATION_FAILED'), 'LOCKED']);
      });
      expect(names(raised)).toEqual(eventsOf(lockOut));
    });
  });

  test.each([
    ['password', (person: Person, name: string) => person.signInWithPassword(name, 'wrong')],
    [
      'one-time token',
      (person: Person, name: string) => person.redeemOneTimeToken(`${name}@example.com`, 'wrong'),
    ],
  ])(`${lockOut}: %s`, async (_check, guess) => {
    const person = await start();
    const name = next('nobody');
    const raised = await raisedBy(async () => {
      const codes = [];
      for (let i = 0; i < 12; i += 1) codes.push((await guess(person, name)).code);
      expect(codes).toEqual([...Array(9).fill('VERIFICATION_FAILED'), ...Array(3).fill('LOCKED')]);
    });
    expect(names(raised)).toEqual(eventsOf(lockOut));
  });

  test(`${lockOut}: code`, async () => {
    const email = `${next('ada')}@example.com`;
    await fixture.createUser({ primaryEmail: email });
    const person = await start();
    const raised = await raisedBy(async () => {
      await person.sendCode('SIGN_IN', { email });
      const code = await codeTo(service, email);
      const wrong = code === '000000' ? '000001' : '000000';
      const codes = [];
      for (let i = 0; i < 10; i += 1) codes.push((await person.verifyCode(wrong)).code);
      expect(codes).toEqual([...Array(9).fill('VERIFICATION_FAILED'), 'LOCKED']);
      expect(await person.verifyCode(code)).toMatchObject({ code: 'LOCKED' });
    });
    expect(names(raised)).toEqual(eventsOf(lockOut));
  });

  test(sendTooOften, async () => {
    const email = `${next('nobody')}@example.com`;
    const person = await start();
    const raised = await raisedBy(async () => {
      const codes = [];
      for (let i = 0; i < 12; i += 1)
        codes.push((await person.sendCode('SIGN_IN', { email })).code);
      expect(codes).toEqual([...Array(10).fill('OK'), 'RATE_LIMITED', 'RATE_LIMITED']);
    });
    expect(names(raised)).toEqual(eventsOf(sendTooOften));
    expect(raised[0]?.data).toEqual({ action: 'SIGN_IN', recipient: email });
  });
});
