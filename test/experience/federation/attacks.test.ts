import { beforeEach, describe, expect, test } from 'vitest';
import { beginFederation } from '../../../src/identity-providers/federation.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { asPage, readInteraction, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../../support/people/federation.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
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
const social = await startOpenIdProvider();
const company = await startOpenIdProvider();
await connectSteered(service, social, 'Club');
await connectSteered(service, company, 'Acme', {
  kind: 'ENTERPRISE',
  emailDomains: ['acme.example'],
});
await fixture.createUser({
  username: 'boss',
  primaryEmail: 'boss@acme.example',
  isEmailVerified: true,
});

beforeEach(() => social.behave({}));

let people = 0;
/** Comes back from the social provider as a stranger. */
async function come(claims: object = {}) {
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, 'Club');
  people += 1;
  const answer = social.signedIn(url, `subject-${people}`, { ...claims });
  const open = () => browser.open(answer);
  return { browser, open, send: asPage(service, browser), subject: `subject-${people}` };
}

describe('an address of a company', () => {
  test.each(['SIGN_IN', 'RESET_PASSWORD', 'REGISTER'])(
    'gets no %s code by the detour over another provider',
    async (purpose) => {
      const { browser, open, send } = await come();
      const page = await open();
      expect(page.url.pathname).toMatch(/\/profile$/);
      expect(await step(send, 'sendCode', { purpose, email: 'boss@acme.example' })).toMatchObject({
        code: 'NOT_ALLOWED',
      });
      const path = page.url.pathname.replace(/\/profile$/, '/code');
      const left = await browser.submit(await browser.open(path), { email: 'boss@acme.example' });
      expect(left.url.href).toContain(`${company.issuer}/authorize`);
      expect(await database.prisma.message.count()).toBe(0);
    },
  );

  test('is believed of its own provider alone', async () => {
    const { open, subject } = await come({ email: 'boss@acme.example', email_verified: true });
    const page = await open();
    expect(page.url.pathname).toMatch(/\/profile$/);
    expect(page.body).not.toContain('boss@acme.example');
    expect(await database.prisma.userIdentity.count({ where: { subject } })).toBe(0);
  });
});

/** What happens to the provider while somebody signs in by it. */
const ends = {
  disabled: (id: string) => admin.done('updateIdentityProvider', { id, enabled: false }),
  deleted: (id: string) => admin.done('deleteIdentityProvider', { id }),
};

describe.each(Object.entries(ends))('a provider that is %s meanwhile', (_how, end) => {
  /** A provider of its own, which makes people members. */
  async function another() {
    people += 1;
    const provider = await startOpenIdProvider();
    const id = await connectSteered(service, provider, `Brief ${people}`);
    const organizationId = await admin.organization();
    await admin.done('addOrganizationIdentityProvider', { organizationId, identityProviderId: id });
    const { browser, visit } = await openSignInPage(service, client);
    const { url } = await continueWith(browser, visit, `Brief ${people}`);
    return { provider, id, browser, url, send: asPage(service, browser) };
  }
  const accounts = () => database.prisma.user.count();

  test('registers nobody who has come back', async () => {
    const { provider, id, browser, url, send } = await another();
    await browser.open(provider.signedIn(url, 'late'));
    const before = await accounts();
    await end(id);
    expect(await step(send, 'completeProfile', { username: `late${people}` })).toMatchObject({
      code: 'NOT_ALLOWED',
    });
    expect(await accounts()).toBe(before);
  });

  test('signs nobody in whose code is being exchanged', async () => {
    const { provider, id, browser, url, send } = await another();
    const email = `person${people}@example.com`;
    await fixture.createUser({ primaryEmail: email, isEmailVerified: true });
    const answer = provider.signedIn(url, 'hasty', { email, email_verified: true });
    provider.behave({
      async sign(claims) {
        await end(id);
        return provider.sign(claims);
      },
    });
    const back = await browser.open(answer);
    expect(back.body).toContain('could not sign you in');
    expect(await readInteraction(send)).toMatchObject({
      nextSteps: expect.not.arrayContaining(['SUBMIT']),
    });
    expect(await database.prisma.userIdentity.count({ where: { subject: 'hasty' } })).toBe(0);
  });

  test('is linked to nobody', async () => {
    const { provider, id } = await another();
    const user = await fixture.createUser({ username: `linker${people}` });
    const browser = openBrowser(service.app.services.baseUrl);
    await fixture.signIn({ username: `linker${people}`, password, browser });
    const row = await database.prisma.identityProvider.findUniqueOrThrow({ where: { id } });
    const url = await beginFederation(
      service.app.services,
      row,
      { userId: user.id, clientId: client.id },
      { prefix: 'a' },
    );
    const answer = provider.signedIn(new URL(url), 'linked');
    provider.behave({
      async sign(claims) {
        await end(id);
        return provider.sign(claims);
      },
    });
    const back = await browser.open(answer);
    expect(back.status).toBe(422);
    expect(await database.prisma.userIdentity.count({ where: { userId: user.id } })).toBe(0);
  });
});

describe('a company at a provider that others use too', async () => {
  const shared = await startOpenIdProvider();
  const identityProviderId = await connectSteered(service, shared, 'Shared', {
    kind: 'ENTERPRISE',
    emailDomains: ['tenant.example'],
  });
  const organizationId = await admin.organization();
  await admin.done('addOrganizationIdentityProvider', { organizationId, identityProviderId });
  const token = await service.managementToken();
  const members = () => database.prisma.organizationUser.count({ where: { organizationId } });
  /** Names an address of the company, and signs in there as somebody. */
  async function enter(subject: string, claims: object) {
    const { browser } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    const { url } = await step(send, 'startFederation', { email: 'any@tenant.example' });
    await browser.open(shared.signedIn(new URL(url), subject, { ...claims }));
    return { send, username: subject };
  }
  const outsider = { email: 'outsider@elsewhere.example', email_verified: true };

  test('gets no member who has an address elsewhere', async () => {
    const { send, username } = await enter('outsider', outsider);
    await step(send, 'completeProfile', { username });
    expect(await database.prisma.user.count({ where: { username } })).toBe(1);
    expect(await members()).toBe(0);
  });

  test('lets none of these register where strangers cannot', async () => {
    await changeSettings(service, token, { signUpEnabled: false });
    const refused = await enter('stranger', { ...outsider, email: 'stranger@elsewhere.example' });
    const { send, username } = refused;
    expect(await step(send, 'completeProfile', { username })).toMatchObject({
      code: 'NOT_ALLOWED',
    });
    const own = await enter('employee', { email: 'employee@tenant.example' });
    await step(own.send, 'completeProfile', { username: own.username });
    await changeSettings(service, token, { signUpEnabled: true });
    expect(await database.prisma.user.count({ where: { username } })).toBe(0);
    expect(await members()).toBe(1);
  });
});

test.each([
  ['no address', {}, 0],
  ['an unverified address of the domain', { email: 'a@guild.example' }, 0],
  ['a verified one', { email: 'b@guild.example', email_verified: true }, 1],
])('a provider for everybody makes nobody a member with %s', async (_what, claims, expected) => {
  people += 1;
  const [name, subject] = [`Guild ${people}`, `guild${people}`];
  const guild = await startOpenIdProvider();
  const identityProviderId = await connectSteered(service, guild, name, {
    emailDomains: [`x${people}.example`, 'guild.example'],
  });
  const organizationId = await admin.organization();
  await admin.done('addOrganizationIdentityProvider', { organizationId, identityProviderId });
  const { browser, visit } = await openSignInPage(service, client);
  const { url } = await continueWith(browser, visit, name);
  await browser.open(guild.signedIn(url, subject, claims));
  await step(asPage(service, browser), 'completeProfile', { username: subject });
  expect(await database.prisma.user.count({ where: { username: subject } })).toBe(1);
  expect(await database.prisma.organizationUser.count({ where: { organizationId } })).toBe(
    expected,
  );
  await admin.done('deleteIdentityProvider', { id: identityProviderId });
});

test('an account that exists is not taken over by an unverified namesake', async () => {
  // Pre-hijacking: somebody else made the account, and knows its password.
  const email = 'prey@example.com';
  const user = await fixture.createUser({ username: 'hijacker', primaryEmail: email });
  const { open, subject } = await come({ email, email_verified: true });
  const page = await open();
  expect(page.url.searchParams.get('code')).toBeNull();
  expect(await database.prisma.userIdentity.count({ where: { subject } })).toBe(0);
  expect(await database.prisma.userIdentity.count({ where: { userId: user.id } })).toBe(0);
});
