import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { type Input, overGraphQL } from '../support/operations/operations.ts';
import { createAccountFixture, endOfLog, recordedSince } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { type Browser, discover, openBrowser } from '../support/people/sign-in.ts';
import { openSignInPage, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { baseUrl, issuer } = service.app.services;
const fixture = await createAccountFixture(service);
const { client, database, createUser, signInTo } = fixture;
const admin = { type: 'APPLICATION', id: service.admin.id };
const newPassword = 'a quite different long phrase';

const manage = async (operation: string, input: Input) =>
  overGraphQL(service, await service.managementToken())(operation, input);

/** The ends of sessions while something is done. */
async function endsOf(work: () => Promise<unknown>) {
  const start = await endOfLog(service);
  await work();
  const told = await recordedSince(service, start);
  return told
    .filter(({ type }) => type === 'User.Session.Ended')
    .map(({ data, actor }) => ({ data, actor }));
}

let people = 0;
/** A person who can sign in. */
async function person() {
  people += 1;
  const primaryEmail = `person${people}@example.com`;
  const user = await createUser({ username: `person${people}`, primaryEmail });
  const { id } = user;
  return {
    id,
    primaryEmail,
    username: `person${people}`,
    self: { type: 'USER', id, clientId: client.id },
    /** Signs in, in a browser of its own. */
    async signIn(scope = 'openid account:read account:write') {
      const browser = openBrowser(baseUrl);
      const me = await signInTo(`${user.username}`, { browser, scope });
      const { id: sessionId } = await database.prisma.session.findFirstOrThrow({
        where: { userId: id },
        orderBy: { id: 'desc' },
      });
      return { browser, me, sessionId };
    },
  };
}

const end = (userId: string, sessionId: string | null, reason: string, actor: object) => ({
  data: { userId, sessionId, reason },
  actor,
});

const openSignOut = (browser: Browser, parameters: Record<string, string> = {}) =>
  browser.open(`${issuer}/session/end?${new URLSearchParams(parameters)}`);

describe('a person who signs out', () => {
  test('at the page for an application ends the session', async () => {
    const { id, self, signIn } = await person();
    const { browser, sessionId } = await signIn();
    const signOut = async () =>
      browser.submit(await openSignOut(browser, { client_id: client.id }), { logout: 'yes' });
    expect(await endsOf(signOut)).toEqual([end(id, sessionId, 'SIGN_OUT', self)]);
    expect(await endsOf(() => openSignOut(browser))).toEqual([]);
  });

  test('of one application alone ends its tokens', async () => {
    const { id, self, signIn } = await person();
    const { browser } = await signIn();
    const stay = async () =>
      browser.submit(await openSignOut(browser, { client_id: client.id }), {});
    expect(await endsOf(stay)).toEqual([end(id, null, 'SIGN_OUT', self)]);
    expect(await endsOf(stay)).toEqual([]);
  });

  test('at an application that gives back its tokens', async () => {
    const { id, self, signIn } = await person();
    const { me } = await signIn('openid offline_access account:read');
    const config = await discover(service, client);
    const revoke = (token: string | undefined) => oidc.tokenRevocation(config, token ?? '');
    const told = [end(id, null, 'SIGN_OUT', self)];
    expect(await endsOf(() => revoke(me.token))).toEqual(told);
    expect(await endsOf(() => revoke(me.token))).toEqual([]);
    expect(await endsOf(() => revoke(me.refreshToken))).toEqual(told);
    expect(await endsOf(() => revoke(me.refreshToken))).toEqual([]);
    expect(await endsOf(async () => revoke(await service.managementToken()))).toEqual([]);
  });

  test('at the page of the account', async () => {
    const { id, username } = await person();
    const browser = openBrowser(baseUrl);
    const page = await browser.open('/account');
    const account = await browser.submit(page, { identifier: username, password });
    const csrf = /name="csrf" value="([^"]+)"/.exec(account.body)?.[1] ?? '';
    const { id: sessionId } = await database.prisma.session.findFirstOrThrow({
      where: { userId: id },
    });
    const signOut = () =>
      browser.open('/account/sign-out', {
        method: 'POST',
        headers: { origin: new URL(baseUrl).origin },
        body: new URLSearchParams({ csrf }),
      });
    const self = { type: 'USER', id, clientId: expect.stringMatching(/^app_/) };
    expect(await endsOf(signOut)).toEqual([end(id, sessionId, 'SIGN_OUT', self)]);
    expect(await endsOf(signOut)).toEqual([]);
  });
});

describe('an administrator', () => {
  test('ends one session', async () => {
    const { id, signIn } = await person();
    const { sessionId } = await signIn();
    await signIn();
    const endOne = () => manage('endUserSession', { userId: id, sessionId });
    expect(await endsOf(endOne)).toEqual([end(id, sessionId, 'ENDED', admin)]);
    expect(await endsOf(endOne)).toEqual([]);
  });

  test('signs a user out of each session', async () => {
    const { id, signIn } = await person();
    const ids = [(await signIn()).sessionId, (await signIn()).sessionId];
    const signOut = () => manage('signOutUser', { id });
    expect(await endsOf(signOut)).toEqual(ids.map((one) => end(id, one, 'ENDED', admin)));
    expect(await endsOf(signOut)).toEqual([]);
  });

  test('signs a user out who has only tokens', async () => {
    const { id, signIn } = await person();
    await signIn();
    // As the purge does with a session that has expired.
    await database.prisma.session.deleteMany({ where: { userId: id } });
    const signOut = () => manage('signOutUser', { id });
    expect(await endsOf(signOut)).toEqual([end(id, null, 'ENDED', admin)]);
    expect(await endsOf(signOut)).toEqual([]);
  });

  test('signs a user out for whom somebody acts', async () => {
    const { id } = await person();
    await manage('createSubjectToken', { userId: id, reason: 'ticket 42' });
    const signOut = () => manage('signOutUser', { id });
    expect(await endsOf(signOut)).toEqual([end(id, null, 'ENDED', admin)]);
    expect(await endsOf(signOut)).toEqual([]);
  });

  test.each([
    ['PASSWORD', (id: string) => manage('updateUserPassword', { id, password: newPassword })],
    ['SUSPENSION', (id: string) => manage('updateUserSuspensionStatus', { id, isSuspended: true })],
    ['DELETION', (id: string) => manage('deleteUser', { id })],
  ])('ends sessions with %s', async (reason, work) => {
    const { id, signIn } = await person();
    const { sessionId } = await signIn();
    expect(await endsOf(() => work(id))).toEqual([end(id, sessionId, reason, admin)]);
    expect(await endsOf(() => work(id))).toEqual([]);
  });
});

describe('a person at the account', () => {
  test('ends one session, and the others', async () => {
    const { id, self, signIn } = await person();
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const endOne = () => first.me.run('endViewerSession', { id: second.sessionId });
    expect(await endsOf(endOne)).toEqual([end(id, second.sessionId, 'ENDED', self)]);
    expect(await endsOf(endOne)).toEqual([]);
    const endOthers = () => first.me.run('endOtherViewerSessions');
    expect(await endsOf(endOthers)).toEqual([end(id, third.sessionId, 'ENDED', self)]);
    expect(await endsOf(endOthers)).toEqual([]);
  });

  test('ends the other sessions with a new password', async () => {
    const { id, self, signIn } = await person();
    const [{ me }, other] = [await signIn(), await signIn()];
    await me.run('verifyViewerPassword', { password });
    const change = () => me.run('updateViewerPassword', { password: newPassword });
    expect(await endsOf(change)).toEqual([end(id, other.sessionId, 'PASSWORD', self)]);
  });
});

test('a reset of the password ends the sessions', async () => {
  const { id, primaryEmail, signIn } = await person();
  const { sessionId } = await signIn();
  const app = await fixture.createApplication({ allowHeadlessSignIn: true });
  const { send } = await startHeadless(service, { clientId: app.id, redirectUri });
  const sent = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email: primaryEmail });
  const code = await codeTo(service, primaryEmail);
  await step(send, 'verifyCode', { verificationId: sent['verification'].id, code });
  const reset = () => step(send, 'resetPassword', { password: newPassword });
  const self = { type: 'USER', id, clientId: app.id };
  expect(await endsOf(reset)).toEqual([end(id, sessionId, 'PASSWORD', self)]);
  expect(await endsOf(reset)).toEqual([]);
});

test('a code that is used twice ends its tokens', async () => {
  const { id, username } = await person();
  const { browser, visit, verifier } = await openSignInPage(service, client);
  const { url } = await browser.submit(visit, { identifier: username, password });
  const config = await discover(service, client);
  const redeem = () => oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
  expect(await endsOf(redeem)).toEqual([]);
  const again = () => expect(redeem()).rejects.toMatchObject({ error: 'invalid_grant' });
  expect(await endsOf(again)).toEqual([end(id, null, 'ENDED', { type: 'SYSTEM', id: null })]);
  expect(await endsOf(again)).toEqual([]);
});
