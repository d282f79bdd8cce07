import { beforeEach, expect, test } from 'vitest';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { allowPrivate, connectSteered, continueWith } from '../../support/people/federation.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import { createSignInFixture, openSignInPage } from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService(allowPrivate);
const { client, createUser, database } = await createSignInFixture(service);
const { prisma } = database;
const acme = await startOpenIdProvider(service.clock);
await connectSteered(service, acme, 'Acme');

// The limits of an address count by the minute.
beforeEach(() => service.clock.advance(61_000));

const failures = async () =>
  (
    await prisma.event.findMany({
      where: { type: 'SignIn.Failed' },
      orderBy: { position: 'asc' },
      select: { data: true },
    })
  ).map(({ data }) => data);

/** What the events say once there is one more. */
async function failing(work: () => Promise<unknown>) {
  const before = (await failures()).length;
  await work();
  return eventually(async () => {
    const found = (await failures()).slice(before);
    expect(found).toHaveLength(1);
    return found[0];
  });
}

/** Leaves for the provider from the sign-in page, and comes back as `back` says. */
async function come(back: (url: URL) => URL, page = openSignInPage(service, client)) {
  const { browser, visit } = await page;
  const left = await continueWith(browser, visit, 'Acme');
  return { browser, visit: await browser.open(back(left.url)) };
}

const expected = (fields: object) => ({
  identifierType: null,
  userId: null,
  method: 'PROVIDER',
  applicationId: client.id,
  ip: '127.0.0.1',
  userAgent: expect.any(String),
  suppressed: null,
  ...fields,
});

test('a provider, or a person there, that says no', async () => {
  const denied = (url: URL) => {
    const callback = acme.signedIn(url, 'anybody');
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    return callback;
  };
  expect(await failing(() => come(denied))).toEqual(expected({ reason: 'PROVIDER' }));
});

test('an answer that cannot be trusted', async () => {
  const forged = (url: URL) => acme.signedIn(url, 'anybody', { aud: 'another' });
  expect(await failing(() => come(forged))).toEqual(expected({ reason: 'PROVIDER' }));
});

test('an account that is suspended', async () => {
  const email = 'gone@example.com';
  const claims = { email, email_verified: true };
  const { id } = await createUser({ primaryEmail: email, isEmailVerified: true });
  await prisma.user.update({ where: { id }, data: { isSuspended: true } });
  const back = (url: URL) => acme.signedIn(url, 'gone', claims);
  expect(await failing(() => come(back))).toEqual(expected({ reason: 'SUSPENDED', userId: id }));
});

test('a stranger, while sign-up is closed', async () => {
  const token = await service.managementToken();
  await changeSettings(service, token, { signUpEnabled: false });
  const back = (url: URL) => acme.signedIn(url, 'stranger');
  expect(await failing(() => come(back))).toEqual(expected({ reason: 'CREDENTIAL' }));
  await changeSettings(service, token, { signUpEnabled: true });
});

test('a proof at the account by another identity', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const left = await continueWith(browser, await browser.open('/account'), 'Acme');
  const profile = await browser.open(acme.signedIn(left.url, 'owner'));
  await browser.submit(profile, { username: 'owner' });
  const { id } = await prisma.user.findFirstOrThrow({ where: { username: 'owner' } });
  const asked = await browser.open('/account/username');
  const { url } = await continueWith(browser, asked, 'Acme');
  expect(await failing(() => browser.open(acme.signedIn(url, 'somebody')))).toEqual(
    expected({ reason: 'PROVIDER', userId: id, applicationId: expect.stringMatching(/^app_/) }),
  );
});
