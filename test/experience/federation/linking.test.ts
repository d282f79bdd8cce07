import { describe, expect, test } from 'vitest';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { enrollApp } from '../../support/people/authenticator-app.ts';
import { asPage, readInteraction, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../../support/people/federation.ts';
import { messagesTo } from '../../support/people/messages.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const admin = await manager(service);
const club = await startOpenIdProvider();
const acme = await startOpenIdProvider();
await connectSteered(service, club, 'Club');
await connectSteered(service, acme, 'Acme', {
  kind: 'ENTERPRISE',
  emailDomains: ['acme.example'],
});
await changeSettings(service, await service.managementToken(), { factors: ['TOTP'] });

const submitted = { redirectTo: expect.any(String) };
const subjectsOf = async (userId: string) =>
  (await database.prisma.userIdentity.findMany({ where: { userId } })).map(
    ({ subject }) => subject,
  );

let people = 0;
/** A person who has an account with an address. */
async function person(domain: string, values: object = {}) {
  people += 1;
  const username = `person${people}`;
  const email = `${username}@${domain}`;
  const user = await fixture.createUser({ username, primaryEmail: email, ...values });
  return { id: user.id, username, email };
}

/** Comes back from the club's provider. */
async function byClub(subject: string, claims: object) {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, 'Club');
  const back = await browser.open(club.signedIn(url, subject, { ...claims }));
  return { browser, visit: back, send: asPage(service, browser) };
}

/** Names an address of the company, and comes back from its provider. */
async function byAcme(subject: string, claims: { email: string; email_verified?: boolean }) {
  const { browser, visit } = await openSignInPage(service, client);
  const left = await browser.submit(visit, { identifier: claims.email });
  expect(left.url.href).toContain(`${acme.issuer}/authorize`);
  const back = await browser.open(acme.signedIn(left.url, subject, { ...claims }));
  return { browser, visit: back, send: asPage(service, browser) };
}

describe('a company’s person who has an account already', () => {
  test('signs in to it by password, and is linked', async () => {
    const { id, username, email } = await person('acme.example');
    const { browser, visit, send } = await byAcme(username, { email, email_verified: true });
    expect(visit.body).toContain(`An account with ${email} already exists.`);
    const next = await browser.submit(visit, { identifier: email });
    await browser.submit(next, { identifier: email, password });
    expect(await step(send, 'submitInteraction')).toMatchObject(submitted);
    expect(await subjectsOf(id)).toEqual([username]);
  });

  test('is linked although the provider verifies no address', async () => {
    const { id, username, email } = await person('acme.example', { isEmailVerified: true });
    const first = await byAcme(username, { email });
    const answer = await step(first.send, 'signInWithPassword', { identifier: email, password });
    expect(answer).toMatchObject({ __typename: 'SignInWithPasswordPayload' });
    await step(first.send, 'submitInteraction');
    expect(await subjectsOf(id)).toEqual([username]);
    const again = await byAcme(username, { email });
    expect(await step(again.send, 'submitInteraction')).toMatchObject(submitted);
  });

  test('is linked to no other account of theirs', async () => {
    const { id, email } = await person('acme.example');
    const other = await person('acme.example');
    const { send } = await byAcme('somebody', { email: other.email });
    await step(send, 'signInWithPassword', { identifier: email, password });
    await step(send, 'submitInteraction');
    expect(await subjectsOf(id)).toEqual([]);
  });
});

test('an unverified address elsewhere is never linked', async () => {
  const { id, username, email } = await person('example.com', { isEmailVerified: true });
  const { send } = await byClub(username, { email });
  await step(send, 'signInWithPassword', { identifier: email, password });
  await step(send, 'submitInteraction');
  expect(await subjectsOf(id)).toEqual([]);
});

describe('a person with a second factor', () => {
  async function withFactor() {
    const owner = await person('example.com', { isEmailVerified: true });
    const { browser } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    await step(send, 'signInWithPassword', { identifier: owner.email, password });
    const app = await enrollApp(send, service.clock);
    service.clock.advance(30_000);
    const back = await byClub(owner.username, { email: owner.email, email_verified: true });
    expect(await readInteraction(back.send)).toMatchObject({ nextSteps: ['VERIFY_FACTOR'] });
    return { ...owner, ...back, app };
  }

  test('is linked only after showing it, and is told', async () => {
    const { id, username, email, send, app } = await withFactor();
    expect(await subjectsOf(id)).toEqual([]);
    await step(send, 'verifyTotp', { code: app.code() });
    expect(await step(send, 'submitInteraction')).toMatchObject(submitted);
    expect(await subjectsOf(id)).toEqual([username]);
    expect(await messagesTo(service, email)).toMatchObject([
      { template: 'FACTOR_ADDED' },
      { template: 'IDENTITY_ADDED' },
    ]);
  });

  test.each([
    { primaryEmail: 'moved@example.com', isEmailVerified: true },
    { isEmailVerified: false },
  ])('does not come in when the address changes meanwhile: %j', async (change) => {
    const { id, send, app } = await withFactor();
    await admin.done('updateUser', { id, ...change });
    await step(send, 'verifyTotp', { code: app.code() });
    expect(await step(send, 'submitInteraction')).toMatchObject({ code: 'INTERACTION_EXPIRED' });
    expect(await step(send, 'submitInteraction')).not.toHaveProperty('redirectTo');
    expect(await subjectsOf(id)).toEqual([]);
  });
});

test('of two sign-ins at once, one links', async () => {
  const { id, username, email } = await person('example.com');
  const claims = { email, email_verified: true };
  const both = [await byClub(username, claims), await byClub(username, claims)];
  for (const { send } of both)
    await step(send, 'signInWithPassword', { identifier: email, password });
  const done = await Promise.all(both.map(({ send }) => step(send, 'submitInteraction')));
  for (const one of done) expect(one).toMatchObject(submitted);
  expect(await subjectsOf(id)).toEqual([username]);
});
