import type { Browser } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { newcomerOf } from '../../../src/experience/steps.ts';
import type { Newcomer } from '../../../src/generated/prisma/client.ts';
import { settledEvents } from '../../support/events.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { startApplicationServer } from '../../support/peers/application-server.ts';
import { chromiumPath, leaveChromium, openChromium } from '../../support/peers/chromium.ts';
import { type MailServer, startMailServer } from '../../support/peers/mail-server.ts';
import { allowPrivate } from '../../support/people/federation.ts';
import { useMailServer } from '../../support/people/messages.ts';
import {
  formsDriver,
  openPagesInChromium,
  pagesDriver,
} from '../../support/people/page-drivers.ts';
import { cookieDriver, type Driver, headlessDriver } from '../../support/people/sign-in-drivers.ts';
import { createSignInFixture, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const endpoint = { url: service.url, token: await service.managementToken() };
await changeSettings(service, endpoint.token, { signUpIdentifiers: ['USERNAME', 'EMAIL'] });
const admin = createMaker(overGraphQL(service, endpoint.token));
const application = await startApplicationServer();
afterAll(() => application.stop());
const client = await fixture.createApplication({
  allowHeadlessSignIn: true,
  redirectUris: [redirectUri, application.redirectUri],
});
const password = 'a long way home, twice';

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
const drivers: readonly Driver[] = [
  headlessDriver,
  cookieDriver,
  formsDriver,
  ...(chromiumPath ? [chromiumDriver] : []),
];

let count = 0;
const newName = () => {
  count += 1;
  return `person${count}`;
};
const codeIn = async (server: MailServer, count: number): Promise<string> =>
  /\b\d{6}\b/.exec((await server.arrived(count))[count - 1]?.mail.text ?? '')?.[0] ?? '';

describe.each(drivers)('by $name', (driver) => {
  test.each([
    ['δοκιμή', 'ΔΟΚΙΜΉ'],
    ['用户', '用户'],
    ['Zoë', 'zoe\u0308'],
  ])('%s signs up with a code, and signs in as %s', async (local, otherwise) => {
    const server = await startMailServer();
    await useMailServer(endpoint, server);
    const domain = `${newName()}.παράδειγμα.example`;
    const [email, again] = [`${local}@${domain}`, `${otherwise}@${domain.toUpperCase()}`];
    const person = await driver.start(service, client);
    expect(await person.sendCode('REGISTER', { email })).toMatchObject({ code: 'OK' });
    expect(await person.verifyCode(await codeIn(server, 1))).toMatchObject({ code: 'OK' });
    expect(await person.register({ username: newName(), password })).toMatchObject({ code: 'OK' });
    const sub = (await person.submit()).claims()?.sub ?? '';
    expect(await prisma.user.findUniqueOrThrow({ where: { id: sub } })).toMatchObject({
      primaryEmail: email,
      isEmailVerified: true,
    });

    const byPassword = await driver.start(service, client);
    expect(await byPassword.signInWithPassword(again, password)).toMatchObject({ code: 'OK' });
    expect((await byPassword.submit()).claims()?.sub).toBe(sub);

    const byCode = await driver.start(service, client);
    expect(await byCode.sendCode('SIGN_IN', { email: again })).toMatchObject({ code: 'OK' });
    expect(await byCode.verifyCode(await codeIn(server, 2))).toMatchObject({ code: 'OK' });
    expect((await byCode.submit()).claims()?.sub).toBe(sub);
  });

  test('an address that cannot be sent to is refused, and a password still signs in', async () => {
    await useMailServer(endpoint, await startMailServer({ hideSMTPUTF8: true }));
    const primaryEmail = `δοκιμή@${newName()}.example`;
    const { id } = await fixture.createUser({ primaryEmail });
    for (const purpose of ['REGISTER', 'SIGN_IN', 'RESET_PASSWORD'] as const) {
      const person = await driver.start(service, client);
      expect(await person.sendCode(purpose, { email: primaryEmail })).toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
    const person = await driver.start(service, client);
    await person.signInWithPassword(primaryEmail, 'correct horse battery staple');
    expect((await person.submit()).claims()?.sub).toBe(id);
  });
});

test('an address that a provider told is the same however the person types it', () => {
  const told = { confirmation: null, email: 'zoë@παράδειγμα.example' } as Newcomer;
  const typed = 'ZOE\u0308@xn--hxajbheg2az3al.EXAMPLE';
  expect(newcomerOf({ newcomer: told }, typed)).toBe(told);
  expect(newcomerOf({ newcomer: told }, 'zoe@παράδειγμα.example')).toBeNull();
});

test('tokens and events have the address in Unicode', async () => {
  const primaryEmail = 'δοκιμή@παράδειγμα.example';
  await useMailServer(endpoint, await startMailServer());
  const { user } = await admin.done('createUser', { primaryEmail, password });
  const request = { username: 'ΔΟΚΙΜΉ@παράδειγμα.example', password, scope: 'openid email' };
  const tokens = await fixture.signIn(request);
  expect(tokens.claims()).toMatchObject({ sub: user.id, email: primaryEmail });
  expect(await settledEvents(service, endpoint.token)).toContainEqual(
    expect.objectContaining({
      name: 'User.Created',
      data: expect.objectContaining({ primaryEmail }),
    }),
  );
});
