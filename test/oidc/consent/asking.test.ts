import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createSignInFixture, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { answerOf, asked, asksConsent, consentDriver } from './driver.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const { resource } = fixture;
const { createPair, begin, signedIn, redeem, grantsOf } = consentDriver(service, fixture);

test('asks after the sign-in, and issues tokens', async () => {
  const pair = await createPair();
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid email read write',
    resource: resource.indicator,
  });
  expect(asksConsent(visit)).toBe(true);
  expect(asked(visit)).toEqual(['Know who you are', 'Your e-mail address', 'read']);
  expect(visit.body).toContain('app.example.com');
  expect(visit.body).toContain('Grace Hopper');
  expect(await grantsOf(pair.user)).toEqual([]);
  const done = await browser.submit(visit, {});
  expect(done.url.href).toContain(redirectUri);
  const tokens = await redeem(pair, done, verifier);
  expect(decodeJwt(tokens.access_token)).toMatchObject({ scope: 'read', sub: pair.user.id });
  const [grant] = await grantsOf(pair.user);
  expect(grant?.scopes.map(({ name }) => name).sort()).toEqual(['email', 'openid', 'read']);
});

test('asks no second time, with and without the session', async () => {
  const pair = await createPair();
  const { browser, visit } = await begin(pair);
  await browser.submit(visit, {});
  const again = await begin(pair, {}, browser);
  expect(answerOf(again.visit)).toHaveProperty('code');
  const elsewhere = await begin(pair);
  expect(answerOf(elsewhere.visit)).toHaveProperty('code');
});

describe('in a session', () => {
  test('asks without a sign-in, and raises no PostSignIn', async () => {
    const pair = await createPair();
    const browser = await signedIn(pair);
    const signIns = await prisma.event.count({ where: { type: 'PostSignIn' } });
    const { visit, verifier } = await begin(pair, {}, browser);
    expect(asksConsent(visit)).toBe(true);
    const done = await browser.submit(visit, {});
    const tokens = await redeem(pair, done, verifier);
    expect(tokens.claims()).toMatchObject({ sub: pair.user.id, amr: ['pwd'] });
    expect(await prisma.event.count({ where: { type: 'PostSignIn' } })).toBe(signIns);
  });

  test('asks only for what is new', async () => {
    const pair = await createPair();
    const browser = await signedIn(pair);
    const first = await begin(pair, {}, browser);
    await browser.submit(first.visit, {});
    const { visit } = await begin(pair, { scope: 'openid profile' }, browser);
    expect(asked(visit)).toEqual(['Your name, picture and profile']);
  });

  test('asks again with prompt=consent, for everything', async () => {
    const pair = await createPair();
    const browser = await signedIn(pair);
    const first = await begin(pair, { scope: 'openid email' }, browser);
    await browser.submit(first.visit, {});
    const { visit, verifier } = await begin(
      pair,
      { scope: 'openid email', prompt: 'consent' },
      browser,
    );
    expect(asked(visit)).toEqual(['Know who you are', 'Your e-mail address']);
    expect(await redeem(pair, await browser.submit(visit, {}), verifier)).toHaveProperty(
      'id_token',
    );
  });

  test('answers prompt=none with consent_required', async () => {
    const pair = await createPair();
    const browser = await signedIn(pair);
    const { visit } = await begin(pair, { prompt: 'none' }, browser);
    expect(answerOf(visit)).toMatchObject({ error: 'consent_required' });
    const { visit: page } = await begin(pair, {}, browser);
    await browser.submit(page, {});
    const after = await begin(pair, { prompt: 'none' }, browser);
    expect(answerOf(after.visit)).toHaveProperty('code');
  });

  test('asks the signed-in person with prompt=login and consent', async () => {
    const pair = await createPair();
    const browser = await signedIn(pair);
    const signIns = () => prisma.event.count({ where: { type: 'PostSignIn' } });
    const before = await signIns();
    const { visit, verifier } = await begin(pair, { prompt: 'login consent' }, browser);
    expect(asksConsent(visit)).toBe(true);
    const done = await browser.submit(visit, {});
    expect(await redeem(pair, done, verifier)).toHaveProperty('id_token');
    expect(await signIns()).toBe(before + 1);
  });
});

test('leads back with access_denied, and keeps nothing', async () => {
  const pair = await createPair();
  const { browser, visit } = await begin(pair, { state: 'abc' });
  const denied = await browser.submit(visit, { cancel: 'yes' });
  expect(answerOf(denied)).toMatchObject({ error: 'access_denied', state: 'abc' });
  expect(await grantsOf(pair.user)).toEqual([]);
  expect(await prisma.session.count({ where: { userId: pair.user.id } })).toBe(0);
});

test('asks nobody for an application of the operator', async () => {
  const user = await fixture.createUser();
  const { visit } = await begin({ user, client: fixture.client }, { prompt: 'consent' });
  expect(answerOf(visit)).toHaveProperty('code');
  expect(await grantsOf(user)).toEqual([]);
});

test('never gives a third party the account API', async () => {
  const pair = await createPair();
  const account = await prisma.resource.findUnique({ where: { indicator: 'urn:signet:account' } });
  if (!account)
    await fixture.directory.createResource(['account:read'], { indicator: 'urn:signet:account' });
  const parameters = { scope: 'openid account:read', resource: 'urn:signet:account' };
  const { visit } = await begin(pair, parameters);
  expect(answerOf(visit)).toMatchObject({ error: 'invalid_target' });
});
