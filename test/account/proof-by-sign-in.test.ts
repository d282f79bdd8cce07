import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import {
  accountClient,
  accountIndicator,
  createAccountFixture,
} from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../support/people/federation.ts';
import { type Browser, discover, openBrowser } from '../support/people/sign-in.ts';
import {
  authorize,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const { createUser, createApplication, signInTo, database, client } =
  await createAccountFixture(service);
const { prisma } = database;
const acme = await startOpenIdProvider(service.clock);
const identityProviderId = await connectSteered(service, acme, 'Acme');
const scope = 'openid account:read account:write';

interface Arrived {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
}

/** Signs in at the application by the provider, up to the code. */
async function arrive(
  browser: Browser,
  subject: string,
  {
    application = client,
    claims = {},
    ...parameters
  }: { application?: typeof client; claims?: object } & Record<string, unknown> = {},
): Promise<Arrived & { sentTo: URL | undefined }> {
  const asked = { browser, scope, resource: accountIndicator, ...parameters };
  let { visit, verifier } = await openSignInPage(service, application, asked);
  let sentTo: URL | undefined;
  if (visit.url.pathname.startsWith('/sign-in/')) {
    sentTo = (await continueWith(browser, visit, 'Acme')).url;
    const back = acme.signedIn(sentTo, subject, { ...claims });
    visit = await browser.open(back);
    if (visit.url.pathname.endsWith('/profile'))
      visit = await browser.submit(visit, { username: subject.replace('-', '_') });
  }
  const code = visit.url.searchParams.get('code') ?? '';
  return { code, codeVerifier: verifier, redirectUri, sentTo };
}

let people = 0;
/** Somebody who has nothing but an identity at the provider, with a token of the application. */
async function person() {
  people += 1;
  const subject = `subject-${people}`;
  const browser = openBrowser(service.app.services.baseUrl);
  const { code, codeVerifier } = await arrive(browser, subject);
  const back = new URL(
    `${redirectUri}?${new URLSearchParams({ code, iss: service.app.services.issuer })}`,
  );
  const tokens = await oidc.authorizationCodeGrant(
    await discover(service, client),
    back,
    { pkceCodeVerifier: codeVerifier },
    { resource: accountIndicator },
  );
  const me = accountClient(service, tokens.access_token);
  return { subject, browser, me, spent: { code, codeVerifier, redirectUri } };
}

const prove = (me: Awaited<ReturnType<typeof person>>['me'], arrived: Arrived) =>
  me.run('verifyViewerSignIn', {
    code: arrived.code,
    codeVerifier: arrived.codeVerifier,
    redirectUri: arrived.redirectUri,
  });

const change = (me: Awaited<ReturnType<typeof person>>['me']) =>
  me.run('updateViewerUsername', { username: `renamed${people}` });

const fresh = { prompt: 'login' };
const failed = { __typename: 'VerificationFailedError' };
const required = { __typename: 'VerificationRequiredError', methods: ['IDENTITY_PROVIDER'] };

test('a new sign-in at the provider proves, for ten minutes', async () => {
  const { subject, browser, me } = await person();
  expect(await change(me)).toMatchObject(required);
  const { sentTo, ...arrived } = await arrive(browser, subject, fresh);
  expect(sentTo?.searchParams.get('prompt')).toBe('login');
  expect(await change(me)).toMatchObject(required);
  const { __typename, verifiedUntil } = await prove(me, arrived);
  expect(__typename).toBe('VerifyViewerSignInPayload');
  const lasts = new Date(verifiedUntil).getTime() - service.clock.now().getTime();
  expect(lasts).toBeGreaterThan(0);
  expect(lasts).toBeLessThanOrEqual(600_000);
  expect(await change(me)).toMatchObject({ __typename: 'UpdateViewerUsernamePayload' });
  service.clock.advance(601_000);
  expect(await change(me)).toMatchObject(required);
});

test('the sign-in that brought the token proves nothing', async () => {
  const { subject, browser, me, spent } = await person();
  expect(await prove(me, spent)).toMatchObject(failed);
  // A code that asked nobody: the browser was signed in.
  const silent = await arrive(browser, subject);
  expect(silent.sentTo).toBeUndefined();
  expect(await prove(me, silent)).toMatchObject(failed);
  // A first sign-in in another browser, where the provider may have asked nothing.
  const other = await arrive(openBrowser(service.app.services.baseUrl), subject);
  expect(await prove(me, other)).toMatchObject(failed);
  expect(await change(me)).toMatchObject(required);
});

test('a code counts once, on two nodes at once', async () => {
  const { subject, browser, me } = await person();
  const arrived = await arrive(browser, subject, fresh);
  const { url } = await startSecondNode(service);
  const elsewhere = accountClient({ url }, me.token);
  const answers = await Promise.all([
    prove(me, arrived),
    prove(elsewhere, arrived),
    prove(me, arrived),
    prove(elsewhere, arrived),
  ]);
  expect(
    answers.filter(({ __typename }) => __typename === 'VerifyViewerSignInPayload'),
  ).toHaveLength(1);
  const redeemed = oidc.authorizationCodeGrant(
    await discover(service, client),
    new URL(`${redirectUri}?code=${arrived.code}&iss=${service.app.services.issuer}`),
    { pkceCodeVerifier: arrived.codeVerifier },
  );
  await expect(redeemed).rejects.toMatchObject({ error: 'invalid_grant' });
});

test.each([
  ['another verifier', { codeVerifier: 'a'.repeat(43) }],
  ['another redirect URI', { redirectUri: 'https://app.example.com/other' }],
  ['another code', { code: 'a'.repeat(43) }],
  ['a NUL character', { redirectUri: 'a\u0000', codeVerifier: '\u0000' }],
])('a code with %s proves nothing', async (_what, wrong) => {
  const { subject, browser, me } = await person();
  const arrived = await arrive(browser, subject, fresh);
  expect(await prove(me, { ...arrived, ...wrong })).toMatchObject(failed);
  expect(await change(me)).toMatchObject(required);
  // It was not used up.
  expect(await prove(me, arrived)).toMatchObject({ __typename: 'VerifyViewerSignInPayload' });
});

test('the code of another person or application proves nothing', async () => {
  const [one, two] = [await person(), await person()];
  expect(await prove(one.me, await arrive(two.browser, two.subject, fresh))).toMatchObject(failed);
  const application = await createApplication();
  const elsewhere = await arrive(one.browser, one.subject, { ...fresh, application });
  expect(await prove(one.me, elsewhere)).toMatchObject(failed);
  expect(await change(one.me)).toMatchObject(required);
});

test('a sign-in of ten minutes ago proves nothing', async () => {
  const { subject, browser, me } = await person();
  const arrived = await arrive(browser, subject, fresh);
  service.clock.advance(601_000);
  expect(await prove(me, arrived)).toMatchObject(failed);
});

test('the provider must have asked just now, if it tells', async () => {
  const { subject, browser } = await person();
  const claims = { auth_time: Math.floor(service.clock.now().getTime() / 1000) - 3600 };
  expect((await arrive(browser, subject, { ...fresh, claims })).code).toBe('');
});

test('a sign-in that a thief began without a browser proves nothing', async () => {
  const { subject, me } = await person();
  await prisma.application.update({
    where: { id: client.id },
    data: { allowHeadlessSignIn: true },
  });
  const thief = await startHeadless(service, {
    clientId: client.id,
    redirectUri,
    scope,
    resource: accountIndicator,
  });
  const { url = '' } = await step(thief.send, 'startFederation', { identityProviderId });
  const victim = openBrowser(service.app.services.baseUrl);
  const asked = await victim.open(acme.signedIn(new URL(url), subject));
  await victim.submit(asked, {});
  const { redirectTo = '' } = await step(thief.send, 'submitInteraction');
  const code = new URL(redirectTo).searchParams.get('code') ?? '';
  expect(code).not.toBe('');
  const codeVerifier = thief.verifier;
  expect(await prove(me, { code, codeVerifier, redirectUri })).toMatchObject(failed);
});

test('whoever has another way proves by that', async () => {
  const { id, username } = await createUser();
  await prisma.userIdentity.create({
    data: {
      id: 'identity_00000000000000000000000001',
      userId: id,
      identityProviderId,
      issuer: acme.issuer,
      subject: 'both',
      linkedAt: service.clock.now(),
    },
  });
  const me = await signInTo(username ?? '');
  expect(await change(me)).toMatchObject({ methods: ['PASSWORD'] });
  const browser = openBrowser(service.app.services.baseUrl);
  await arrive(browser, 'both');
  const arrived = await arrive(browser, 'both', fresh);
  expect(await prove(me, arrived)).toMatchObject({ __typename: 'NotAllowedError' });
  // A sign-in by the password is none by the provider.
  const { url, verifier } = await authorize(service, client, {
    ...fresh,
    scope,
    resource: accountIndicator,
  });
  const visit = await browser.submit(await browser.open(url), {
    identifier: username ?? '',
    password,
  });
  const code = visit.url.searchParams.get('code') ?? '';
  await prisma.user.update({
    where: { id },
    data: { passwordDigest: null, passwordAlgorithm: null },
  });
  expect(await prove(me, { code, codeVerifier: verifier, redirectUri })).toMatchObject(failed);
});

test('a disabled provider is no way', async () => {
  const { subject, browser, me } = await person();
  const arrived = await arrive(browser, subject, fresh);
  const admin = await manager(service);
  await admin.done('updateIdentityProvider', { id: identityProviderId, enabled: false });
  expect(await change(me)).toMatchObject({ methods: [] });
  expect(await prove(me, arrived)).toMatchObject({ __typename: 'NotAllowedError' });
  await admin.done('updateIdentityProvider', { id: identityProviderId, enabled: true });
});
