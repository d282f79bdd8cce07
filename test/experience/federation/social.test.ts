import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { endFederation } from '../../../src/identity-providers/federation.ts';
import { settledEvents } from '../../support/events.ts';
import { asPage, readInteraction, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  connect,
  continueWith,
  federate,
  manager,
  signInThere,
} from '../../support/people/federation.ts';
import { codeTo } from '../../support/people/messages.ts';
import { discover } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../../support/service.ts';

const [service, other] = [await startService(allowPrivate), await startService()];
const fixture = await createSignInFixture(service);
const there = await createSignInFixture(other);
const { client, database } = fixture;
const provider = 'Club & Sons';
const providerId = await connect(service, other, { name: provider });
const token = await service.managementToken();

const count = async () => (await settledEvents(service, token)).length;
const raised = async (from: number) => (await settledEvents(service, token)).slice(from);
const names = (found: readonly { name: string }[]) => found.map(({ name }) => name);

/** Somebody at the provider, by a name of their own. */
const personThere = (username: string, values: object = {}) =>
  there.createUser({
    username,
    primaryEmail: `${username}@example.com`,
    isEmailVerified: true,
    ...values,
  });
const come = (identifier: string, rest: object = {}) =>
  federate(service, other, { client, provider, identifier, ...rest });
const redeem = async (url: URL, verifier: string) =>
  (
    await oidc.authorizationCodeGrant(await discover(service, client), url, {
      pkceCodeVerifier: verifier,
    })
  ).claims();
const identitiesOf = (userId: string) =>
  database.prisma.userIdentity.findMany({ where: { userId } });

describe('a stranger', () => {
  test('completes the profile, is registered, and comes again', async () => {
    const { id } = await personThere('grace', { name: 'Grace Hopper' });
    const before = await count();
    const { browser, visit, verifier } = await come('grace');
    expect(visit.url.pathname).toMatch(/\/profile$/);
    expect(visit.body).toContain('grace@example.com is verified.');
    const done = await browser.submit(visit, { username: 'hopper' });
    const claims = await redeem(done.url, verifier);
    expect(claims).toMatchObject({ amr: ['fed'], acr: 'urn:signet:aal1' });
    expect(names(await raised(before))).toEqual(['User.Created', 'PostRegister']);
    const user = await database.prisma.user.findUniqueOrThrow({
      where: { id: claims?.sub ?? '' },
      include: { identities: true },
    });
    expect(user).toMatchObject({
      username: 'hopper',
      name: 'Grace Hopper',
      primaryEmail: 'grace@example.com',
      isEmailVerified: true,
      passwordDigest: null,
      identities: [{ issuer: other.app.services.issuer, subject: id, email: 'grace@example.com' }],
    });
    const between = await count();
    const again = await come('grace');
    expect(await redeem(again.visit.url, again.verifier)).toMatchObject({ sub: user.id });
    expect(names(await raised(between))).toEqual(['PostSignIn']);
  });

  test('is told of a user name that is taken', async () => {
    await personThere('taken-name');
    const { browser, visit } = await come('taken-name');
    const refused = await browser.submit(visit, { username: 'Ada' });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('This is already taken.');
    const done = await browser.submit(refused, { username: 'free_name' });
    expect(done.url.searchParams.get('code')).toBeTruthy();
  });

  test('gets no account while registration is closed', async () => {
    await personThere('late');
    await changeSettings(service, token, { signUpEnabled: false });
    const before = await count();
    const { visit } = await come('late');
    // That the sign-in failed is told a little later.
    const others = names(await raised(before)).filter((name) => name !== 'SignIn.Failed');
    await changeSettings(service, token, { signUpEnabled: true });
    expect(visit.body).toContain('You have no account here');
    expect(others).toEqual([]);
  });

  test('whose address is unverified verifies it here', async () => {
    await personThere('unsure', { isEmailVerified: false });
    await changeSettings(service, token, { signUpIdentifiers: ['EMAIL'] });
    const { browser, visit, verifier } = await come('unsure');
    expect(visit.url.pathname).toMatch(/\/register$/);
    const sent = await browser.submit(visit, { email: 'unsure@example.com' });
    const code = await codeTo(service, 'unsure@example.com');
    const profile = await browser.submit(sent, { code });
    expect(profile.url.pathname).toMatch(/\/profile$/);
    const done = await browser.submit(profile, {});
    await changeSettings(service, token, { signUpIdentifiers: ['USERNAME'] });
    const { sub = '' } = (await redeem(done.url, verifier)) ?? {};
    expect(await database.prisma.user.findUnique({ where: { id: sub } })).toMatchObject({
      primaryEmail: 'unsure@example.com',
      isEmailVerified: true,
    });
    expect(await identitiesOf(sub)).toHaveLength(1);
  });

  test('continues by the Experience API of their browser', async () => {
    await personThere('scripted');
    const { browser, visit } = await openSignInPage(service, client);
    const send = asPage(service, browser);
    expect(
      (await send('{ interaction { identityProviders { id name } error } }')).body.data,
    ).toEqual({
      interaction: { identityProviders: [{ id: providerId, name: provider }], error: null },
    });
    const started = await step(send, 'startFederation', { identityProviderId: providerId });
    expect(started).toMatchObject({ __typename: 'StartFederationPayload' });
    const callback = await signInThere(other, started['url'], 'scripted');
    await browser.open(callback);
    expect(await readInteraction(send)).toMatchObject({
      nextSteps: expect.arrayContaining(['COMPLETE_PROFILE']),
      missing: ['USERNAME'],
    });
    expect(await step(send, 'completeProfile', {})).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await step(send, 'completeProfile', { username: 'scripted' })).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    expect(await step(send, 'submitInteraction')).toMatchObject({
      redirectTo: expect.stringContaining('/oidc/auth/'),
    });
    expect(visit.status).toBe(200);
  });
});

/** What tells that an identity was linked, or removed. */
const linked = ['User.Data.Updated', 'User.Credential.Updated'];

describe('an account with the same address', () => {
  test('that both sides verified is linked', async () => {
    await personThere('both');
    const owner = await fixture.createUser({
      username: 'both_here',
      primaryEmail: 'Both@Example.com',
      isEmailVerified: true,
    });
    const before = await count();
    const { visit, verifier } = await come('both');
    expect(await redeem(visit.url, verifier)).toMatchObject({ sub: owner.id, amr: ['fed'] });
    const found = await raised(before);
    expect(names(found)).toEqual([...linked, 'PostSignIn']);
    expect(found[0]?.data['changes']).toEqual({
      identities: { from: [], to: [{ id: providerId, name: provider }] },
    });
    const [identity, ...more] = await identitiesOf(owner.id);
    expect(more).toEqual([]);
    expect(found[1]).toMatchObject({
      data: {
        userId: owner.id,
        credential: 'IDENTITY',
        credentialId: identity?.id,
        change: 'ADDED',
        name: provider,
      },
      actor: { type: 'USER', id: owner.id, clientId: client.id },
    });
  });

  test('that only the provider verified is signed in to first', async () => {
    await personThere('half');
    const owner = await fixture.createUser({
      username: 'half_here',
      primaryEmail: 'half@example.com',
    });
    const { browser, visit, verifier } = await come('half');
    expect(visit.body).toContain('An account with half@example.com already exists.');
    expect(await identitiesOf(owner.id)).toEqual([]);
    const before = await count();
    const done = await browser.submit(visit, { identifier: 'half_here', password });
    expect(await redeem(done.url, verifier)).toMatchObject({ sub: owner.id, amr: ['pwd'] });
    const found = await raised(before);
    expect(names(found)).toEqual([...linked, 'PostSignIn']);
    expect(found[0]?.data['changes']).toEqual({
      identities: { from: [], to: [{ id: providerId, name: provider }] },
      isEmailVerified: { from: false, to: true },
    });
    expect(await identitiesOf(owner.id)).toHaveLength(1);
  });

  test('is not linked to whoever else signs in then', async () => {
    await personThere('loose');
    await fixture.createUser({ username: 'loose_here', primaryEmail: 'loose@example.com' });
    const stranger = await fixture.createUser({ username: 'passer_by' });
    const { browser, visit, verifier } = await come('loose');
    const done = await browser.submit(visit, { identifier: 'passer_by', password });
    expect(await redeem(done.url, verifier)).toMatchObject({ sub: stranger.id });
    expect(await identitiesOf(stranger.id)).toEqual([]);
  });

  test('that is suspended is refused, linked or not', async () => {
    await personThere('gone');
    const owner = await fixture.createUser({
      username: 'gone_here',
      primaryEmail: 'gone@example.com',
      isEmailVerified: true,
    });
    await come('gone');
    await (await manager(service)).done('updateUserSuspensionStatus', {
      id: owner.id,
      isSuspended: true,
    });
    const before = await count();
    expect((await come('gone')).visit.body).toContain('This account cannot be used.');
    const [identity] = await identitiesOf(owner.id);
    const { userIdentity } = await (await manager(service)).done('deleteUserIdentity', {
      userId: owner.id,
      identityId: identity?.id,
    });
    expect(userIdentity.id).toBe(identity?.id);
    expect((await come('gone')).visit.body).toContain('This account cannot be used.');
    expect(names(await raised(before))).toEqual(linked);
  });
});

describe('the way there and back', () => {
  test('leads on when the person cancels at the provider', async () => {
    const { browser, visit } = await openSignInPage(service, client);
    const left = await continueWith(browser, visit, provider);
    const state = left.url.searchParams.get('state') ?? '';
    const iss = other.app.services.issuer;
    const back = await browser.open(
      `/sign-in/callback/${providerId}?${new URLSearchParams({ error: 'access_denied', state, iss })}`,
    );
    expect(back.url.pathname).toBe(visit.url.pathname);
    expect(back.body).toContain('The sign-in there was cancelled or refused.');
    const done = await browser.submit(back, { identifier: 'Ada', password });
    expect(done.url.searchParams.get('code')).toBeTruthy();
  });

  test('uses PKCE, state, nonce and the redirect URI', async () => {
    const { browser, visit } = await openSignInPage(service, client);
    const { url } = await continueWith(browser, visit, provider);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: `${service.app.services.baseUrl}/sign-in/callback/${providerId}`,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const rows = await database.prisma.$queryRaw<{ row: string }[]>`
      SELECT f::text AS "row" FROM "Federation" f`;
    expect(JSON.stringify(rows)).not.toContain(url.searchParams.get('state'));
  });

  test('offers nothing of a disabled provider, even halfway', async () => {
    await personThere('halfway');
    const { browser, visit } = await openSignInPage(service, client);
    const left = await continueWith(browser, visit, provider);
    const callback = await signInThere(other, left.url, 'halfway');
    const admin = await manager(service);
    await admin.done('updateIdentityProvider', { id: providerId, enabled: false });
    const back = await browser.open(callback);
    await admin.done('updateIdentityProvider', { id: providerId, enabled: true });
    expect(back.body).toContain('could not sign you in');
    expect(back.body).not.toContain('Continue with');
  });

  test('speaks German', async () => {
    const { browser, visit } = await openSignInPage(service, client, { ui_locales: 'de' });
    expect(visit.body).toContain('Weiter mit Club &amp; Sons');
    const back = await browser.open(`${visit.url.pathname}/federation?state=nothing`);
    expect(back.body).toContain('Das hat zu lange gedauert');
  });
});

describe('at the same time', () => {
  test('one of two callbacks counts', async () => {
    await personThere('double');
    const node = await startSecondNode(service);
    const { browser, visit } = await openSignInPage(service, client);
    const left = await continueWith(browser, visit, provider);
    const callback = await signInThere(other, left.url, 'double');
    const interactionId = (
      await database.prisma.federation.findFirstOrThrow({ orderBy: { createdAt: 'desc' } })
    ).interactionId as string;
    const results = await Promise.all(
      [service, node, service, node].map(({ app }) =>
        endFederation(app.services, { interactionId }, callback.searchParams),
      ),
    );
    expect(results.filter((result) => result !== null)).toHaveLength(1);
  });

  test('two browsers of one stranger make one account', async () => {
    await changeSettings(service, token, { signUpIdentifiers: ['EMAIL'] });
    await personThere('twice');
    const ways = await Promise.all(
      [1, 2, 3].map(async () => {
        const { browser, visit, verifier } = await openSignInPage(service, client);
        const left = await continueWith(browser, visit, provider);
        return { browser, verifier, callback: await signInThere(other, left.url, 'twice') };
      }),
    );
    const before = await count();
    const done = await Promise.all(ways.map(({ browser, callback }) => browser.open(callback)));
    await changeSettings(service, token, { signUpIdentifiers: ['USERNAME'] });
    const people = new Set(
      await Promise.all(
        done.map(async ({ url }, i) => (await redeem(url, ways[i]?.verifier ?? ''))?.sub),
      ),
    );
    expect(people.size).toBe(1);
    const found = names(await raised(before));
    expect(found.filter((name) => name === 'User.Created')).toHaveLength(1);
    expect(found.filter((name) => name === 'PostSignIn')).toHaveLength(2);
    expect(await identitiesOf([...people][0] ?? '')).toHaveLength(1);
  });
});
