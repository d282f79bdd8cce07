import * as oidc from 'openid-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { startViewerFederation } from '../../../src/experience/federation/viewer.ts';
import { mailAddress } from '../../../src/text/address.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { asPage } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
  passThrough,
} from '../../support/people/federation.ts';
import { codeTo } from '../../support/people/messages.ts';
import { discover, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import { headlessDriver } from '../../support/people/sign-in-drivers.ts';
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
const app = await fixture.createApplication({ allowHeadlessSignIn: true });
const [club, acme, rival] = [
  await startOpenIdProvider(service.clock),
  await startOpenIdProvider(service.clock),
  await startOpenIdProvider(service.clock),
];
const clubId = await connectSteered(service, club, 'Club');
await connectSteered(service, club, 'Club again');
const company = { kind: 'ENTERPRISE' };
await connectSteered(service, acme, 'Acme', { ...company, emailDomains: ['acme.example'] });
await connectSteered(service, rival, 'Rival', { ...company, emailDomains: ['rival.example'] });

// All come from one address, which may send so much in a minute.
beforeEach(() => service.clock.advance(20_000));

let people = 0;
const newName = () => {
  people += 1;
  return `somebody${people}`;
};

/** An account, and what the tests call it. */
type Accounts = Record<string, { readonly id: string }>;

/** Whose account a sign-in opened, by the names of the test; or why it opened none. */
async function endOf(visit: Visit, verifier: string, accounts: Accounts): Promise<string> {
  if (!visit.url.href.startsWith(redirectUri)) return 'none';
  const tokens = await oidc.authorizationCodeGrant(await discover(service, client), visit.url, {
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  return nameOf(tokens.claims()?.sub, accounts);
}

const nameOf = (sub: string | undefined, accounts: Accounts) =>
  Object.entries(accounts).find(([, { id }]) => id === sub)?.[0] ?? 'a new one';

type Button = 'Club' | 'Club again';
const byButton =
  (name: Button) =>
  async (accounts: Accounts, subject: string, claims: Record<string, unknown>) => {
    const { browser, visit, verifier } = await openSignInPage(service, client);
    const { url } = await continueWith(browser, visit, name);
    const back = await browser.open(club.signedIn(url, subject, claims));
    return resultOf(back, verifier, accounts, asPage(service, browser));
  };

const byCompany =
  (provider: typeof acme, domain: string) =>
  async (accounts: Accounts, subject: string, claims: Record<string, unknown>) => {
    const { browser, visit, verifier } = await openSignInPage(service, client);
    const left = await browser.submit(visit, { identifier: `${subject}@${domain}` });
    const back = await browser.open(provider.signedIn(left.url, subject, claims));
    return resultOf(back, verifier, accounts, asPage(service, browser));
  };

async function resultOf(
  visit: Visit,
  verifier: string,
  accounts: Accounts,
  send: ReturnType<typeof asPage>,
): Promise<string> {
  const end = await endOf(visit, verifier, accounts);
  if (end !== 'none') return end;
  const { body } = await send('{ interaction { error event } }');
  const interaction = body.data?.['interaction'];
  return interaction?.['error'] ?? (interaction?.['event'] === 'REGISTER' ? 'a new one' : 'none');
}

const come = {
  'a social provider': byButton('Club'),
  'another provider of its issuer': byButton('Club again'),
  'the provider of the company': byCompany(acme, 'acme.example'),
  'the provider of another company': byCompany(rival, 'rival.example'),
} as const;
type Way = keyof typeof come;

const identities = { club, acme, rival };

/** Links an identity as a sign-in of before did. */
async function link(
  userId: string,
  subject: string,
  email: string | null,
  at: keyof typeof identities = 'club',
) {
  const { issuer } = identities[at];
  const provider = await prisma.identityProvider.findFirstOrThrow({
    where: { issuer },
    orderBy: { id: 'asc' },
  });
  return prisma.userIdentity.create({
    data: {
      id: `identity_${subject}`,
      userId,
      identityProviderId: provider.id,
      issuer,
      subject,
      email,
      linkedAt: service.clock.now(),
    },
  });
}

const social = 'a social provider';
const own = 'the provider of the company';
const foreign = 'the provider of another company';
const here = 'example.com';
const there = 'acme.example';

describe('an address that a provider tells, of an account that it does not know', () => {
  test.each<[Way, 'verified' | 'unverified', string, object, string]>([
    [social, 'verified', here, { isEmailVerified: true }, 'holder'],
    [social, 'verified', here, { isEmailVerified: false }, 'account_exists'],
    [social, 'verified', here, { isEmailVerified: true, isSuspended: true }, 'account_unavailable'],
    [social, 'verified', here, { isSuspended: true }, 'account_unavailable'],
    [social, 'unverified', here, { isEmailVerified: true }, 'a new one'],
    [social, 'unverified', here, { isEmailVerified: false }, 'a new one'],
    [social, 'unverified', here, { isEmailVerified: true, isSuspended: true }, 'a new one'],
    // A company's provider alone vouches for its addresses.
    [social, 'verified', there, { isEmailVerified: true }, 'a new one'],
    [social, 'verified', there, { isEmailVerified: false }, 'a new one'],
    [foreign, 'verified', there, { isEmailVerified: true }, 'a new one'],
    [foreign, 'verified', here, { isEmailVerified: true }, 'a new one'],
    [own, 'verified', there, { isEmailVerified: true }, 'holder'],
    [own, 'verified', there, { isEmailVerified: false }, 'account_exists'],
    [own, 'verified', there, { isSuspended: true }, 'account_unavailable'],
    [own, 'unverified', there, { isEmailVerified: true }, 'a new one'],
    [own, 'verified', here, { isEmailVerified: true }, 'a new one'],
  ])('%s, %s, of %s: the account is %j', async (way, state, domain, values, end) => {
    const name = newName();
    const primaryEmail = `${name}@${domain}`;
    const holder = await fixture.createUser({ primaryEmail, ...values });
    for (const email of [primaryEmail, primaryEmail.toUpperCase()]) {
      const subject = `${name}-${email === primaryEmail ? 'typed' : 'upper'}`;
      await prisma.userIdentity.deleteMany({ where: { userId: holder.id } });
      const claims = { email, email_verified: state === 'verified' };
      expect(await come[way]({ holder }, subject, claims)).toBe(end);
    }
    // Nobody else has got the address, and what was not verified here is not now.
    expect(await prisma.user.findMany({ where: { primaryEmail } })).toMatchObject([
      { id: holder.id, isEmailVerified: holder.isEmailVerified },
    ]);
  });
});

describe('an identity that is linked', () => {
  test.each<[string, Way]>([
    ['opens its account with the address', social],
    ['opens its account by another provider of the issuer', 'another provider of its issuer'],
  ])('%s', async (_what, way) => {
    const name = newName();
    const email = `${name}@${here}`;
    const holder = await fixture.createUser({ primaryEmail: email });
    await link(holder.id, name, email);
    expect(await come[way]({ holder }, name, { email, email_verified: true })).toBe('holder');
    const after = await prisma.user.findUniqueOrThrow({ where: { id: holder.id } });
    expect(after.isEmailVerified).toBe(true);
  });

  test('opens its account, whoever has the address now, and verifies nothing of either', async () => {
    const name = newName();
    const email = `${name}@${here}`;
    const first = await fixture.createUser({ primaryEmail: `former-${email}` });
    await link(first.id, name, email);
    const holder = await fixture.createUser({ primaryEmail: email });
    const accounts = { first, holder };
    expect(await come[social](accounts, name, { email, email_verified: true })).toBe('first');
    for (const { id } of [first, holder])
      expect((await prisma.user.findUniqueOrThrow({ where: { id } })).isEmailVerified).toBe(false);
  });

  test('is free once its account is deleted, and opens no account of the address’s next owner', async () => {
    const name = newName();
    const email = `${name}@${here}`;
    const deleted = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    await link(deleted.id, name, email);
    await admin.done('deleteUser', { id: deleted.id });
    const next = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    await link(next.id, `${name}-next`, email);
    const accounts = { deleted, next };
    const claims = { email, email_verified: true };
    expect(await come[social](accounts, name, claims)).toBe('address_reassigned');
    expect(await come[social](accounts, `${name}-next`, claims)).toBe('next');
  });
});

describe('an address of an account that the provider knows as somebody else', () => {
  test.each<[string, Way, boolean, string]>([
    ['at the same provider', social, true, 'address_reassigned'],
    ['at the same provider', social, false, 'address_reassigned'],
    ['at another of its issuer', 'another provider of its issuer', true, 'address_reassigned'],
    ['at another of its issuer', 'another provider of its issuer', false, 'address_reassigned'],
  ])('%s: by %s, verified here: %s', async (_where, way, isEmailVerified, end) => {
    const name = newName();
    const email = `${name}@${here}`;
    const holder = await fixture.createUser({ primaryEmail: email, isEmailVerified });
    await link(holder.id, `${name}-before`, email);
    expect(await come[way]({ holder }, name, { email, email_verified: true })).toBe(end);
  });

  // To each of its clients, an issuer may name the same person otherwise.
  test('is no word of its issuer to another client', async () => {
    const another = { ...club, clientId: 'another-client' };
    const identityProviderId = await connectSteered(service, another, 'Club, elsewhere');
    const name = newName();
    const email = `${name}@${here}`;
    const holder = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    const { id } = await link(holder.id, `${name}-elsewhere`, email);
    await prisma.userIdentity.update({ where: { id }, data: { identityProviderId } });
    expect(await come[social]({ holder }, name, { email, email_verified: true })).toBe('holder');
    await admin.done('deleteIdentityProvider', { id: identityProviderId });
  });

  test('at a provider of the company', async () => {
    const name = newName();
    const email = `${name}@${there}`;
    const holder = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    await link(holder.id, `${name}-before`, email, 'acme');
    const claims = { email, email_verified: true };
    expect(await come[own]({ holder }, name, claims)).toBe('address_reassigned');
  });

  test('is nobody’s word once the provider has another issuer, which knows neither', async () => {
    const [before, after] = [
      await startOpenIdProvider(service.clock),
      await startOpenIdProvider(service.clock),
    ];
    const name = newName();
    const domain = `${name}.example`;
    const providerId = await connectSteered(service, before, `Moved ${name}`, {
      ...company,
      emailDomains: [domain],
    });
    const email = `${name}@${domain}`;
    const holder = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    const claims = { email, email_verified: true };
    const opened = await byCompany(before, domain)({ holder }, 'one', claims);
    expect(opened).toBe('holder');
    const { issuer, clientSecret } = after;
    await admin.done('updateIdentityProvider', { id: providerId, issuer, clientSecret });
    expect(await byCompany(after, domain)({ holder }, 'two', claims)).toBe('holder');
    expect(await byCompany(after, domain)({ holder }, 'three', claims)).toBe('address_reassigned');
  });
});

describe('a code to an address', () => {
  test.each([
    ['as it is', (email: string) => email],
    ['in another case', (email: string) => email.toUpperCase()],
    ['with spaces around', (email: string) => `\u00a0${email}\u200f `],
  ])('%s opens the account that has it', async (_case, spell) => {
    const primaryEmail = `${newName()}@${here}`;
    const holder = await fixture.createUser({ primaryEmail });
    expect(await byCode(spell(primaryEmail), { holder })).toBe('holder');
  });

  test('opens nothing of an account that had it', async () => {
    const primaryEmail = `${newName()}@${here}`;
    const first = await fixture.createUser({ primaryEmail });
    await admin.done('updateUser', { id: first.id, primaryEmail: `moved-${primaryEmail}` });
    const person = await headlessDriver.start(service, app);
    expect(await person.sendCode('SIGN_IN', { email: primaryEmail })).toMatchObject({ code: 'OK' });
    const holder = await fixture.createUser({ primaryEmail });
    expect(await byCode(primaryEmail, { first, holder })).toBe('holder');
  });

  test.each(['updateUser', 'deleteUser'] as const)(
    'sent before %s opens no account of its next owner',
    async (change) => {
      const primaryEmail = `${newName()}@${here}`;
      const first = await fixture.createUser({ primaryEmail });
      const person = await headlessDriver.start(service, app);
      await person.sendCode('SIGN_IN', { email: primaryEmail });
      const code = await codeTo(service, primaryEmail);
      const moved = change === 'updateUser' ? { primaryEmail: `moved-${primaryEmail}` } : {};
      await admin.done(change, { id: first.id, ...moved });
      await fixture.createUser({ primaryEmail });
      expect(await person.verifyCode(code)).toMatchObject({ code: 'VERIFICATION_FAILED' });
    },
  );
});

async function byCode(email: string, accounts: Accounts): Promise<string> {
  const person = await headlessDriver.start(service, app);
  await person.sendCode('SIGN_IN', { email });
  const sentTo = mailAddress(email);
  expect(await person.verifyCode(await codeTo(service, sentTo))).toMatchObject({ code: 'OK' });
  return nameOf((await person.submit()).claims()?.sub, accounts);
}

describe('a one-time token', () => {
  const tokenFor = async (email: string): Promise<string> =>
    (await admin.done('createOneTimeToken', { email })).token;

  test('opens the account that has its address, in any case', async () => {
    const primaryEmail = `${newName()}@${here}`;
    const holder = await fixture.createUser({ primaryEmail });
    const token = await tokenFor(primaryEmail.toUpperCase());
    const person = await headlessDriver.start(service, app);
    expect(await person.redeemOneTimeToken(primaryEmail, token)).toMatchObject({ code: 'OK' });
    expect((await person.submit()).claims()?.sub).toBe(holder.id);
  });

  test.each(['updateUser', 'deleteUser'] as const)(
    'made before %s opens no account of the address’s next owner',
    async (change) => {
      const primaryEmail = `${newName()}@${here}`;
      const first = await fixture.createUser({ primaryEmail });
      const token = await tokenFor(primaryEmail);
      const moved = change === 'updateUser' ? { primaryEmail: `moved-${primaryEmail}` } : {};
      await admin.done(change, { id: first.id, ...moved });
      const next = await fixture.createUser({ primaryEmail });
      const person = await headlessDriver.start(service, app);
      const answer = await person.redeemOneTimeToken(primaryEmail, token);
      expect(answer).toMatchObject({ code: 'VERIFICATION_FAILED' });
      // One that is made for them does.
      const again = await tokenFor(primaryEmail);
      expect(await person.redeemOneTimeToken(primaryEmail, again)).toMatchObject({ code: 'OK' });
      expect((await person.submit()).claims()?.sub).toBe(next.id);
    },
  );

  test.each([
    ['of case', (email: string) => email.toUpperCase()],
    ['of nothing but a flag', (email: string) => email],
  ])('is good for an account after a change %s', async (_what, spell) => {
    const primaryEmail = `${newName()}@${here}`;
    const holder = await fixture.createUser({ primaryEmail });
    const token = await tokenFor(primaryEmail);
    await admin.done('updateUser', {
      id: holder.id,
      primaryEmail: spell(primaryEmail),
      isEmailVerified: true,
    });
    const person = await headlessDriver.start(service, app);
    expect(await person.redeemOneTimeToken(primaryEmail, token)).toMatchObject({ code: 'OK' });
    expect((await person.submit()).claims()?.sub).toBe(holder.id);
  });
});

describe('an identity that a person links at their account', () => {
  /** Signs in, follows the link to the club, and comes back. */
  async function linkAs(userId: string, username: string | null, subject: string, email: string) {
    const browser = openBrowser(service.app.services.baseUrl);
    await fixture.signIn({ username: username ?? '', password, browser });
    const { url } = await startViewerFederation(
      service.app.services,
      { userId, clientId: client.id },
      { identityProviderId: clubId },
    );
    club.expect(subject, { email, email_verified: true });
    return (await browser.open(await passThrough(url))).status;
  }

  test('opens their account from then on, also with the address of somebody else', async () => {
    const name = newName();
    const email = `${name}@${here}`;
    const [linker, holder] = [
      await fixture.createUser(),
      await fixture.createUser({ primaryEmail: email }),
    ];
    expect(await linkAs(linker.id, linker.username, name, email)).toBe(200);
    const claims = { email, email_verified: true };
    expect(await come[social]({ linker, holder }, name, claims)).toBe('linker');
    for (const { id } of [linker, holder])
      expect((await prisma.user.findUniqueOrThrow({ where: { id } })).isEmailVerified).toBe(false);
  });

  test('stays whose it is, though it has the address of the account', async () => {
    const name = newName();
    const email = `${name}@${here}`;
    const [first, linker] = [
      await fixture.createUser(),
      await fixture.createUser({ primaryEmail: email }),
    ];
    await link(first.id, name, email);
    expect(await linkAs(linker.id, linker.username, name, email)).toBe(422);
    const claims = { email, email_verified: true };
    expect(await come[social]({ first, linker }, name, claims)).toBe('first');
  });

  test('verifies the address that is the account’s, in any case, and no other', async () => {
    const name = newName();
    const email = `${name}@${here}`;
    const linker = await fixture.createUser({ primaryEmail: email });
    const isVerified = async () =>
      (await prisma.user.findUniqueOrThrow({ where: { id: linker.id } })).isEmailVerified;
    expect(await linkAs(linker.id, linker.username, `${name}-a`, `other-${email}`)).toBe(200);
    expect(await isVerified()).toBe(false);
    await prisma.userIdentity.deleteMany({ where: { userId: linker.id } });
    expect(await linkAs(linker.id, linker.username, name, email.toUpperCase())).toBe(200);
    expect(await isVerified()).toBe(true);
  });
});

test.each<[string, (email: string) => Record<string, unknown>, string]>([
  [
    'the account’s, in another case',
    (email) => ({ primaryEmail: email.toUpperCase() }),
    'ACCEPTED',
  ],
  ['that was the account’s', (email) => ({ primaryEmail: `moved-${email}` }), 'REVOKED'],
  ['the account’s, not verified', () => ({ isEmailVerified: false }), 'PENDING'],
])('an invitation of an address %s', async (_whose, change, status) => {
  const email = `${newName()}@${here}`;
  const user = await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
  const id = await admin.invitation({ invitee: email });
  await admin.done('updateUser', { id: user.id, ...change(email) });
  const browser = openBrowser(service.app.services.baseUrl);
  const asked = await browser.open(`/account/invitation?id=${id}`);
  const page = await browser.submit(asked, { identifier: user.username ?? '', password });
  if (status === 'ACCEPTED') await browser.submit(page, {});
  const after = await prisma.organizationInvitation.findUniqueOrThrow({ where: { id } });
  expect(after.status).toBe(status);
  expect(await prisma.organizationUser.count({ where: { userId: user.id } })).toBe(
    status === 'ACCEPTED' ? 1 : 0,
  );
});

describe('an import', () => {
  test('gives nobody the address, the number or the name of somebody else, in any spelling', async () => {
    const name = newName();
    const values = {
      username: name,
      primaryEmail: `${name}@${here}`,
      primaryPhone: '+4915112300099',
    };
    const holder = await fixture.createUser({ ...values, isEmailVerified: true });
    const before = await prisma.user.count();
    const { users, failures } = await admin.done('importUsers', {
      users: [
        { primaryEmail: values.primaryEmail.toUpperCase(), isEmailVerified: true },
        { primaryEmail: `\u00a0${values.primaryEmail}\u200f`, isEmailVerified: true },
        { primaryPhone: '0049 (0)151-12300099', isPhoneVerified: true },
        { primaryPhone: '+٤٩١٥١١٢٣٠٠٠٩٩' },
        { username: name.toUpperCase() },
      ],
    });
    expect(users).toEqual([]);
    expect(failures).toHaveLength(5);
    expect(await prisma.user.count()).toBe(before);
    expect(await byCode(values.primaryEmail, { holder })).toBe('holder');
  });
});
