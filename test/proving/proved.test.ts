import { describe, expect, test } from 'vitest';
import { startViewerFederation } from '../../src/experience/federation/viewer.ts';
import type { User } from '../../src/generated/prisma/client.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { createAccountFixture, endOfLog, recordedSince } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
  passThrough,
} from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { openSignInPage, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createAccountFixture(service);
const { client, newPerson } = fixture;
const { prisma } = fixture.database;
const admin = await manager(service);
const program = await fixture.createApplication({ allowHeadlessSignIn: true });
const club = await startOpenIdProvider();
const identityProviderId = await connectSteered(service, club, 'Club');

type Kind = 'email' | 'phone';
type Me = Awaited<ReturnType<typeof newPerson>>['me'];

let people = 0;
/** Somebody with two addresses, neither of them verified, who is signed in. */
function somebody() {
  people += 1;
  return newPerson({ primaryPhone: `+4915100000${String(people).padStart(3, '0')}` });
}

const addressOf = ({ primaryEmail, primaryPhone }: User, kind: Kind) =>
  (kind === 'email' ? primaryEmail : primaryPhone) ?? '';
const begin = async () =>
  (await startHeadless(service, { clientId: program.id, redirectUri })).send;

async function byCode(user: User, kind: Kind, purpose: 'SIGN_IN' | 'RESET_PASSWORD') {
  const send = await begin();
  const address = addressOf(user, kind);
  const { verification } = await step(send, 'sendCode', { purpose, [kind]: address });
  const code = await codeTo(service, address);
  await step(send, 'verifyCode', { verificationId: verification.id, code });
  return send;
}

async function byReset(user: User, kind: Kind) {
  const send = await byCode(user, kind, 'RESET_PASSWORD');
  await step(send, 'resetPassword', { password: 'another horse battery staple' });
}

/** A code by the pages, which post forms. */
async function byPage(user: User) {
  const { browser, visit } = await openSignInPage(service, client);
  const address = user.primaryEmail ?? '';
  const asked = await browser.open(`${visit.url.pathname}/code`);
  const sent = await browser.submit(asked, { email: address });
  await browser.submit(sent, { code: await codeTo(service, address) });
}

async function atAccount(user: User, kind: Kind, me: Me) {
  const address = addressOf(user, kind);
  const { verification } = await me.run('sendViewerCode', { [kind]: address });
  const code = await codeTo(service, address);
  await me.run('verifyViewerCode', { verificationId: verification.id, code });
}

async function byToken({ primaryEmail }: User) {
  const { token } = await admin.done('createOneTimeToken', { email: primaryEmail });
  await step(await begin(), 'redeemOneTimeToken', { email: primaryEmail, token });
}

const claimsOf = ({ primaryEmail }: User, values: object = {}) => ({
  email: primaryEmail,
  email_verified: true,
  ...values,
});

async function come({ id }: User, claims: object) {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, 'Club');
  return { browser, visit: await browser.open(club.signedIn(url, `club-${id}`, { ...claims })) };
}

/** A sign-in with an identity that was linked before. */
async function byIdentity(user: User, claims: object) {
  await prisma.userIdentity.create({
    data: {
      id: `identity-${user.id}`,
      userId: user.id,
      identityProviderId,
      issuer: club.issuer,
      subject: `club-${user.id}`,
      email: user.primaryEmail,
      linkedAt: service.clock.now(),
    },
  });
  await come(user, claims);
}

/** Comes from the provider, signs in by password, and is linked by that. */
async function byJoining(user: User) {
  const { browser, visit } = await come(user, claimsOf(user));
  await browser.submit(visit, { identifier: user.username ?? '', password });
}

/** Links an identity at the account. */
async function byLinking(user: User, claims: object) {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ username: user.username ?? '', password, browser });
  const { url } = await startViewerFederation(
    service.app.services,
    { userId: user.id, clientId: client.id },
    { identityProviderId },
  );
  club.expect(`club-${user.id}`, { ...claims });
  expect((await browser.open(await passThrough(url))).status).toBe(200);
}

async function flagsAfter(way: (user: User, me: Me) => Promise<unknown>) {
  const { user, me } = await somebody();
  const start = await endOfLog(service);
  await way(user, me);
  const { isEmailVerified, isPhoneVerified } = await prisma.user.findUniqueOrThrow({
    where: { id: user.id },
  });
  const told = (await recordedSince(service, start)).flatMap(({ type, actor, data }) => {
    const { changes = {} } = data as { changes?: Record<string, unknown> };
    const flags = Object.keys(changes).filter((field) => /^is(Email|Phone)Verified$/.test(field));
    return flags.map((field) => ({ type, field, by: (actor as { id?: string }).id === user.id }));
  });
  return { isEmailVerified, isPhoneVerified, told };
}

const noted = (field: 'isEmailVerified' | 'isPhoneVerified') => ({
  isEmailVerified: field === 'isEmailVerified',
  isPhoneVerified: field === 'isPhoneVerified',
  told: [{ type: 'User.Data.Updated', field, by: true }],
});
const email = noted('isEmailVerified');
const phone = noted('isPhoneVerified');
const nothing = { isEmailVerified: false, isPhoneVerified: false, told: [] };

describe('what shows that somebody holds an address', () => {
  test.each<[string, (user: User, me: Me) => Promise<unknown>, object]>([
    ['a code by e-mail that signed in', (user) => byCode(user, 'email', 'SIGN_IN'), email],
    ['a code by SMS that signed in', (user) => byCode(user, 'phone', 'SIGN_IN'), phone],
    ['a code on the pages', byPage, email],
    ['a reset by e-mail', (user) => byReset(user, 'email'), email],
    ['a reset by SMS', (user) => byReset(user, 'phone'), phone],
    ['a code by e-mail at the account', (user, me) => atAccount(user, 'email', me), email],
    ['a code by SMS at the account', (user, me) => atAccount(user, 'phone', me), phone],
    ['a one-time token', byToken, email],
    ['a provider that verified it', (user) => byIdentity(user, claimsOf(user)), email],
    ['a provider that verified it, linked at the sign-in', byJoining, email],
    [
      'a provider that verified it, linked at the account',
      (user) => byLinking(user, claimsOf(user)),
      email,
    ],
  ])('%s', async (_name, way, expected) => {
    expect(await flagsAfter(way)).toEqual(expected);
  });
});

describe('what does not', () => {
  test.each<[string, (user: User, me: Me) => Promise<unknown>]>([
    [
      'a password',
      async ({ username }) =>
        step(await begin(), 'signInWithPassword', { identifier: username, password }),
    ],
    [
      'a code that was taken, but chose no password',
      (user) => byCode(user, 'email', 'RESET_PASSWORD'),
    ],
    [
      'a code to an address that is new to the account',
      (user, me) => atAccount({ ...user, primaryEmail: `new-${user.primaryEmail}` }, 'email', me),
    ],
    [
      'a provider that did not verify it',
      (user) => byIdentity(user, claimsOf(user, { email_verified: false })),
    ],
    [
      'a provider that verified another',
      (user) => byIdentity(user, claimsOf(user, { email: `other-${user.primaryEmail}` })),
    ],
    [
      'a provider that did not verify it, linked at the account',
      (user) => byLinking(user, claimsOf(user, { email_verified: false })),
    ],
  ])('%s', async (_name, way) => {
    expect(await flagsAfter(way)).toEqual(nothing);
  });

  test('a provider whose setter may not prove who the person is', async () => {
    await prisma.identityProvider.update({
      where: { id: identityProviderId },
      data: { setterScopes: [] },
    });
    const { id: roleId } = await prisma.role.findFirstOrThrow({ where: { name: 'Administrator' } });
    const rise = ({ id: userId }: User) =>
      prisma.userRole.create({ data: { userId, roleId, setterScopes: ['all'] } });
    for (const way of [byIdentity, byLinking]) {
      const outcome = await flagsAfter(async (user) => {
        await rise(user);
        await way(user, claimsOf(user));
      });
      expect(outcome).toEqual(nothing);
    }
  });
});

test('what is verified already is not told again', async () => {
  const { user, me } = await somebody();
  await atAccount(user, 'email', me);
  const start = await endOfLog(service);
  await atAccount(user, 'email', me);
  expect(await recordedSince(service, start)).toEqual([]);
});

test('a provider that verified the same address asks nobody who they are after that', async () => {
  const { user } = await somebody();
  await byCode(user, 'email', 'SIGN_IN');
  const { visit } = await come(user, claimsOf(user));
  expect(visit.url.href).toContain(redirectUri);
});
