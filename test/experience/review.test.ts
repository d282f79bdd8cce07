import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { digestOf } from '../../src/keys/digest.ts';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { enrollApp } from '../support/people/authenticator-app.ts';
import { asPage, startHeadless, step } from '../support/people/experience.ts';
import { allowPrivate, createIdentityProvider } from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { headingOf } from '../support/people/pages/ways-on.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const newPassword = 'a long way home, twice';
const { issuer, clientId, clientSecret } = await startOpenIdProvider(service.clock);
const provider = { name: 'Club & Sons', kind: 'SOCIAL', issuer, clientId, clientSecret };
await createIdentityProvider(service, provider);

let count = 0;
async function createPerson() {
  count += 1;
  const primaryEmail = `reviewer${count}@example.com`;
  const { id, username } = await fixture.createUser({ primaryEmail });
  return { id, username, primaryEmail };
}

async function link(userId: string) {
  const { id: identityProviderId } = await prisma.identityProvider.findFirstOrThrow();
  const email = 'thief@example.com';
  await fixture.directory.createIdentity(userId, identityProviderId, { issuer, email });
}

/** Recovers in a browser, up to what comes after the new password. */
async function recover(email: string, parameters: Record<string, unknown> = {}) {
  service.clock.advance(61_000);
  const { browser, visit } = await openSignInPage(service, fixture.client, parameters);
  const asking = await browser.open(`${visit.url.href}/forgot-password`);
  const entering = await browser.submit(asking, { email });
  const choosing = await browser.submit(entering, { code: await codeTo(service, email) });
  return { browser, first: visit, page: await browser.submit(choosing, { password: newPassword }) };
}
const isDone = ({ url }: { url: URL }) => url.searchParams.has('code');

test('a recovery ends with what else leads into the account, and goes on', async () => {
  const { id, primaryEmail } = await createPerson();
  await link(id);
  const { browser, first, page } = await recover(primaryEmail);
  expect([page.status, headingOf(page)]).toEqual([200, 'Check your account']);
  expect(page.body).toContain('Club &amp; Sons');
  expect(page.body).toContain('thief@example.com');
  expect(page.body).toContain(`href="${service.app.services.baseUrl}/account"`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  // A reload, Back, and a form that was open for too long lead here again.
  for (const path of ['/review', '', '/new-password'])
    expect(headingOf(await browser.open(`${first.url.href}${path}`))).toBe('Check your account');
  const stale = await browser.submit(page, { csrf: 'stale' });
  expect([stale.status, headingOf(stale)]).toEqual([403, 'Check your account']);
  expect(isDone(await browser.submit(stale, {}))).toBe(true);
  expect(await prisma.userIdentity.count({ where: { userId: id } })).toBe(1);
});

test('in German', async () => {
  const { id, primaryEmail } = await createPerson();
  await link(id);
  const { page } = await recover(primaryEmail, { ui_locales: 'de' });
  expect(headingOf(page)).toBe('Konto prüfen');
});

test('lists personal access tokens that were made since', async () => {
  const { id: userId, primaryEmail } = await createPerson();
  await link(userId);
  const { browser, page } = await recover(primaryEmail);
  const createdAt = service.clock.now();
  const expiresAt = new Date(createdAt.getTime() + 86_400_000);
  const digest = digestOf(userId);
  await prisma.personalAccessToken.create({
    data: {
      id: newId('PersonalAccessToken'),
      userId,
      name: '<b>bot',
      digest,
      createdAt,
      expiresAt,
    },
  });
  expect((await browser.open(page.url)).body).toContain('&lt;b&gt;bot');
});

test('where there is nothing to look over, and at any other sign-in, there is no page', async () => {
  const { id, username, primaryEmail } = await createPerson();
  expect(isDone((await recover(primaryEmail)).page)).toBe(true);
  await link(id);
  const { browser, visit } = await openSignInPage(service, fixture.client);
  const shown = { identifier: username ?? '', password: newPassword };
  const early = await browser.open(`${visit.url.href}/review`);
  expect(headingOf(early)).not.toBe('Check your account');
  expect(isDone(await browser.submit(visit, shown))).toBe(true);
});

test('a second factor comes first, and the page cannot take its place', async () => {
  await changeSettings(service, await service.managementToken(), { factors: ['TOTP'] });
  const { username, primaryEmail } = await createPerson();
  const enrolling = await startHeadless(service, { clientId: client.id, redirectUri });
  await step(enrolling.send, 'signInWithPassword', { identifier: username, password });
  const app = await enrollApp(enrolling.send, service.clock);
  const { browser, first, page } = await recover(primaryEmail);
  expect(page.url.pathname).toMatch(/\/factor/);
  const around = await browser.open(`${first.url.href}/review`);
  expect(around.url.pathname).toMatch(/\/factor/);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const forced = await browser.open(`${first.url.href}/review`, {
    method: 'POST',
    body: new URLSearchParams({ csrf }),
  });
  expect(forced.url.pathname).toMatch(/\/factor/);
  service.clock.advance(30_000);
  const review = await browser.submit(page, { code: app.code() });
  expect(headingOf(review)).toBe('Check your account');
  expect(review.body).toContain('Authenticator app');
  expect(isDone(await browser.submit(review, {}))).toBe(true);
  await changeSettings(service, await service.managementToken(), { factors: [] });
});

test('the Experience API asks for nothing new', async () => {
  const { id, primaryEmail: email } = await createPerson();
  await link(id);
  service.clock.advance(61_000);
  const { browser } = await openSignInPage(service, fixture.client);
  const headless = await startHeadless(service, { clientId: client.id, redirectUri });
  for (const send of [asPage(service, browser), headless.send]) {
    const { verification } = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const code = await codeTo(service, email);
    await step(send, 'verifyCode', { verificationId: verification.id, code });
    const set = await step(send, 'resetPassword', { password: newPassword });
    expect(set).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
    expect(await step(send, 'submitInteraction')).toHaveProperty('redirectTo');
  }
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
