import { expect, test } from 'vitest';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import {
  allowPrivate,
  connect,
  connectSteered,
  continueWith,
  signInThere,
} from '../../support/people/federation.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import { createSignInFixture, openSignInPage } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const [service, other] = [await startService(allowPrivate), await startService()];
const { client } = await createSignInFixture(service);
const there = await createSignInFixture(other);
await connect(service, other, { name: 'Club' });
const acme = await startOpenIdProvider(service.clock);
await connectSteered(service, acme, 'Acme');

const ago = (seconds: number) => Math.floor(service.clock.now().getTime() / 1000) - seconds;

test('a max_age reaches the provider, which asks again', async () => {
  await there.createUser({
    username: 'grace',
    primaryEmail: 'grace@example.com',
    isEmailVerified: true,
  });
  const atProvider = openBrowser(other.app.services.baseUrl);
  const first = await openSignInPage(service, client);
  const { browser } = first;
  const asked = await continueWith(browser, first.visit, 'Club');
  expect(asked.url.searchParams.has('max_age')).toBe(false);
  const back = await signInThere(other, asked.url, 'grace', atProvider);
  const arrived = await browser.submit(await browser.open(back), { username: 'grace' });
  expect(arrived.url.searchParams.has('code')).toBe(true);

  // The library measures it by the machine's clock.
  const longAgo = ago(300);
  for (const { testDatabase } of [service, other]) {
    await testDatabase.database.prisma.$executeRaw`
      UPDATE "OidcRecord" SET "payload" = "payload" || jsonb_build_object('loginTs', ${longAgo}::int)
       WHERE "model" = 'Session'`;
  }
  const { visit } = await openSignInPage(service, client, { browser, max_age: '60' });
  const { url } = await continueWith(browser, visit, 'Club');
  expect(url.searchParams.get('max_age')).toBe('60');
  expect((await atProvider.open(url)).url.pathname).toMatch(/^\/sign-in\//);
  const again = await browser.open(await signInThere(other, url, 'grace', atProvider));
  expect(again.url.searchParams.has('code')).toBe(true);
});

test.each([
  ['signs in', 'a sign-in there within it', () => ago(200), true],
  ['refuses', 'a sign-in there before it', () => ago(400), false],
  ['signs in', 'a provider that does not tell', () => undefined, true],
])('a max_age %s %s', async (_does, kind, authTime, isSignedIn) => {
  const { browser, visit } = await openSignInPage(service, client, { max_age: '300' });
  const { url } = await continueWith(browser, visit, 'Acme');
  const response = acme.signedIn(url, kind, { auth_time: authTime() });
  const end = await browser.open(response);
  // Whoever comes for the first time completes the profile.
  expect(end.url.pathname.endsWith('/profile')).toBe(isSignedIn);
  expect(service.logged.some(({ reason }) => /auth_time/.test(String(reason)))).toBe(!isSignedIn);
  service.logged.length = 0;
});
