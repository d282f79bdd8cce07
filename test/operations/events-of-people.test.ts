import { describe, expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { createMaker } from '../support/operations/maker.ts';
import { operationCases } from '../support/operations/operation-cases.ts';
import { type Input, overGraphQL } from '../support/operations/operations.ts';
import { createAccountFixture, endOfLog, recordedSince } from '../support/people/account.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { asPage, startHeadless, step } from '../support/people/experience.ts';
import { allowPrivate } from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { authorize, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createAccountFixture(service);
const { client, createUser, signInTo } = fixture;
const { prisma } = fixture.database;
const headless = await fixture.createApplication({ allowHeadlessSignIn: true });
const managementToken = await service.managementToken();
const manage = overGraphQL(service, managementToken);
const make = createMaker(manage);
const cases = operationCases(make, seedDirectory(fixture.database, service.clock));
const admin = { type: 'APPLICATION', id: service.admin.id };
await changeSettings(service, managementToken, { factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'] });

/** The events of a type that some work raises. */
async function raised(type: string, work: () => Promise<unknown>) {
  const start = await endOfLog(service);
  await work();
  const told = await recordedSince(service, start);
  return told.filter((event) => event.type === type).map(({ data, actor }) => ({ data, actor }));
}

let people = 0;
/** A person, and how they sign in. */
async function person(values: object = {}) {
  people += 1;
  const username = `person${people}`;
  const primaryEmail = `${username}@example.com`;
  const enrollmentSkippedAt = service.clock.now();
  const { id } = await createUser({ username, primaryEmail, enrollmentSkippedAt, ...values });
  return {
    id,
    username,
    primaryEmail,
    /** The person as an actor. */
    through: (clientId: string) => ({ type: 'USER', id, clientId }),
    /** Signs in to the account, and proves who they are. */
    async atAccount() {
      const me = await signInTo(username);
      await me.run('verifyViewerPassword', { password });
      return me;
    },
    /** Begins a sign-in, and shows the password. */
    async inInteraction() {
      const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
      await step(send, 'signInWithPassword', { identifier: username, password });
      return send;
    },
  };
}

const credentials = (work: () => Promise<unknown>) => raised('User.Credential.Updated', work);
const credential = (
  userId: string,
  [kind, change]: readonly [kind: string, change: string],
  { id: credentialId = null, name = null }: { id?: unknown; name?: string | null } = {},
) => ({ userId, credential: kind, credentialId, change, name });
const factorId = expect.stringMatching(/^factor_/);

describe('User.Credential.Updated', () => {
  test('tells of passwords that administrators set', async () => {
    const { id } = await person({ passwordDigest: null });
    const set = (text: string) => manage('updateUserPassword', { id, password: text });
    expect(await credentials(() => set('a first long phrase'))).toEqual([
      { data: credential(id, ['PASSWORD', 'ADDED']), actor: admin },
    ]);
    expect(await credentials(() => set('a second long phrase'))).toEqual([
      { data: credential(id, ['PASSWORD', 'CHANGED']), actor: admin },
    ]);
    const refused = () => manage('updateUserPassword', { id, password: 'short' });
    expect(await credentials(refused)).toEqual([]);
    const created = () =>
      manage('createUser', { username: make.next('user'), password: 'a long phrase' });
    expect(await credentials(created)).toEqual([]);
  });

  test('tells of passwords that people set', async () => {
    const { id, primaryEmail, atAccount, through } = await person();
    const me = await atAccount();
    const change = () => me.run('updateViewerPassword', { password: 'another long phrase' });
    const data = credential(id, ['PASSWORD', 'CHANGED']);
    expect(await credentials(change)).toEqual([{ data, actor: through(client.id) }]);

    const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
    const sent = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email: primaryEmail });
    const code = await codeTo(service, primaryEmail);
    await step(send, 'verifyCode', { verificationId: sent['verification'].id, code });
    const reset = () => step(send, 'resetPassword', { password: 'a third long phrase' });
    expect(await credentials(reset)).toEqual([{ data, actor: through(headless.id) }]);
    expect(await credentials(reset)).toEqual([]);
  });

  test('tells of factors that are added in an interaction', async () => {
    const { id, through, inInteraction } = await person();
    const send = await inInteraction();
    const actor = through(headless.id);
    const { secret } = await step(send, 'enrollTotp');
    const app = authenticatorApp(service.clock, secret);
    const confirm = (code: string) => () => step(send, 'confirmTotp', { code, name: 'Phone' });
    expect(await credentials(confirm(app.wrongCode()))).toEqual([]);
    expect(await credentials(confirm(app.code()))).toEqual([
      { data: credential(id, ['TOTP', 'ADDED'], { id: factorId, name: 'Phone' }), actor },
    ]);
    const codes = () => step(send, 'createBackupCodes');
    const made = (change: string) => [
      { data: credential(id, ['BACKUP_CODES', change], { id: factorId }), actor },
    ];
    expect(await credentials(codes)).toEqual(made('ADDED'));
    expect(await credentials(codes)).toEqual(made('CHANGED'));
  });

  test('tells of factors that are deleted', async () => {
    const { id, atAccount, through } = await person();
    const me = await atAccount();
    await me.run('createBackupCodes');
    const { secret } = await me.run('enrollTotp');
    await me.run('confirmTotp', { code: authenticatorApp(service.clock, secret).code() });
    const [codes, app] = await prisma.userFactor.findMany({
      where: { userId: id },
      orderBy: { id: 'asc' },
    });
    const own = () => me.run('deleteViewerFactor', { id: codes?.id });
    expect(await credentials(own)).toEqual([
      { data: credential(id, ['BACKUP_CODES', 'REMOVED'], codes), actor: through(client.id) },
    ]);
    expect(await credentials(own)).toEqual([]);
    const lost = () => manage('deleteUserFactor', { userId: id, factorId: app?.id });
    expect(await credentials(lost)).toEqual([
      { data: credential(id, ['TOTP', 'REMOVED'], app), actor: admin },
    ]);
    expect(await credentials(lost)).toEqual([]);
  });

  test('tells of identities that administrators remove', async () => {
    const input = (await cases['deleteUserIdentity']?.given()) as Input;
    const { provider } = await prisma.userIdentity.findUniqueOrThrow({
      where: { id: String(input['identityId']) },
      include: { provider: true },
    });
    const remove = () => manage('deleteUserIdentity', input);
    const identity = { id: input['identityId'], name: provider.name };
    expect(await credentials(remove)).toEqual([
      {
        data: credential(String(input['userId']), ['IDENTITY', 'REMOVED'], identity),
        actor: admin,
      },
    ]);
    expect(await credentials(remove)).toEqual([]);
  });

  test('tells of personal access tokens', async () => {
    const { id: userId } = await person();
    const expiresAt = new Date(service.clock.now().getTime() + 3600_000).toISOString();
    const create = (name: string) =>
      manage('createPersonalAccessToken', { userId, name, expiresAt });
    const told = (change: string, name: string) => ({
      data: credential(userId, ['PERSONAL_ACCESS_TOKEN', change], {
        id: expect.stringMatching(/^pat_/),
        name,
      }),
      actor: admin,
    });
    expect(await credentials(() => create('build'))).toEqual([told('ADDED', 'build')]);
    expect(await credentials(() => create('build'))).toEqual([]);
    const { id } = await prisma.personalAccessToken.findFirstOrThrow({ where: { userId } });
    const remove = () => manage('deletePersonalAccessToken', { id });
    expect(await credentials(remove)).toEqual([told('REMOVED', 'build')]);
    expect(await credentials(remove)).toEqual([]);

    await create('one');
    await create('two');
    const signOut = () => manage('signOutUser', { id: userId });
    expect(await credentials(signOut)).toEqual([told('REMOVED', 'one'), told('REMOVED', 'two')]);
    expect(await credentials(signOut)).toEqual([]);
  });

  test('tells of personal access tokens that end with other sessions', async () => {
    const { id: userId, atAccount, through } = await person();
    const expiresAt = new Date(service.clock.now().getTime() + 3600_000).toISOString();
    await manage('createPersonalAccessToken', { userId, name: 'build', expiresAt });
    const me = await atAccount();
    const endOthers = () => me.run('endOtherViewerSessions');
    expect(await credentials(endOthers)).toMatchObject([
      { data: { change: 'REMOVED', name: 'build' }, actor: through(client.id) },
    ]);
    expect(await credentials(endOthers)).toEqual([]);
  });
});

test('User.Impersonation.Started tells who acts for whom, and why', async () => {
  const input = (await cases['createSubjectToken']?.given()) as Input;
  const create = (values: Input) => () => manage('createSubjectToken', { ...input, ...values });
  const { userId, applicationId } = input;
  const told = await raised('User.Impersonation.Started', create({ reason: 'ticket 42' }));
  const { id: subjectTokenId } = await prisma.subjectToken.findFirstOrThrow({
    where: { userId: String(userId) },
  });
  expect(told).toEqual([
    { data: { userId, subjectTokenId, applicationId, reason: 'ticket 42' }, actor: admin },
  ]);
  expect(await raised('User.Impersonation.Started', create({ reason: ' ' }))).toEqual([]);
});

test('OneTimeToken.Created tells the address, and not the token', async () => {
  const email = 'newcomer@example.com';
  const create = (values: Input) => () => manage('createOneTimeToken', values);
  const told = await raised('OneTimeToken.Created', create({ email }));
  const oneTimeTokenId = expect.stringMatching(/^ott_[0-9a-z]{26}$/);
  expect(told).toEqual([{ data: { oneTimeTokenId, email }, actor: admin }]);
  const refused = create({ email, expiresInSeconds: 0 });
  expect(await raised('OneTimeToken.Created', refused)).toEqual([]);
});

describe('a grant', () => {
  /** A person at the page that asks whether an application may have these scopes. */
  async function asked(
    someone: Awaited<ReturnType<typeof person>>,
    shop: { id: string },
    scope: string,
    browser = openBrowser(service.app.services.baseUrl),
  ) {
    const visit = await browser.open((await authorize(service, shop, { scope })).url);
    if (visit.body.includes('name="identifier"'))
      await browser.submit(visit, { identifier: someone.username, password });
    const grant = () =>
      asPage(
        service,
        browser,
      )('mutation { grantConsent(input: {}) { __typename ... on Error { code } } }');
    return { browser, grant };
  }

  test('is told when it is given, widened and revoked', async () => {
    const someone = await person();
    const shop = await fixture.createApplication({ isThirdParty: true });
    const data = { userId: someone.id, applicationId: shop.id };
    const actor = someone.through(shop.id);
    const first = await asked(someone, shop, 'openid email');
    const created = await raised('User.Grant.Created', first.grant);
    const { id: grantId } = await prisma.userGrant.findFirstOrThrow({
      where: { userId: someone.id },
    });
    expect(created).toEqual([{ data: { ...data, grantId, scopes: ['openid', 'email'] }, actor }]);
    expect(await raised('User.Grant.Created', first.grant)).toEqual([]);
    const wider = await asked(someone, shop, 'openid email phone');
    expect(await raised('User.Grant.Created', wider.grant)).toEqual([
      { data: { ...data, grantId, scopes: ['phone'] }, actor },
    ]);

    const revoke = () => manage('revokeUserGrant', { userId: someone.id, grantId });
    const scopes = ['email', 'openid', 'phone'];
    expect(await raised('User.Grant.Revoked', revoke)).toEqual([
      { data: { ...data, grantId, scopes }, actor: admin },
    ]);
    expect(await raised('User.Grant.Revoked', revoke)).toEqual([]);
  });

  test('is told when the person revokes it', async () => {
    const someone = await person();
    const shop = await fixture.createApplication({ isThirdParty: true });
    await (await asked(someone, shop, 'openid')).grant();
    const { id } = await prisma.userGrant.findFirstOrThrow({ where: { userId: someone.id } });
    const me = await someone.atAccount();
    const revoke = () => me.run('revokeViewerGrant', { id });
    expect(await raised('User.Grant.Revoked', revoke)).toMatchObject([
      { data: { grantId: id, scopes: ['openid'] }, actor: someone.through(client.id) },
    ]);
    expect(await raised('User.Grant.Revoked', revoke)).toEqual([]);
  });
});

describe('Identifier.Unlocked', () => {
  const guess = async (identifier: string, times: number) => {
    const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
    for (let i = 0; i < times; i += 1)
      await step(send, 'signInWithPassword', { identifier, password: 'wrong' });
  };
  const unlocked = (work: () => Promise<unknown>) => raised('Identifier.Unlocked', work);

  test('tells of a lock that an administrator ends', async () => {
    const { username } = await person();
    const unlock = () => manage('unlockIdentifier', { type: 'USERNAME', value: ` ${username} ` });
    await guess(username, 3);
    expect(await unlocked(unlock)).toEqual([]);
    await guess(username, 10);
    expect(await unlocked(unlock)).toEqual([
      { data: { type: 'username', value: username }, actor: admin },
    ]);
    expect(await unlocked(unlock)).toEqual([]);
  });

  test('tells of a lock that a reset of the password ends', async () => {
    const { primaryEmail, through } = await person();
    await guess(primaryEmail, 10);
    const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
    const sent = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email: primaryEmail });
    const code = await codeTo(service, primaryEmail);
    await step(send, 'verifyCode', { verificationId: sent['verification'].id, code });
    const reset = () => step(send, 'resetPassword', { password: 'another long phrase' });
    expect(await unlocked(reset)).toEqual([
      { data: { type: 'email', value: primaryEmail }, actor: through(headless.id) },
    ]);
    expect(await unlocked(reset)).toEqual([]);
  });
});
