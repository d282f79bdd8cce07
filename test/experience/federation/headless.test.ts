import { describe, expect, test } from 'vitest';
import { startViewerFederation } from '../../../src/experience/federation/viewer.ts';
import { beginFederation } from '../../../src/identity-providers/federation.ts';
import { settledEvents } from '../../support/events.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { readInteraction, startHeadless, step } from '../../support/people/experience.ts';
import {
  allowPrivate,
  createIdentityProvider,
  passThrough,
} from '../../support/people/federation.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { database } = fixture;
const client = await fixture.createApplication({ name: 'Pocket', allowHeadlessSignIn: true });
const provider = await startOpenIdProvider();
const { issuer, clientId, clientSecret } = provider;
const identityProviderId = await createIdentityProvider(service, {
  ...{ name: 'Club', kind: 'SOCIAL', issuer, clientId, clientSecret },
});
const token = await service.managementToken();
const count = async () => (await settledEvents(service, token)).length;
const names = async (from: number) =>
  (await settledEvents(service, token)).slice(from).map(({ name }) => name);

/** What tells that an identity was linked. */
const linked = ['User.Data.Updated', 'User.Credential.Updated'];

let people = 0;
/** Somebody with an account here and at the provider. */
async function linkable() {
  people += 1;
  const primaryEmail = `person${people}@example.com`;
  const user = await fixture.createUser({ primaryEmail, isEmailVerified: true });
  provider.expect(`subject-${people}`, { email: primaryEmail, email_verified: true });
  return user;
}

describe('a program that holds the interaction', () => {
  /** Begins in the program, and opens the URL in some browser. */
  async function come() {
    const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
    const { url } = await step(send, 'startFederation', { identityProviderId });
    const browser = openBrowser(service.app.services.baseUrl);
    return { send, browser, visit: await browser.open(await passThrough(url)) };
  }

  test('goes on once the person has confirmed it', async () => {
    const user = await linkable();
    const { send, browser, visit } = await come();
    // A link that somebody else sent must not sign them in as this person.
    expect(visit.body).toContain('You come from Club as');
    expect(visit.body).toContain('Pocket');
    expect(await readInteraction(send)).toMatchObject({
      nextSteps: expect.not.arrayContaining(['SUBMIT', 'COMPLETE_PROFILE']),
    });
    expect(await database.prisma.userIdentity.count({ where: { userId: user.id } })).toBe(0);
    const done = await browser.submit(visit, {});
    expect(done.body).toContain('Go back to Pocket.');
    expect(await readInteraction(send)).toMatchObject({ nextSteps: ['SUBMIT'] });
    expect(await step(send, 'submitInteraction')).toMatchObject({
      redirectTo: expect.stringContaining(redirectUri),
    });
  });

  test('learns that the person refused', async () => {
    await linkable();
    const { send, browser, visit } = await come();
    const before = await count();
    await browser.submit(visit, { cancel: 'yes' });
    expect((await send('{ interaction { error } }')).body.data).toEqual({
      interaction: { error: 'access_denied' },
    });
    expect((await browser.submit(visit, {})).status).toBe(404);
    expect(await names(before)).toEqual([]);
  });

  test('is confirmed once, and from this page alone', async () => {
    await linkable();
    const { send, browser, visit } = await come();
    const foreign = await browser.submit(visit, {}, { origin: 'https://evil.example' });
    expect(foreign.status).toBe(404);
    const answers = await Promise.all([1, 2, 3].map(() => browser.submit(visit, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    const before = await count();
    await step(send, 'submitInteraction');
    expect(await names(before)).toEqual([...linked, 'PostSignIn']);
  });
});

describe('a user who has signed in', () => {
  const link = async (userId: string) => {
    const { url } = await startViewerFederation(
      service.app.services,
      { userId, clientId: client.id },
      { identityProviderId },
    );
    return passThrough(url);
  };
  const signedIn = async (username: string) => {
    const browser = openBrowser(service.app.services.baseUrl);
    await fixture.signIn({ username, password, browser });
    return browser;
  };

  test('links an identity in a browser of their own', async () => {
    const user = await fixture.createUser({ username: 'linker' });
    provider.expect('linker-there', {});
    const browser = await signedIn('linker');
    const callback = await link(user.id);
    const before = await count();
    expect((await browser.open(callback)).body).toContain('Club is linked to your account');
    expect(await names(before)).toEqual(linked);
    expect((await browser.open(callback)).status).toBe(422);
    expect(await database.prisma.userIdentity.findMany({ where: { userId: user.id } })).toEqual([
      expect.objectContaining({ issuer, subject: 'linker-there' }),
    ]);
  });

  test('gets no identity of another person', async () => {
    const user = await fixture.createUser({ username: 'phisher' });
    await fixture.createUser({ username: 'victim' });
    provider.expect('victim-there', {});
    const callback = await link(user.id);
    const nobody = openBrowser(service.app.services.baseUrl);
    for (const browser of [nobody, await signedIn('victim')]) {
      const refused = await browser.open(callback);
      expect(refused.status).toBe(422);
      expect(refused.body).toContain('not signed in to the account');
    }
    expect(await database.prisma.userIdentity.count({ where: { subject: 'victim-there' } })).toBe(
      0,
    );
    // Nothing was used up.
    expect((await (await signedIn('phisher')).open(callback)).status).toBe(200);
  });

  test('is refused an identity that another account has', async () => {
    const user = await fixture.createUser({ username: 'second' });
    provider.expect('linker-there', {});
    const browser = await signedIn('second');
    const refused = await browser.open(await link(user.id));
    expect(refused.body).toContain('It belongs to another account here.');
    expect(await database.prisma.userIdentity.count({ where: { userId: user.id } })).toBe(0);
  });
});

test('a callback with a strange state is told where to go', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  for (const query of [
    '',
    '?state=',
    `?state=h.${'x'.repeat(43)}`,
    '?state=%00',
    '?code=a&state=a',
  ]) {
    const visit = await browser.open(`/sign-in/callback${query}`);
    expect([404, 422]).toContain(visit.status);
    expect(visit.body).toContain('<h1>');
  }
});

test('a provider that is out of reach is told', async () => {
  const id = await createIdentityProvider(service, {
    ...{ name: 'Gone', kind: 'SOCIAL', issuer: 'http://127.0.0.1:9', clientId },
  });
  const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
  expect(await step(send, 'startFederation', { identityProviderId: id })).toMatchObject({
    code: 'NOT_ALLOWED',
  });
  const stored = await database.prisma.identityProvider.findUniqueOrThrow({ where: { id } });
  await expect(
    beginFederation(service.app.services, stored, { userId: fixture.user.id }, { prefix: 'a' }),
  ).rejects.toThrow();
  expect(await database.prisma.federation.count({ where: { identityProviderId: id } })).toBe(0);
});
