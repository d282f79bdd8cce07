import { Ajv2020 } from 'ajv/dist/2020.js';
import * as oidc from 'openid-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventNames } from '../../src/events/catalogue/catalogue.ts';
import { type MutationName, raised } from '../../src/graphql/mutations/raised.ts';
import { newId } from '../../src/ids.ts';
import { accountSchema, experienceSchema, schema } from '../../src/schema.ts';
import { webhookSecret } from '../support/operations/cases/case.ts';
import { createMaker } from '../support/operations/maker.ts';
import { operationCases } from '../support/operations/operation-cases.ts';
import { type Input, overGraphQL } from '../support/operations/operations.ts';
import { callRest } from '../support/operations/rest.ts';
import { watchRequests } from '../support/operations/witness.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import {
  type AccountClient,
  accountClient,
  accountIndicator,
  createAccountFixture,
} from '../support/people/account.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { asPage, type StepResult, startHeadless, step } from '../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  passThrough,
} from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { createAuthenticator } from '../support/people/passkeys/authenticator.ts';
import { discover, openBrowser } from '../support/people/sign-in.ts';
import {
  authorize,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = await startService(allowPrivate);
const { clock } = service;
const { baseUrl } = service.app.services;
const { seen, toldBy, findLeaks } = watchRequests(service);
const fixture = await createAccountFixture(service);
const { client, createUser, directory, signInTo } = fixture;
const { prisma } = fixture.database;
const manage = async (operation: string, input: Input) =>
  overGraphQL(service, await service.managementToken())(operation, input);
const make = createMaker(manage);
const { done } = make;
const cases = operationCases(make, directory);
const headless = await fixture.createApplication({ allowHeadlessSignIn: true });
const club = await startOpenIdProvider(clock);
const clubId = await connectSteered(service, club, 'Club');
// Two wrong guesses lock an identifier, and the third code to an address is one too many.
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'],
  lockoutPolicy: { maxAttempts: 2 },
  codePolicy: { sendLimit: 2 },
});

// The limits of an address count by the minute.
beforeEach(() => clock.advance(61_000));

const isDone = (result: StepResult) =>
  expect(result).toMatchObject({ __typename: expect.stringMatching(/Payload$/) });
const anHourFromNow = () => new Date(clock.now().getTime() + 3_600_000).toISOString();

/** Does something, and again, which tells of nothing. */
async function twice(work: () => Promise<StepResult>): Promise<StepResult> {
  const result = await work();
  isDone(result);
  expect(await toldBy(work)).toEqual([]);
  return result;
}

let people = 0;
/** A person, and the ways in which they come. */
async function createPerson(values: object = {}) {
  people += 1;
  const username = `person${people}`;
  const primaryEmail = `${username}@example.com`;
  const enrollmentSkippedAt = clock.now();
  const { id } = await createUser({ username, primaryEmail, enrollmentSkippedAt, ...values });
  return {
    id,
    username,
    primaryEmail,
    async atAccount() {
      const me = await signInTo(username);
      isDone(await me.run('verifyViewerPassword', { password }));
      return me;
    },
    async inInteraction() {
      const send = await begin();
      isDone(await step(send, 'signInWithPassword', { identifier: username, password }));
      return send;
    },
    addToken: () =>
      done('createPersonalAccessToken', { userId: id, name: 'build', expiresAt: anHourFromNow() }),
  };
}
const begin = async () =>
  (await startHeadless(service, { clientId: headless.id, redirectUri })).send;

/** Consent of a person, by virtue of which a third party has created a personal access token of somebody. */
async function createConsent(userId: string) {
  const clientId = await make.application({ type: 'SPA', isThirdParty: true });
  const { id: grantId } = await directory.createGrant(userId, clientId);
  const { personalAccessToken } = await done('createPersonalAccessToken', {
    userId: await make.user(),
    name: 'build',
    expiresAt: anHourFromNow(),
  });
  await prisma.personalAccessToken.update({
    where: { id: personalAccessToken.id },
    data: { clientId, grantId },
  });
  return { clientId, grantId };
}

/** An organization that people with an address of a domain join, with a role. */
async function createCompany() {
  const organizationId = await make.organization();
  const domain = `${make.next('company').replace('_', '-')}.example.com`;
  await done('addOrganizationEmailDomain', { organizationId, domain });
  const organizationRoleIds = [await make.organizationRole()];
  await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
  return { organizationId, domain };
}

// The same input is another change.
const alwaysAnother = new Set<MutationName>([
  'createApplication',
  'createOneTimeToken',
  'createOrganization',
  'createRegistrationToken',
  'createSubjectToken',
  'createTrustedIssuer',
  'createWebhook',
  'rotateSigningKey',
  'rotateWebhookSecret',
  'setSmsSender',
  'updateUserPassword',
]);

describe('the management API', () => {
  test.each(Object.entries(cases))('%s', async (operation, { given }) => {
    const input = await given();
    expect(await manage(operation, input)).toMatchObject({ code: 'OK' });
    if (alwaysAnother.has(operation as MutationName)) return;
    expect(await toldBy(() => manage(operation, input))).toEqual([]);
  });

  /** A scope in a role of each kind. */
  async function usedScope() {
    const resourceId = await make.resource();
    const id = await make.scope({ resourceId });
    await make.role({ scopeIds: [id] });
    await make.organizationRole({ scopeIds: [id] });
    return { id, resourceId };
  }
  /** A user with a session and a personal access token. */
  async function signedIn(values: Input = {}) {
    const id = await make.user(values);
    await directory.createSession(id);
    await done('createPersonalAccessToken', {
      userId: id,
      name: 'build',
      expiresAt: anHourFromNow(),
    });
    return id;
  }

  /** An address that is invited to an organization. */
  async function invitedAddress() {
    const invitee = `${make.next('invitee')}@example.com`;
    await make.invitation({ invitee });
    return invitee;
  }

  const scenes: readonly (readonly [operation: MutationName, () => Promise<Input>])[] = [
    [
      'deleteUser',
      async () => {
        const id = await signedIn({ primaryEmail: await invitedAddress() });
        await done('addOrganizationUsers', {
          organizationId: await make.organization(),
          userIds: [id],
        });
        await createConsent(id);
        return { id };
      },
    ],
    [
      'revokeUserGrant',
      async () => {
        const userId = await make.user();
        return { userId, grantId: (await createConsent(userId)).grantId };
      },
    ],
    [
      'updateUser',
      async () => {
        const id = await signedIn({ primaryEmail: await invitedAddress() });
        await prisma.user.update({ where: { id }, data: { setterScopes: [] } });
        return { id, isVouchedFor: true, primaryEmail: null };
      },
    ],
    ['updateUserPassword', async () => ({ id: await signedIn(), password: 'long enough, too' })],
    ['updateUserSuspensionStatus', async () => ({ id: await signedIn(), isSuspended: true })],
    ['signOutUser', async () => ({ id: await signedIn() })],
    [
      'deleteApplication',
      async () => {
        const id = await make.application();
        await make.trustedIssuer({ applicationId: id });
        await make.crossAppConnection({ applicationId: id });
        return { id };
      },
    ],
    ['deleteApplication', async () => ({ id: (await createConsent(await make.user())).clientId })],
    ['deleteScope', async () => ({ id: (await usedScope()).id })],
    ['deleteResource', async () => ({ id: (await usedScope()).resourceId })],
    [
      'deleteOrganizationScope',
      async () => {
        const id = await make.organizationScope();
        await make.organizationRole({ organizationScopeIds: [id] });
        return { id };
      },
    ],
    [
      'deleteRole',
      async () => {
        const [id, userId] = [await make.role(), await make.user()];
        await done('assignUserRoles', { userId, roleIds: [id] });
        return { id };
      },
    ],
    [
      'createResource',
      async () => ({ name: 'New', indicator: 'https://es384.example.com', signingAlg: 'ES384' }),
    ],
    ['updateResource', async () => ({ id: await make.resource(), signingAlg: 'PS256' })],
    ['createApplication', async () => ({ name: 'New', type: 'SPA', idTokenSigningAlg: 'RS256' })],
    [
      'updateApplication',
      async () => ({ id: await make.application({ type: 'SPA' }), idTokenSigningAlg: 'EdDSA' }),
    ],
    ['deleteApplication', async () => ({ id: (await make.applicationMember()).applicationId })],
    [
      'deleteOrganization',
      async () => {
        const { organizationId: id } = await make.member();
        await make.invitation({ organizationId: id });
        return { id };
      },
    ],
    [
      'createOrganizationInvitation',
      async () => {
        const organizationId = await make.organization();
        const invitation = { organizationId, invitee: `${make.next('late')}@example.com` };
        const id = await make.invitation(invitation);
        await prisma.organizationInvitation.update({
          where: { id },
          data: { expiresAt: clock.now() },
        });
        return invitation;
      },
    ],
    [
      'updateOrganizationInvitationStatus',
      async () => {
        const invitee = `${make.next('invitee')}@example.com`;
        const organizationRoleIds = [await make.organizationRole()];
        return {
          id: await make.invitation({ invitee, organizationRoleIds }),
          status: 'ACCEPTED',
          acceptedUserId: await make.user({ primaryEmail: invitee }),
        };
      },
    ],
    [
      'deleteIdentityProvider',
      async () => {
        const id = await make.identityProvider();
        await directory.createIdentity(await make.user(), id);
        return { id };
      },
    ],
    [
      'unlockIdentifier',
      async () => {
        const { username: value } = await createPerson();
        await guess(async () => {
          await step(await begin(), 'signInWithPassword', { identifier: value, password: 'wrong' });
        });
        return { type: 'USERNAME', value };
      },
    ],
    [
      'removeEmailSender',
      async () => {
        const { given } = cases['setEmailSender'] ?? {};
        await done('setEmailSender', (await given?.()) ?? {});
        return {};
      },
    ],
    [
      'removeSmsSender',
      async () => {
        await done('setSmsSender', {
          http: { url: 'https://127.0.0.1/sms?token=of-the-sender', secret: webhookSecret },
        });
        return {};
      },
    ],
    [
      'createWebhook',
      async () => ({
        name: 'New',
        url: 'https://127.0.0.1/hook?key=of-the-webhook',
        headers: { 'x-key': 'a key in a header' },
        enabled: false,
      }),
    ],
  ];

  test.each(scenes)('%s, with all that it takes', async (operation, given) => {
    const input = await given();
    expect(await manage(operation, input)).toMatchObject({ code: 'OK' });
    if (alwaysAnother.has(operation)) return;
    expect(await toldBy(() => manage(operation, input))).toEqual([]);
  });
});

/** Guesses wrong until it locks. */
async function guess(wrong: () => Promise<unknown>) {
  await wrong();
  expect(await toldBy(wrong)).toEqual(['Identifier.Lockout']);
  expect(await toldBy(wrong)).toEqual([]);
}

/** Adds each kind of factor, by the account or in an interaction. */
async function enrollFactors(run: AccountClient['run']) {
  const { secret } = await run('enrollTotp');
  const app = authenticatorApp(clock, secret);
  await twice(() => run('confirmTotp', { code: app.code(), name: 'Phone' }));
  const authenticator = createAuthenticator(new URL(baseUrl).origin);
  const { options } = await run('startPasskeyEnrollment');
  const response = authenticator.create(options);
  await twice(() => run('confirmPasskey', { response, name: 'Key' }));
  const { codes } = await run('createBackupCodes');
  return { app, authenticator, codes: codes as string[] };
}

/** Shows each factor to a new interaction, or to the account, and guesses until it locks. */
async function useFactors(
  { app, authenticator, codes }: Awaited<ReturnType<typeof enrollFactors>>,
  open: () => Promise<AccountClient['run']>,
) {
  const run = await open();
  await twice(() => run('verifyTotp', { code: app.code(1) }));
  const passkey = await open();
  const { options } = await passkey('startPasskey');
  const response = authenticator.get(options);
  await twice(() => passkey('verifyPasskey', { response }));
  const backup = await open();
  await twice(() => backup('verifyBackupCode', { code: codes[0] }));
}

describe('the Account API', () => {
  test('profile and names', async () => {
    const me = await (await createPerson()).atAccount();
    const profile = { nickname: 'Ada' };
    await twice(() => me.run('updateViewer', { name: 'Ada', profile }));
    const renamed = { username: make.next('renamed') };
    await twice(() => me.run('updateViewerUsername', renamed));
  });

  test('addresses', async () => {
    const { domain } = await createCompany();
    const person = await createPerson();
    const me = await person.atAccount();
    const verify = async (address: object, recipient: string) => {
      const { verification } = await me.run('sendViewerCode', address);
      const code = await codeTo(service, recipient);
      await twice(() => me.run('verifyViewerCode', { verificationId: verification.id, code }));
      return { verificationId: verification.id };
    };
    await verify({ email: person.primaryEmail }, person.primaryEmail);
    await make.invitation({ invitee: person.primaryEmail });
    const email = `ada@${domain}`;
    const byEmail = await verify({ email }, email);
    await twice(() => me.run('updateViewerEmail', byEmail));
    const phone = '+4915100000001';
    const byPhone = await verify({ phone }, phone);
    await twice(() => me.run('updateViewerPhone', byPhone));

    const other = { email: 'elsewhere@example.com' };
    const { verification } = await me.run('sendViewerCode', other);
    await me.run('sendViewerCode', other);
    expect(await toldBy(() => me.run('sendViewerCode', other))).toEqual(['Message.RateLimited']);
    await guess(() =>
      me.run('verifyViewerCode', { verificationId: verification.id, code: 'wrong code' }),
    );
  });

  test('password', async () => {
    const { id, username, atAccount, addToken } = await createPerson();
    const me = await atAccount();
    await directory.createSession(id);
    await guess(async () =>
      step(await begin(), 'signInWithPassword', { identifier: username, password: 'wrong' }),
    );
    await addToken();
    isDone(await me.run('updateViewerPassword', { password: 'a quite different long phrase' }));
    await guess(() => me.run('verifyViewerPassword', { password: 'a wrong password' }));
  });

  test('factors', async () => {
    const person = await createPerson();
    const me = await person.atAccount();
    const added = await enrollFactors(me.run);
    await useFactors(added, async () => me.run);
    const [factor] = await prisma.userFactor.findMany({ where: { userId: person.id } });
    isDone(await me.run('verifyViewerPassword', { password }));
    await twice(() => me.run('deleteViewerFactor', { id: factor?.id }));
  });

  test('guesses at factors', async () => {
    const wrong: Record<string, (me: AccountClient, person: Added) => Promise<unknown>> = {
      verifyTotp: (me, { app }) => me.run('verifyTotp', { code: app.wrongCode() }),
      verifyBackupCode: (me) => me.run('verifyBackupCode', { code: 'wrong code' }),
      async verifyPasskey(me, { authenticator }) {
        const { options } = await me.run('startPasskey');
        return me.run('verifyPasskey', {
          response: authenticator.get(options, { forges: true }),
        });
      },
    };
    for (const attempt of Object.values(wrong)) {
      const me = await (await createPerson()).atAccount();
      const added = await enrollFactors(me.run);
      await guess(() => attempt(me, added));
    }
    const me = await (await createPerson()).atAccount();
    const { secret } = await me.run('enrollTotp');
    const code = authenticatorApp(clock, secret).wrongCode();
    await guess(() => me.run('confirmTotp', { code }));
  });
  type Added = Awaited<ReturnType<typeof enrollFactors>>;

  test('sessions, identities and grants', async () => {
    const { id: userId, atAccount, addToken } = await createPerson();
    const [other] = [await directory.createSession(userId)];
    const me = await atAccount();
    await twice(() => me.run('endViewerSession', { id: other.id }));
    await directory.createSession(userId);
    await addToken();
    const ended = await me.run('endOtherViewerSessions');
    isDone(ended);
    expect(await toldBy(() => me.run('endOtherViewerSessions'))).toEqual([]);

    const { id: identityId } = await directory.createIdentity(userId, clubId);
    await twice(() => me.run('deleteViewerIdentity', { id: identityId }));
    const { grantId } = await createConsent(userId);
    await twice(() => me.run('revokeViewerGrant', { id: grantId }));
    isDone(await me.run('startViewerFederation', { identityProviderId: clubId }));
  });

  test('an invitation', async () => {
    const { primaryEmail, atAccount } = await createPerson({ isEmailVerified: true });
    const { organizationInvitation } = await done('createOrganizationInvitation', {
      organizationId: await make.organization(),
      invitee: primaryEmail,
      organizationRoleIds: [await make.organizationRole()],
    });
    const me = await atAccount();
    isDone(await me.run('acceptViewerInvitation', { id: organizationInvitation.id }));
  });

  test('a proof by a sign-in at a provider', async () => {
    const { id: userId } = await createPerson({
      ...{ passwordDigest: null, passwordAlgorithm: null, primaryEmail: null },
    });
    const subject = `subject-of-${userId}`;
    await prisma.userIdentity.create({
      data: {
        ...{ id: newId('UserIdentity'), userId, identityProviderId: clubId },
        ...{ issuer: club.issuer, subject, linkedAt: clock.now() },
      },
    });
    const browser = openBrowser(baseUrl);
    const arrive = async (parameters: object) => {
      const { visit, verifier } = await openSignInPage(service, client, {
        ...{ browser, scope: 'openid account:read account:write', resource: accountIndicator },
        ...parameters,
      });
      const left = await continueWith(browser, visit, 'Club');
      const { url } = await browser.open(club.signedIn(left.url, subject));
      return { url, verifier };
    };
    const first = await arrive({});
    const tokens = await oidc.authorizationCodeGrant(
      await discover(service, client),
      first.url,
      { pkceCodeVerifier: first.verifier },
      { resource: accountIndicator },
    );
    const me = accountClient(service, tokens.access_token);
    const { url, verifier: codeVerifier } = await arrive({ prompt: 'login' });
    const code = url.searchParams.get('code');
    await twice(() => me.run('verifyViewerSignIn', { code, codeVerifier, redirectUri }));
  });

  test('deletion', async () => {
    const { id, primaryEmail, atAccount } = await createPerson();
    const organizationId = await make.organization();
    await done('addOrganizationUsers', { organizationId, userIds: [id] });
    await make.invitation({ invitee: primaryEmail });
    await createConsent(id);
    const me = await atAccount();
    isDone(await me.run('deleteViewer'));
    expect(await toldBy(() => me.run('deleteViewer').catch(() => undefined))).toEqual([]);
  });
});

describe('the Experience API', () => {
  test('a sign-in', async () => {
    const { username: identifier } = await createPerson();
    const send = await begin();
    await twice(() => step(send, 'signInWithPassword', { identifier, password }));
    await twice(() => step(send, 'submitInteraction'));
    const other = await createPerson();
    await guess(async () =>
      step(await begin(), 'signInWithPassword', {
        identifier: other.username,
        password: 'a wrong password',
      }),
    );
  });

  test('codes', async () => {
    const { primaryEmail: email } = await createPerson();
    const send = await begin();
    const sent = () => step(send, 'sendCode', { purpose: 'SIGN_IN', email });
    const { verification } = await sent();
    const code = await codeTo(service, email);
    const verify = (tried: string) =>
      step(send, 'verifyCode', { verificationId: verification.id, code: tried });
    await twice(() => verify(code));
    await sent();
    expect(await toldBy(sent)).toEqual(['Message.RateLimited']);

    const other = await createPerson();
    const elsewhere = await begin();
    const theirs = await step(elsewhere, 'sendCode', {
      purpose: 'SIGN_IN',
      email: other.primaryEmail,
    });
    await guess(() =>
      step(elsewhere, 'verifyCode', { verificationId: theirs['verification'].id, code: 'wrong' }),
    );
  });

  test('one-time tokens', async () => {
    const { primaryEmail: email } = await createPerson();
    const { token } = await done('createOneTimeToken', { email });
    const send = await begin();
    await twice(() => step(send, 'redeemOneTimeToken', { email, token }));
    const other = { email: 'nobody@example.com', token: 'wrong token' };
    await guess(async () => step(await begin(), 'redeemOneTimeToken', other));
  });

  test('a registration', async () => {
    const { domain } = await createCompany();
    const email = `new@${domain}`;
    await changeSettings(service, await service.managementToken(), {
      signUpIdentifiers: ['EMAIL', 'USERNAME'],
    });
    const send = await begin();
    const { verification } = await step(send, 'sendCode', { purpose: 'REGISTER', email });
    const code = await codeTo(service, email);
    await step(send, 'verifyCode', { verificationId: verification.id, code });
    const username = make.next('newcomer');
    await twice(() => step(send, 'register', { username, password }));
  });

  test('a new password', async () => {
    const { id, username, primaryEmail: email, addToken } = await createPerson();
    await directory.createSession(id);
    await addToken();
    await guess(async () =>
      step(await begin(), 'signInWithPassword', { identifier: username, password: 'wrong' }),
    );
    const send = await begin();
    const { verification } = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const code = await codeTo(service, email);
    await step(send, 'verifyCode', { verificationId: verification.id, code });
    const again = { password: 'a third long phrase of mine' };
    await twice(() => step(send, 'resetPassword', again));
  });

  test('factors', async () => {
    const { inInteraction } = await createPerson();
    const first = await inInteraction();
    const added = await enrollFactors((name, input) => step(first, name, input));
    const open = async () => {
      const send = await inInteraction();
      return (name: string, input?: object) => step(send, name, input);
    };
    await useFactors(added, open);
    const skipping = await (await createPerson({ enrollmentSkippedAt: null })).inInteraction();
    await twice(() => step(skipping, 'skipEnrollment'));
  });

  test('guesses at factors', async () => {
    for (const [name, wrong] of [
      ['verifyTotp', (added: Added) => ({ code: added.app.wrongCode() })],
      ['verifyBackupCode', () => ({ code: 'wrong code' })],
      ['verifyPasskey', undefined],
    ] as const) {
      const { inInteraction } = await createPerson();
      const first = await inInteraction();
      const added = await enrollFactors((step_, input) => step(first, step_, input));
      const send = await inInteraction();
      await guess(async () => {
        if (wrong) return step(send, name, wrong(added));
        const { options } = await step(send, 'startPasskey');
        const response = added.authenticator.get(options, { forges: true });
        return step(send, name, { response });
      });
    }
    const send = await (await createPerson()).inInteraction();
    const { secret } = await step(send, 'enrollTotp');
    await guess(() =>
      step(send, 'confirmTotp', { code: authenticatorApp(clock, secret).wrongCode() }),
    );
  });
  type Added = Awaited<ReturnType<typeof enrollFactors>>;

  /** Comes from the provider to an interaction, as somebody who joins its organization. */
  async function come(subject: string, email: string) {
    const key = { organizationId: await make.organization(), identityProviderId: clubId };
    await done('addOrganizationIdentityProvider', key);
    const organizationRoleIds = [await make.organizationRole()];
    await done('replaceOrganizationJitRoles', {
      organizationId: key.organizationId,
      organizationRoleIds,
    });
    const send = await begin();
    const { url } = await step(send, 'startFederation', { identityProviderId: clubId });
    const there = club.visitOf(url, subject, { email, email_verified: true });
    const browser = openBrowser(baseUrl);
    await browser.submit(await browser.open(await passThrough(there)), {});
    return { send, leave: () => done('removeOrganizationIdentityProvider', key) };
  }

  test('somebody new from a provider', async () => {
    const settings = { signUpIdentifiers: ['USERNAME'] };
    await changeSettings(service, await service.managementToken(), settings);
    const { send, leave } = await come('somebody-new', 'new@example.org');
    const profile = { username: make.next('arrived') };
    await twice(() => step(send, 'completeProfile', profile));
    await leave();
  });

  test('somebody from a provider who has an account', async () => {
    const { primaryEmail } = await createPerson({ isEmailVerified: true });
    const { send, leave } = await come('somebody-known', primaryEmail);
    await twice(() => step(send, 'submitInteraction'));
    await leave();
  });

  test('consent', async () => {
    const shop = await fixture.createApplication({ isThirdParty: true });
    const asked = async () => {
      const { username: identifier } = await createPerson();
      const browser = openBrowser(baseUrl);
      await browser.open((await authorize(service, shop, { scope: 'openid email' })).url);
      const send = asPage(service, browser);
      isDone(await step(send, 'signInWithPassword', { identifier, password }));
      return send;
    };
    const granting = await asked();
    await twice(() => step(granting, 'grantConsent'));
    const denying = await asked();
    const denied = await denying('mutation { denyConsent(input: {}) { __typename } }');
    expect(denied.body.errors).toBeUndefined();
  });
});

describe('of all of them', () => {
  const schemas = {
    '/graphql': schema,
    '/account/graphql': accountSchema,
    '/experience/graphql': experienceSchema,
  };
  const all = Object.entries(schemas).flatMap(([path, { getMutationType }]) =>
    Object.keys(getMutationType.call(schemas[path as keyof typeof schemas])?.getFields() ?? {}).map(
      (name) => `${path} ${name}`,
    ),
  );

  test('each was sent', () => {
    expect([...new Set(seen.map(({ mutation }) => mutation))].sort()).toEqual(all.sort());
  });

  test('each told what it says', () => {
    const told = new Map<string, Set<string>>();
    for (const { mutation, told: types } of seen) {
      const name = mutation.split(' ')[1] ?? '';
      told.set(name, new Set([...(told.get(name) ?? []), ...types]));
    }
    // A right guess ends a lock only if other guesses have set it while the right one was checked.
    const isOfARace = (types: readonly string[], type: string) =>
      type === 'Identifier.Unlocked' && types.includes('Identifier.Lockout');
    const named = Object.entries(raised).map(([name, types]) => [
      name,
      [...new Set(types)].filter((type) => !isOfARace(types, type)).sort(),
    ]);
    const found = [...told].map(([name, types]) => [name, [...types].sort()]);
    // It is made of other mutations, each of which has told its own.
    const { applyConfiguration: ofParts, ...expected } = Object.fromEntries(named);
    const { applyConfiguration: parts, ...others } = Object.fromEntries(found);
    expect(others).toEqual(expected);
    expect(ofParts).toEqual(expect.arrayContaining(parts));
  });

  test('each type of event was told, with the data that the OpenAPI document says', async () => {
    const events = await eventually(async () => {
      const rows = await prisma.event.findMany({ select: { type: true, data: true } });
      const types = new Set(rows.map(({ type }) => type));
      // Of the token endpoint.
      expect(eventNames.filter((name) => !types.has(name))).toEqual(['Token.Refused']);
      return rows;
    });
    const { body: document } = await callRest({ url: service.url }, 'GET', '/openapi.json');
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    for (const [type, rows] of Map.groupBy(events, (event) => event.type)) {
      const message = document.webhooks[type].post.requestBody.content['application/json'].schema;
      const isDescribed = ajv.compile({
        ...message.properties.data,
        additionalProperties: false,
      });
      for (const { data } of rows)
        expect({ type, data, fits: isDescribed(data), errors: isDescribed.errors }).toMatchObject({
          fits: true,
        });
    }
  });

  test('no secret is in the log', async () => {
    const { leaked, searched } = await findLeaks();
    expect(leaked).toEqual([]);
    expect(searched).toBeGreaterThan(500);
  });
});
