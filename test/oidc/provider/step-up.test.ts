import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { authenticatorApp, enrollApp } from '../../support/people/authenticator-app.ts';
import { asPage, readInteraction, startHeadless, step } from '../../support/people/experience.ts';
import { type Browser, discover, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { clock } = service;
const fixture = await createSignInFixture(service);
const { client, resource, directory } = fixture;
const token = await service.managementToken();
const config = await discover(service, client);
const offer = (factors: string[]) => changeSettings(service, token, { factors });
const [aal1, aal2] = ['urn:signet:aal1', 'urn:signet:aal2'];

/** A person who is signed in by password, with an authenticator app that no session has seen. */
async function createSignedIn({ withApp = true } = {}) {
  await offer([]);
  const person = await fixture.createUser();
  await directory.allowUser(person, resource, ['read']);
  const browser = openBrowser(service.app.services.baseUrl);
  const identifier = person.username ?? '';
  const tokens = await fixture.signIn({ browser, username: identifier });
  await offer(['TOTP']);
  const { send } = await startHeadless(service, {
    clientId: (await headlessClient).id,
    redirectUri,
  });
  await step(send, 'signInWithPassword', { identifier, password });
  const app = withApp ? await enrollApp(send, clock) : undefined;
  // A code counts once.
  if (app) clock.advance(30_000);
  else await step(send, 'skipEnrollment');
  const shown = { code: () => app?.code() ?? '', wrongCode: () => app?.wrongCode() ?? '' };
  return { person, browser, tokens, ...shown };
}
const headlessClient = fixture.createApplication({ allowHeadlessSignIn: true });

async function open(browser: Browser, parameters: Record<string, string>) {
  const { url, verifier } = await authorize(service, client, {
    scope: 'openid read',
    resource: resource.indicator,
    ...parameters,
  });
  return { visit: await browser.open(url), verifier };
}

async function redeem({ url }: Visit, verifier: string) {
  return oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
}

const heading = ({ body }: Visit) => /<h1>([^<]*)/.exec(body)?.[1];
const askApp = 'Enter the code of your app';

test('asks a session for the second factor alone', async () => {
  const { person, browser, tokens, code, wrongCode } = await createSignedIn();
  expect(tokens.claims()).toMatchObject({ acr: aal1, amr: ['pwd'] });
  clock.advance(60_000);
  const { visit, verifier } = await open(browser, { acr_values: aal2 });
  expect(heading(visit)).toBe(askApp);
  const wrong = await browser.submit(visit, { code: wrongCode() });
  expect([wrong.status, heading(wrong)]).toEqual([422, askApp]);
  const stepped = await redeem(await browser.submit(wrong, { code: code() }), verifier);
  const expected = {
    sub: person.id,
    acr: aal2,
    amr: ['pwd', 'otp', 'mfa'],
    // When the password was shown.
    auth_time: tokens.claims()?.['auth_time'],
  };
  expect(stepped.claims()).toMatchObject(expected);
  expect(decodeJwt(stepped.access_token)).toMatchObject(expected);
  // From now on the session has both.
  const again = await open(browser, { acr_values: aal2, prompt: 'none' });
  expect((await redeem(again.visit, again.verifier)).claims()).toMatchObject(expected);
  const [session, ...others] = await fixture.database.prisma.session.findMany({
    where: { userId: person.id },
  });
  expect(others).toEqual([]);
  expect(session?.authenticationMethods).toEqual(['pwd', 'otp', 'mfa']);
});

test('by the Experience API, the person is known already', async () => {
  const { browser, code } = await createSignedIn();
  const { verifier } = await open(browser, { acr_values: aal2 });
  const send = asPage(service, browser);
  expect(await readInteraction(send)).toMatchObject({ nextSteps: ['VERIFY_FACTOR'] });
  await step(send, 'verifyTotp', { code: code() });
  const { redirectTo } = await step(send, 'submitInteraction');
  const tokens = await redeem(await browser.open(redirectTo), verifier);
  expect(tokens.claims()).toMatchObject({ acr: aal2 });
});

test('whoever has no factor adds one', async () => {
  const { browser } = await createSignedIn({ withApp: false });
  const { visit, verifier } = await open(browser, { acr_values: aal2 });
  expect(heading(visit)).toBe('Set up an authenticator app');
  expect(visit.body).not.toContain('Not now');
  const key = /<code>([A-Z2-7 ]{39})</.exec(visit.body)?.[1]?.replaceAll(' ', '') ?? '';
  const done = await browser.submit(visit, { code: authenticatorApp(clock, key).code() });
  expect((await redeem(done, verifier)).claims()).toMatchObject({ acr: aal2 });
});

test('an old session alone adds no factor', async () => {
  const { person, browser } = await createSignedIn({ withApp: false });
  clock.advance(11 * 60_000);
  const { visit } = await open(browser, { acr_values: aal2 });
  expect(await step(asPage(service, browser), 'enrollTotp')).toMatchObject({ code: 'NOT_ALLOWED' });
  const signedIn = await browser.submit(visit, { identifier: person.username ?? '', password });
  expect(heading(signedIn)).toBe('Set up an authenticator app');
});

test('an old session adds no factor after the deletion of its own', async () => {
  const { person, browser } = await createSignedIn();
  clock.advance(11 * 60_000);
  const { visit } = await open(browser, { acr_values: aal2 });
  expect(heading(visit)).toBe(askApp);
  await fixture.database.prisma.userFactor.deleteMany({ where: { userId: person.id } });
  expect(await step(asPage(service, browser), 'enrollTotp')).toMatchObject({
    code: 'INTERACTION_EXPIRED',
  });
  const anew = await browser.submit(await browser.open(visit.url), {});
  const signedIn = await browser.submit(anew, { identifier: person.username ?? '', password });
  expect(heading(signedIn)).toBe('Set up an authenticator app');
});

test.each([
  ['an application that accepts both', { acr_values: `${aal2} ${aal1}` }],
  ['one that asks for something unknown', { acr_values: 'urn:example:gold' }],
  ['one that asks for nothing', {}],
])('leaves the session of %s alone', async (_which, parameters) => {
  const { browser } = await createSignedIn();
  const { visit, verifier } = await open(browser, parameters as Record<string, string>);
  expect((await redeem(visit, verifier)).claims()).toMatchObject({ acr: aal1 });
});

test('leaves a session alone where no factor is offered', async () => {
  const { browser } = await createSignedIn();
  await offer([]);
  const { visit, verifier } = await open(browser, { acr_values: aal2 });
  expect((await redeem(visit, verifier)).claims()).toMatchObject({ acr: aal1 });
});

test('tells an application that forbids to ask', async () => {
  const { browser } = await createSignedIn();
  const { visit } = await open(browser, { acr_values: aal2, prompt: 'none' });
  expect(visit.url.searchParams.get('error')).toBe('login_required');
});

test.each([
  ['max_age has passed', { max_age: '30' }],
  ['the application asks for it', { prompt: 'login' }],
])('asks for the password too when %s', async (_when, parameters) => {
  const { browser, tokens, person, code } = await createSignedIn();
  clock.advance(60_000);
  const { visit, verifier } = await open(browser, { acr_values: aal2, ...parameters });
  expect(heading(visit)).toBe('Sign in');
  const known = await browser.submit(visit, { identifier: person.username ?? '', password });
  expect(heading(known)).toBe(askApp);
  const again = await redeem(await browser.submit(known, { code: code() }), verifier);
  expect(again.claims()).toMatchObject({ acr: aal2 });
  expect(again.claims()?.['auth_time']).toBeGreaterThan(Number(tokens.claims()?.['auth_time']));
});

test('a session that ended meanwhile steps nobody up', async () => {
  const { browser, person, code } = await createSignedIn();
  const { visit } = await open(browser, { acr_values: aal2 });
  clock.advance(2_000);
  await fixture.database.prisma.user.update({
    where: { id: person.id },
    data: { tokensValidAfter: clock.now() },
  });
  const late = await browser.submit(visit, { code: code() });
  expect([late.status, heading(late)]).toEqual([404, 'This sign-in cannot continue']);
});

test('another account can be used instead', async () => {
  const { browser } = await createSignedIn();
  const { visit } = await open(browser, { acr_values: aal2 });
  const csrf = /name="csrf" value="([^"]*)"/.exec(visit.body)?.[1] ?? '';
  const to = visit.url.pathname.replace('/factor/app', '/other-account');
  const first = await browser.open(to, {
    method: 'POST',
    body: new URLSearchParams({ csrf, other: 'yes' }),
  });
  expect(heading(first)).toBe('Sign in');
});

test('headless, a second factor that is asked for is needed', async () => {
  const { person } = await createSignedIn({ withApp: false });
  const { send } = await startHeadless(service, {
    clientId: (await headlessClient).id,
    redirectUri,
    acrValues: aal2,
  });
  const known = await step(send, 'signInWithPassword', { identifier: person.username, password });
  expect(known).toMatchObject({ interaction: { nextSteps: ['ENROLL_FACTOR'] } });
  expect(await step(send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
});

test('discovery names the classes', () => {
  expect(config.serverMetadata()['acr_values_supported']).toEqual([aal1, aal2]);
});
