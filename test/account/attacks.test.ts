import { describe, expect, test } from 'vitest';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import {
  type AccountClient,
  accountClient,
  createAccountFixture,
} from '../support/people/account.ts';
import { asPage, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { openSignInPage, password, refresh } from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { exchange, isActive } from '../support/tokens.ts';

const service = await startService();
const fixture = await createAccountFixture(service);
const { newPerson, database, client } = fixture;
const { prisma } = database;

const person = () => newPerson({}, { scope: 'openid offline_access account:read account:write' });

const prove = (me: AccountClient) => me.run('verifyViewerPassword', { password });

async function verifyEmail(me: AccountClient, email: string): Promise<string> {
  const { verification } = await me.run('sendViewerCode', { email });
  const code = await codeTo(service, email);
  await me.run('verifyViewerCode', { verificationId: verification.id, code });
  return verification.id;
}

const names = (results: readonly { __typename: string }[]) =>
  results.map(({ __typename }) => __typename).sort();

test('a proof goes on after a refresh', async () => {
  const { me } = await person();
  await prove(me);
  const tokens = await refresh(service, client, me.refreshToken ?? '');
  const refreshed = accountClient(service, tokens.access_token);
  expect(await refreshed.run('updateViewerUsername', { username: 'refreshed' })).toMatchObject({
    viewer: { username: 'refreshed' },
  });
});

test('a new password ends a sign-in that is stored again', async () => {
  const { user, me } = await person();
  const { browser } = await openSignInPage(service, client);
  const page = asPage(service, browser);
  await step(page, 'signInWithPassword', { identifier: user.username, password });
  const { redirectTo } = await step(page, 'submitInteraction');
  const stored = await prisma.oidcRecord.findFirstOrThrow({
    where: { model: 'Interaction', accountId: user.id },
  });
  await prove(me);
  expect(
    await me.run('updateViewerPassword', { password: 'another correct horse battery' }),
  ).toMatchObject({ __typename: 'UpdateViewerPasswordPayload' });
  await prisma.oidcRecord.create({ data: { ...stored, payload: stored.payload as object } });
  const { url } = await browser.open(redirectTo);
  expect(url.searchParams.get('error')).toBe('access_denied');
  expect(await prisma.session.count({ where: { userId: user.id } })).toBe(1);
});

describe('an impersonation', async () => {
  const management = await prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  const support = await fixture.directory.createClient({
    allowTokenExchange: true,
    allowImpersonation: true,
  });
  const asManager = overGraphQL(service, await service.managementToken());
  await fixture.directory.allowUser(fixture.user, fixture.resource, ['read']);

  /** Signs a person in who may make applications act for others. */
  async function manager({ id, username }: { id: string; username: string | null }) {
    const { access_token: token } = await fixture.signIn({
      username: username ?? '',
      resource: management.indicator,
      scope: 'openid users:write',
    });
    const session = await prisma.session.findFirstOrThrow({
      where: { userId: id },
      orderBy: { id: 'desc' },
    });
    return { session: session.id, as: createMaker(overGraphQL(service, token)) };
  }
  type Manager = Awaited<ReturnType<typeof manager>>;

  const begin = async ({ as }: Manager) =>
    (await as.done('createSubjectToken', { userId: fixture.user.id, reason: 'none' })).token;
  const redeem = (token: string) =>
    exchange(service, support, {
      subject_token: token,
      subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
      resource: fixture.resource.indicator,
      scope: 'read',
    });
  const isLive = (token: unknown) => isActive(service, support, token);

  test.each<[string, (owner: AccountClient, userId: string, session: string) => Promise<unknown>]>([
    ['endOtherViewerSessions', (owner) => owner.run('endOtherViewerSessions')],
    ['endViewerSession', (owner, _user, id) => owner.run('endViewerSession', { id })],
    [
      'endUserSession',
      (_owner, userId, sessionId) => asManager('endUserSession', { userId, sessionId }),
    ],
    [
      'updateViewerPassword',
      async (owner) => {
        await prove(owner);
        await owner.run('updateViewerPassword', { password: 'another correct horse battery' });
      },
    ],
  ])('ends with its session, by %s', async (_name, end) => {
    const { user, me } = await person();
    await fixture.directory.allowUser(user, management, ['users:write']);
    const thief = await manager(user);
    const unused = await begin(thief);
    const { access_token: issued } = (await redeem(await begin(thief))).body;
    expect(await isLive(issued)).toBe(true);
    await end(me, user.id, thief.session);
    expect(await redeem(unused)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await isLive(issued)).toBe(false);
  });
});

test('pages find nothing by an id that no database holds', async () => {
  const { user } = await person();
  const browser = openBrowser(service.app.services.baseUrl);
  await browser.submit(await browser.open('/account'), {
    identifier: user.username ?? '',
    password,
  });
  const asked = await browser.open('/account/verify?to=/account/email&by=PASSWORD');
  await browser.submit(asked, { password });
  const csrf = /name="csrf" value="([^"]*)"/.exec((await browser.open('/account')).body)?.[1] ?? '';
  const post = async (path: string, values: Record<string, string>) => {
    const body = new URLSearchParams({ csrf, ...values });
    return (await browser.request(`/account/${path}`, { method: 'POST', body })).status;
  };
  const nul = { id: '\0' };
  expect((await browser.open('/account/email?v=%00')).status).toBe(200);
  for (const path of ['sessions', 'applications', 'factors', 'identities'])
    expect([path, await post(path, nul)]).toEqual([path, 303]);
  expect(await post('verify?by=EMAIL_CODE&v=%00', { code: '123456' })).toBe(422);
});

test('an exchanged token does not share the proof', async () => {
  const { me } = await person();
  await prove(me);
  const backend = await fixture.directory.createClient({
    allowTokenExchange: true,
    exchangeResources: ['urn:signet:account'],
  });
  const { body } = await exchange(service, backend, {
    subject_token: me.token,
    resource: 'urn:signet:account',
    scope: 'account:write',
  });
  const other = accountClient(service, String(body['access_token']));
  expect(await other.run('updateViewerUsername', { username: 'by_backend' })).toMatchObject({
    __typename: 'VerificationRequiredError',
  });
});

describe('at the same time', () => {
  test('guesses do not exceed the limit, over two nodes', async () => {
    const { user, me } = await person();
    const second = await startSecondNode(service);
    const there = accountClient(second, me.token);
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        (i % 2 ? me : there).run('verifyViewerPassword', { password: `guess ${i}` }),
      ),
    );
    const failed = results.filter(({ __typename }) => __typename === 'VerificationFailedError');
    expect(failed.length).toBeLessThan(10);
    const locked = results.filter(({ __typename }) => __typename === 'LockedError');
    expect(failed.length + locked.length).toBe(24);
    expect(
      await prisma.event.count({ where: { type: 'Identifier.Lockout', subjectId: user.id } }),
    ).toBeLessThanOrEqual(1);
  });

  test('a verified address is used once', async () => {
    const { user, me } = await person();
    await prove(me);
    const verificationId = await verifyEmail(me, 'once@example.org');
    const results = await Promise.all(
      Array.from({ length: 6 }, () => me.run('updateViewerEmail', { verificationId })),
    );
    expect(names(results).filter((name) => name === 'UpdateViewerEmailPayload')).toHaveLength(1);
    expect(names(results).filter((name) => name === 'VerificationFailedError')).toHaveLength(5);
    expect(
      await prisma.event.count({ where: { type: 'User.Data.Updated', subjectId: user.id } }),
    ).toBe(1);
  });

  test('a code counts once', async () => {
    const { user, me } = await person();
    const email = user.primaryEmail ?? '';
    const { verification } = await me.run('sendViewerCode', { email });
    const input = { verificationId: verification.id, code: await codeTo(service, email) };
    const results = await Promise.all(
      Array.from({ length: 6 }, () => me.run('verifyViewerCode', input)),
    );
    expect(names(results).filter((name) => name === 'VerifyViewerCodePayload')).toHaveLength(1);
  });

  test('two people want one address, and one gets it', async () => {
    const people = [await person(), await person()];
    const ids: string[] = [];
    for (const { me } of people) {
      await prove(me);
      ids.push(await verifyEmail(me, 'wanted@example.org'));
    }
    const results = await Promise.all(
      people.map(({ me }, i) => me.run('updateViewerEmail', { verificationId: ids[i] })),
    );
    expect(names(results)).toEqual(['ConflictError', 'UpdateViewerEmailPayload']);
    expect(await prisma.user.count({ where: { primaryEmail: 'wanted@example.org' } })).toBe(1);
  });

  test('two deletions delete once', async () => {
    const { user, me } = await person();
    await prove(me);
    const document = 'mutation { deleteViewer(input: {}) { __typename } }';
    const answers = await Promise.all([me.query(document), me.query(document)]);
    expect(answers.filter(({ body }) => body.data?.['deleteViewer'])).toHaveLength(1);
    expect(await prisma.event.count({ where: { type: 'User.Deleted', subjectId: user.id } })).toBe(
      1,
    );
  });
});

test('a proof dies with its session', async () => {
  const { user, me } = await person();
  await prove(me);
  await fetch(`${service.url}/api/users/${user.id}/is-suspended`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${await service.managementToken()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ isSuspended: true }),
  });
  const answer = await me.query('mutation { deleteViewer(input: {}) { __typename } }');
  expect(answer.status).toBe(401);
  expect(await prisma.user.count({ where: { id: user.id } })).toBe(1);
});

test('an address that is no longer the own proves nothing', async () => {
  const { user, me } = await person();
  const email = user.primaryEmail ?? '';
  const { verification } = await me.run('sendViewerCode', { email });
  await prisma.user.update({ where: { id: user.id }, data: { primaryEmail: 'moved@example.org' } });
  const code = await codeTo(service, email);
  expect(await me.run('verifyViewerCode', { verificationId: verification.id, code })).toMatchObject(
    { verifiedUntil: null },
  );
});

test.each([
  ['a huge name', 'updateViewer', { name: 'x'.repeat(10_000) }],
  ['half of a surrogate pair', 'updateViewer', { name: '\ud800' }],
  ['a NUL character', 'updateViewer', { name: 'a\0b' }],
  [
    'a deep profile',
    'updateViewer',
    { profile: JSON.parse(`${'{"a":'.repeat(80)}1${'}'.repeat(80)}`) },
  ],
  ['a NUL character in an address', 'sendViewerCode', { email: 'a\0b@example.com' }],
])('%s is refused with its field', async (_what, name, input) => {
  const { me } = await person();
  expect(await me.run(name, input)).toMatchObject({ __typename: 'InvalidInputError' });
});

test('a body beyond the limit is refused', async () => {
  const { me } = await person();
  const answer = await me.query(`# ${'x'.repeat(140_000)}\n{ viewer { id } }`);
  expect(answer.status).toBe(413);
});
