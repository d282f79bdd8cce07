import { describe, expect, test } from 'vitest';
import { startViewerFederation } from '../../../src/experience/federation/viewer.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { asPage, type Send, startHeadless, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
  passThrough,
} from '../../support/people/federation.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;
const admin = await manager(service);
const club = await startOpenIdProvider();
const other = await startOpenIdProvider();
const identityProviderId = await connectSteered(service, club, 'Club');
const otherId = await connectSteered(service, other, 'Other');

const submitted = { redirectTo: expect.any(String) };
const subjectsOf = async (userId: string) =>
  (await prisma.userIdentity.findMany({ where: { userId }, orderBy: { subject: 'asc' } })).map(
    ({ subject }) => subject,
  );

const errorOf = async (send: Send) =>
  (await send('{ interaction { error } }')).body.data?.['interaction']?.['error'];

let people = 0;
/** Somebody whose account has an address, and an identity at the club. */
async function holder(values: object = {}) {
  people += 1;
  const username = `holder${people}`;
  const email = `${username}@example.com`;
  const { id } = await fixture.createUser({
    username,
    primaryEmail: email,
    isEmailVerified: true,
    ...values,
  });
  const link = (subject: string, at = club, providerId = identityProviderId) =>
    prisma.userIdentity.create({
      data: {
        id: `identity_${subject}`,
        userId: id,
        identityProviderId: providerId,
        issuer: at.issuer,
        subject,
        email,
        linkedAt: service.clock.now(),
      },
    });
  return { id, username, email, link };
}

/** Comes back from a provider, which has verified the address. */
async function come(subject: string, email: string, at = club, name = 'Club') {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, name);
  const back = await browser.open(at.signedIn(url, subject, { email, email_verified: true }));
  return { browser, visit: back, send: asPage(service, browser) };
}

describe('an address that was given to somebody else', () => {
  test.each([{ isEmailVerified: true }, { isEmailVerified: false }])(
    'opens no account that has an identity there: %j',
    async (values) => {
      const { id, username, email, link } = await holder(values);
      await link(`${username}-before`);
      const { visit, send } = await come(`${username}-now`, email);
      expect(visit.body).toContain(`${email} belongs to an account`);
      expect(await errorOf(send)).toBe('address_reassigned');
      expect(await step(send, 'submitInteraction')).not.toHaveProperty('redirectTo');
      expect(await step(send, 'completeProfile')).toMatchObject({ code: 'NOT_ALLOWED' });
      // Who can enter the account another way does, and nothing is linked.
      await step(send, 'signInWithPassword', { identifier: email, password });
      expect(await step(send, 'submitInteraction')).toMatchObject(submitted);
      expect(await subjectsOf(id)).toEqual([`${username}-before`]);
    },
  );

  test('is told to a program', async () => {
    const { id, username, email, link } = await holder();
    await link(`${username}-before`);
    const app = await fixture.createApplication({ allowHeadlessSignIn: true });
    const { send } = await startHeadless(service, { clientId: app.id, redirectUri });
    const { url } = await step(send, 'startFederation', { identityProviderId });
    club.expect(`${username}-now`, { email, email_verified: true });
    const browser = openBrowser(service.app.services.baseUrl);
    const visit = await browser.open(await passThrough(url));
    const done = await browser.submit(visit, {});
    expect(done.body).toContain(`${email} belongs to an account`);
    expect(await errorOf(send)).toBe('address_reassigned');
    expect(await subjectsOf(id)).toEqual([`${username}-before`]);
  });

  test('is in the log of failed sign-ins, with the account', async () => {
    const { id, username, email, link } = await holder();
    await link(`${username}-before`);
    await come(`${username}-now`, email);
    await expect
      .poll(() =>
        prisma.event.findFirst({
          where: { type: 'SignIn.Failed', data: { path: ['userId'], equals: id } },
        }),
      )
      .toMatchObject({ data: { method: 'PROVIDER', reason: 'PROVIDER' } });
  });

  test('opens it once an administrator has unlinked the one before', async () => {
    const { id, username, email, link } = await holder();
    const before = await link(`${username}-before`);
    await come(`${username}-now`, email);
    await admin.done('deleteUserIdentity', { userId: id, identityId: before.id });
    const { visit } = await come(`${username}-now`, email);
    expect(visit.url.href).toContain(redirectUri);
    expect(await subjectsOf(id)).toEqual([`${username}-now`]);
  });
});

test('an identity at another provider is no sign of it', async () => {
  const { id, username, email, link } = await holder();
  await link(`${username}-club`);
  const { visit } = await come(`${username}-other`, email, other, 'Other');
  expect(visit.url.href).toContain(redirectUri);
  expect(await subjectsOf(id)).toEqual([`${username}-club`, `${username}-other`]);
});

describe('at the account', () => {
  /** Follows the link to a provider, and comes back. */
  async function link(
    userId: string,
    username: string,
    subject: string,
    claims: Record<string, unknown>,
  ) {
    const browser = openBrowser(service.app.services.baseUrl);
    await fixture.signIn({ username, password, browser });
    const { url } = await startViewerFederation(
      service.app.services,
      { userId, clientId: client.id },
      { identityProviderId },
    );
    club.expect(subject, claims);
    return browser.open(await passThrough(url));
  }

  test('a second identity with the account’s address is not linked', async () => {
    const { id, username, email, link: add } = await holder();
    await add(`${username}-before`);
    const claims = { email: email.toUpperCase(), email_verified: true };
    const refused = await link(id, username, `${username}-now`, claims);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('This address belongs to an account');
    expect(await subjectsOf(id)).toEqual([`${username}-before`]);
  });

  test('a second identity with another address is', async () => {
    const { id, username, link: add } = await holder();
    await add(`${username}-a`);
    const claims = { email: `private-${username}@example.org`, email_verified: true };
    expect((await link(id, username, `${username}-b`, claims)).status).toBe(200);
    expect(await subjectsOf(id)).toEqual([`${username}-a`, `${username}-b`]);
  });

  test('the first identity with the account’s address is', async () => {
    const { id, username, email, link: add } = await holder();
    await add(`${username}-other`, other, otherId);
    const claims = { email, email_verified: true };
    expect((await link(id, username, `${username}-club`, claims)).status).toBe(200);
    expect(await subjectsOf(id)).toEqual([`${username}-club`, `${username}-other`]);
  });
});
