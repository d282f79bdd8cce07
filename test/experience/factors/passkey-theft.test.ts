import { expect, test } from 'vitest';
import { asPage, startHeadless, step } from '../../support/people/experience.ts';
import { codeTo, messagesTo } from '../../support/people/messages.ts';
import { createAuthenticator } from '../../support/people/passkeys/authenticator.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { clock } = service;
const { baseUrl } = service.app.services;
const { origin } = new URL(baseUrl);
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const thirdParty = await fixture.createApplication({ isThirdParty: true });
const token = await service.managementToken();
await changeSettings(service, token, { factors: ['PASSKEY'] });

let count = 0;
async function createPerson() {
  count += 1;
  const primaryEmail = `owner${count}@example.com`;
  return { ...(await fixture.createUser({ primaryEmail })), primaryEmail };
}

const start = () => startHeadless(service, { clientId: client.id, redirectUri });
async function identify(identifier: string) {
  const headless = await start();
  await step(headless.send, 'signInWithPassword', { identifier, password });
  return headless;
}
const passkeysOf = (userId: string) => prisma.userFactor.count({ where: { userId } });

test('a session adds no passkey where it is asked for consent', async () => {
  const person = await createPerson();
  const browser = openBrowser(baseUrl);
  await prisma.user.update({
    where: { id: person.id },
    data: { enrollmentSkippedAt: clock.now() },
  });
  await fixture.signIn({ browser, username: person.primaryEmail });
  const visit = await browser.open((await authorize(service, thirdParty)).url);
  expect(visit.url.pathname).toMatch(/\/consent$/);
  const begun = await step(asPage(service, browser), 'startPasskeyEnrollment');
  expect(begun).toMatchObject({ code: 'NOT_ALLOWED' });
});

test('an old password adds no passkey after its change', async () => {
  const person = await createPerson();
  const thief = await identify(person.primaryEmail);
  const { options } = await step(thief.send, 'startPasskeyEnrollment');
  const response = createAuthenticator(origin).create(options);
  clock.advance(2_000);
  const owner = await start();
  const email = person.primaryEmail;
  const sent = await step(owner.send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
  const verificationId = sent['verification'].id;
  await step(owner.send, 'verifyCode', { verificationId, code: await codeTo(service, email) });
  await step(owner.send, 'resetPassword', { password: 'a long way home, twice' });
  const expired = { code: 'INTERACTION_EXPIRED' };
  expect(await step(thief.send, 'confirmPasskey', { response })).toMatchObject(expired);
  expect(await step(thief.send, 'startPasskeyEnrollment')).toMatchObject(expired);
  expect(await passkeysOf(person.id)).toBe(0);
});

test('a person is told of a new passkey', async () => {
  const person = await createPerson();
  const { send } = await identify(person.primaryEmail);
  const { options } = await step(send, 'startPasskeyEnrollment');
  const response = createAuthenticator(origin).create(options);
  await step(send, 'confirmPasskey', { response });
  expect(await passkeysOf(person.id)).toBe(1);
  expect(await messagesTo(service, person.primaryEmail)).toMatchObject([
    { template: 'FACTOR_ADDED' },
  ]);
});

test('guesses at one nameless person lock out no other', async () => {
  const [mallory, alice] = await Promise.all(
    ['mallory', 'alice'].map(async (username) => {
      const user = await fixture.createUser({ username });
      const { send } = await identify(username);
      const authenticator = createAuthenticator(origin);
      const { options } = await step(send, 'startPasskeyEnrollment');
      const response = authenticator.create(options);
      await step(send, 'confirmPasskey', { response });
      // An administrator took the user name away; the passkey still signs in.
      await prisma.user.update({ where: { id: user.id }, data: { username: null } });
      return authenticator;
    }),
  );
  const use = async (authenticator: typeof mallory, lies = {}) => {
    const { send } = await start();
    const { options } = await step(send, 'startPasskey');
    const response = authenticator?.get(options, lies);
    return step(send, 'verifyPasskey', { response });
  };
  for (let guess = 0; guess < 12; guess += 1) await use(mallory, { forges: true });
  expect(await use(mallory)).toMatchObject({ code: 'LOCKED' });
  expect(await use(alice)).toMatchObject({ __typename: 'VerifyPasskeyPayload' });
});
