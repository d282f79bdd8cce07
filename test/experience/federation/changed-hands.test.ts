import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { createAccountFixture } from '../../support/people/account.ts';
import { enrollApp } from '../../support/people/authenticator-app.ts';
import { asPage, type Send, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../../support/people/federation.ts';
import { codeTo } from '../../support/people/messages.ts';
import { headlessDriver } from '../../support/people/sign-in-drivers.ts';
import { openSignInPage, password, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createAccountFixture(service);
const { client, database } = fixture;
const { prisma } = database;
const admin = await manager(service);
const app = await fixture.createApplication({ allowHeadlessSignIn: true });
const club = await startOpenIdProvider(service.clock);
const clubId = await connectSteered(service, club, 'Club');

// All come from one address, which may send so much in a minute.
beforeEach(() => service.clock.advance(61_000));

const submitted = { redirectTo: expect.any(String) };
const notAllowed = { code: 'NOT_ALLOWED' };
const failed = { code: 'VERIFICATION_FAILED' };

let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `hands${addresses}@example.com`;
};

const createHolder = (primaryEmail: string, values: object = {}) =>
  fixture.createUser({ primaryEmail, isEmailVerified: true, ...values });

/** Every way in which an account gives its address up. */
const giveUp = {
  updateUser: (id: string, address: string) =>
    admin.done('updateUser', { id, primaryEmail: `moved-${address}` }),
  deleteUser: (id: string) => admin.done('deleteUser', { id }),
  updateViewerEmail: async (id: string, address: string) => {
    const { username } = await prisma.user.findUniqueOrThrow({ where: { id } });
    const me = await fixture.signInTo(username ?? '');
    await me.run('verifyViewerPassword', { password });
    const email = `moved-${address}`;
    const { verification } = await me.run('sendViewerCode', { email });
    const verificationId = verification.id;
    await me.run('verifyViewerCode', { verificationId, code: await codeTo(service, email) });
    expect(await me.run('updateViewerEmail', { verificationId })).not.toHaveProperty('code');
  },
};
const waysToGiveUp = Object.keys(giveUp) as (keyof typeof giveUp)[];

/** Comes back from the club, which has verified the address. */
async function come(subject: string, email: string) {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, 'Club');
  const back = await browser.open(club.signedIn(url, subject, { email, email_verified: true }));
  return { visit: back, send: asPage(service, browser) };
}

const errorOf = async (send: Send) =>
  (await send('{ interaction { error } }')).body.data?.['interaction']?.['error'];

const ownerOf = async (subject: string) =>
  (await prisma.userIdentity.findFirst({ where: { subject } }))?.userId ?? null;

const membersOf = async (organizationId: string) =>
  (await prisma.organizationUser.findMany({ where: { organizationId } })).map(
    ({ userId }) => userId,
  );

describe('an invitation', () => {
  test.each(waysToGiveUp)(
    'of an address that its account gave up by %s is not for the next owner',
    async (change) => {
      const invitee = newAddress();
      const first = await createHolder(invitee);
      const id = await admin.invitation({ invitee: invitee.toUpperCase() });
      await giveUp[change](first.id, invitee);
      const next = await createHolder(invitee);
      const me = await fixture.signInTo(next.username ?? '');
      expect(await me.run('acceptViewerInvitation', { id })).toMatchObject(notAllowed);
      const { organizationId, status } = await prisma.organizationInvitation.findUniqueOrThrow({
        where: { id },
      });
      expect(status).toBe('REVOKED');
      expect(await membersOf(organizationId)).toEqual([]);
      // One that is made for them is.
      const again = await admin.invitation({ invitee, organizationId });
      expect(await me.run('acceptViewerInvitation', { id: again })).not.toHaveProperty('code');
      expect(await membersOf(organizationId)).toEqual([next.id]);
    },
  );

  test('is void whichever of thousands it is', async () => {
    const invitee = newAddress();
    const holder = await createHolder(invitee);
    const organizations = 1_001;
    const expiresAt = new Date(service.clock.now().getTime() + 3_600_000);
    await prisma.$executeRaw`
      INSERT INTO "Organization" ("id", "name", "createdAt", "updatedAt")
      SELECT 'inviting' || n, 'Inviting', now(), now() FROM generate_series(1, ${organizations}::int) n`;
    await prisma.$executeRaw`
      INSERT INTO "OrganizationInvitation" ("id", "organizationId", "invitee", "expiresAt", "createdAt", "updatedAt")
      SELECT 'inviting' || n, 'inviting' || n, ${invitee}, ${expiresAt}::timestamptz, now(), now()
        FROM generate_series(1, ${organizations}::int) n`;
    await admin.done('updateUser', { id: holder.id, primaryEmail: `moved-${invitee}` });
    const subjectId = { startsWith: 'inviting' };
    const type = 'OrganizationInvitation.Data.Updated';
    expect(await prisma.event.count({ where: { type, subjectId } })).toBe(organizations);
    const pending = { invitee, status: 'PENDING' } as const;
    expect(await prisma.organizationInvitation.count({ where: pending })).toBe(0);
  });

  test('of an address that nobody had is for whoever gets it', async () => {
    const invitee = newAddress();
    const id = await admin.invitation({ invitee });
    const other = await createHolder(newAddress());
    await admin.done('updateUser', { id: other.id, primaryEmail: invitee, isEmailVerified: true });
    const me = await fixture.signInTo(other.username ?? '');
    expect(await me.run('acceptViewerInvitation', { id })).not.toHaveProperty('code');
  });
});

describe('a code that somebody read before the owner gave the address up', () => {
  test.each(waysToGiveUp)('by %s gives it to no other account', async (change) => {
    const email = newAddress();
    const first = await createHolder(email);
    const other = await createHolder(newAddress());
    const me = await fixture.signInTo(other.username ?? '');
    await me.run('verifyViewerPassword', { password });
    const { verification } = await me.run('sendViewerCode', { email });
    const verificationId = verification.id;
    await me.run('verifyViewerCode', { verificationId, code: await codeTo(service, email) });
    await giveUp[change](first.id, email);
    expect(await me.run('updateViewerEmail', { verificationId })).toMatchObject(failed);
    const next = await createHolder(email);
    expect(await prisma.user.findMany({ where: { primaryEmail: email } })).toMatchObject([
      { id: next.id },
    ]);
  });

  test.each(waysToGiveUp)('by %s resets no password of the next owner', async (change) => {
    const email = newAddress();
    const first = await createHolder(email);
    const person = await headlessDriver.start(service, app);
    await person.sendCode('RESET_PASSWORD', { email });
    expect(await person.verifyCode(await codeTo(service, email))).toMatchObject({ code: 'OK' });
    await giveUp[change](first.id, email);
    const next = await createHolder(email);
    expect(await person.resetPassword('of somebody else entirely')).toMatchObject(notAllowed);
    expect(await prisma.user.findUniqueOrThrow({ where: { id: next.id } })).toMatchObject({
      passwordDigest: next.passwordDigest,
    });
  });

  test('by SMS opens no account that has the number next, and gives it to no other', async () => {
    await changeSettings(service, await service.managementToken(), {
      signInIdentifiers: ['USERNAME', 'EMAIL', 'PHONE'],
    });
    const phone = '+4915112300777';
    const first = await createHolder(newAddress(), { primaryPhone: phone });
    const other = await createHolder(newAddress());
    const me = await fixture.signInTo(other.username ?? '');
    await me.run('verifyViewerPassword', { password });
    const { verification } = await me.run('sendViewerCode', { phone: '0049 (0)151 12300777' });
    const verificationId = verification.id;
    await me.run('verifyViewerCode', { verificationId, code: await codeTo(service, phone) });
    const person = await headlessDriver.start(service, app);
    await person.sendCode('SIGN_IN', { phone });
    const code = await codeTo(service, phone);
    await admin.done('updateUser', { id: first.id, primaryPhone: null });
    expect(await me.run('updateViewerPhone', { verificationId })).toMatchObject(failed);
    await createHolder(newAddress(), { primaryPhone: phone });
    expect(await person.verifyCode(code)).toMatchObject(failed);
  });

  test('makes no second account with it', async () => {
    await changeSettings(service, await service.managementToken(), {
      signUpIdentifiers: ['EMAIL'],
    });
    const email = newAddress();
    const person = await headlessDriver.start(service, app);
    await person.sendCode('REGISTER', { email });
    expect(await person.verifyCode(await codeTo(service, email))).toMatchObject({ code: 'OK' });
    const holder = await createHolder(email);
    const values = { password: 'a long way home, twice' };
    expect(await person.register(values)).toMatchObject({ code: 'CONFLICT' });
    await giveUp.deleteUser(holder.id);
    expect(await person.register(values)).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await prisma.user.count({ where: { primaryEmail: email } })).toBe(0);
  });
});

describe('an address that moves while a person comes from a provider', () => {
  test('is linked to who has it when they sign in, and not to who had it', async () => {
    const email = newAddress();
    const [first, next] = [
      await createHolder(email, { isEmailVerified: false }),
      await createHolder(newAddress(), { isEmailVerified: false }),
    ];
    const [one, another] = [await come('moving-one', email), await come('moving-two', email)];
    for (const { send } of [one, another]) expect(await errorOf(send)).toBe('account_exists');
    await giveUp.updateUser(first.id, email);
    await admin.done('updateUser', { id: next.id, primaryEmail: email });
    const signIn = (send: Send, { username }: typeof first) =>
      step(send, 'signInWithPassword', { identifier: username, password });
    await signIn(one.send, first);
    expect(await step(one.send, 'submitInteraction')).toMatchObject(submitted);
    expect(await ownerOf('moving-one')).toBeNull();
    await signIn(another.send, next);
    expect(await step(another.send, 'submitInteraction')).toMatchObject(submitted);
    expect(await ownerOf('moving-two')).toBe(next.id);
  });

  test('signs nobody in past a second factor', async () => {
    const token = await service.managementToken();
    await changeSettings(service, token, { factors: ['TOTP'] });
    onTestFinished(() => changeSettings(service, token, { factors: [] }));
    const email = newAddress();
    const first = await createHolder(email);
    const enrolling = asPage(service, (await openSignInPage(service, client)).browser);
    await step(enrolling, 'signInWithPassword', { identifier: email, password });
    const authenticator = await enrollApp(enrolling, service.clock);
    service.clock.advance(30_000);
    const { send } = await come('moving-factor', email);
    await giveUp.updateUser(first.id, email);
    const next = await createHolder(email);
    await step(send, 'verifyTotp', { code: authenticator.code() });
    expect(await step(send, 'submitInteraction')).toMatchObject({ code: 'INTERACTION_EXPIRED' });
    expect(await ownerOf('moving-factor')).toBeNull();
    expect(await prisma.session.count({ where: { userId: { in: [first.id, next.id] } } })).toBe(0);
  });

  test('is linked to the first of two whom the provider tells apart', async () => {
    const email = newAddress();
    const holder = await createHolder(email, { isEmailVerified: false });
    const [one, another] = [await come('apart-one', email), await come('apart-two', email)];
    for (const { send } of [one, another]) {
      expect(await errorOf(send)).toBe('account_exists');
      await step(send, 'signInWithPassword', { identifier: email, password });
      expect(await step(send, 'submitInteraction')).toMatchObject(submitted);
    }
    expect(await ownerOf('apart-one')).toBe(holder.id);
    expect(await ownerOf('apart-two')).toBeNull();
  });
});

test('an address that was given to somebody else lets nobody join an organization', async () => {
  const email = newAddress();
  const holder = await createHolder(email);
  await come('joiner-before', email);
  const organizationId = await admin.organization();
  await admin.done('addOrganizationIdentityProvider', {
    organizationId,
    identityProviderId: clubId,
  });
  const { send } = await come('joiner-now', email);
  expect(await errorOf(send)).toBe('address_reassigned');
  await step(send, 'signInWithPassword', { identifier: email, password });
  expect(await step(send, 'submitInteraction')).toMatchObject(submitted);
  expect(await membersOf(organizationId)).toEqual([]);
  expect(await ownerOf('joiner-now')).toBeNull();
  expect(await ownerOf('joiner-before')).toBe(holder.id);
});

test('an identity that is unlinked and linked elsewhere opens that account, and the address its own', async () => {
  const email = newAddress();
  const holder = await createHolder(email);
  await come('roaming', email);
  const identity = await prisma.userIdentity.findFirstOrThrow({ where: { subject: 'roaming' } });
  await admin.done('deleteUserIdentity', { userId: holder.id, identityId: identity.id });
  const other = await createHolder(newAddress());
  await prisma.userIdentity.create({ data: { ...identity, userId: other.id } });
  const { visit } = await come('roaming', email);
  expect(visit.url.href).toContain(redirectUri);
  expect(await ownerOf('roaming')).toBe(other.id);
  await come('roaming-next', email);
  expect(await ownerOf('roaming-next')).toBe(holder.id);
  expect(await prisma.session.count({ where: { userId: other.id } })).toBe(1);
});

describe('the ASCII form of an international address', () => {
  const spellings = () => {
    const local = newAddress().split('@')[0];
    return [`${local}@bücher.example`, `${local?.toUpperCase()}@XN--bcher-KVA.example`] as const;
  };

  test('opens the account by a provider, which knows one subject of it', async () => {
    const [typed, ascii] = spellings();
    const holder = await createHolder(typed);
    await come('book-one', ascii);
    expect(await ownerOf('book-one')).toBe(holder.id);
    expect(await errorOf((await come('book-two', ascii)).send)).toBe('address_reassigned');
  });

  test('opens it by a one-time token, which is void once the address moves', async () => {
    const [typed, ascii] = spellings();
    const first = await createHolder(typed);
    const tokenFor = async () =>
      (await admin.done('createOneTimeToken', { email: ascii })).token as string;
    const before = await tokenFor();
    await giveUp.updateUser(first.id, typed);
    const next = await createHolder(typed);
    const person = await headlessDriver.start(service, app);
    expect(await person.redeemOneTimeToken(ascii, before)).toMatchObject(failed);
    expect(await person.redeemOneTimeToken(ascii, await tokenFor())).toMatchObject({ code: 'OK' });
    expect((await person.submit()).claims()?.sub).toBe(next.id);
  });

  test('is the invitee’s', async () => {
    const [typed, ascii] = spellings();
    const { username } = await createHolder(typed);
    const id = await admin.invitation({ invitee: ascii });
    const me = await fixture.signInTo(username ?? '');
    expect(await me.run('acceptViewerInvitation', { id })).not.toHaveProperty('code');
  });
});
