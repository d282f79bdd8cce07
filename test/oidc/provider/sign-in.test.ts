import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { issuedAt } from '../../../src/auth/access-token.ts';
import { newId } from '../../../src/ids.ts';
import { systemActor } from '../../../src/services.ts';
import { updateUserSuspensionStatus } from '../../../src/users/operations.ts';
import { basic } from '../../support/client-credentials.ts';
import { testCall } from '../../support/log.ts';
import { discover, openBrowser, signIn } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { issuer, baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const { database, directory, user, client, resource } = fixture;
const { prisma } = database;
const context = { ...service.app.services, actor: systemActor, ...testCall };

const errorOf = (url: URL) => url.searchParams.get('error');

/** Exchanges a code by hand; the answer's status and body. */
async function postCode(
  parameters: Record<string, string>,
  secret = client.secret,
  id = client.id,
) {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: basic(id, secret) },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      ...parameters,
    }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Signs in by hand, up to the code. */
async function obtainCode(parameters: Record<string, string | undefined> = {}) {
  const { browser, visit, verifier } = await openSignInPage(service, client, parameters);
  const { url } = await browser.submit(visit, { identifier: 'Ada', password });
  return { browser, verifier, code: url.searchParams.get('code') ?? '' };
}

test('issues a resource token with the user’s scopes', async () => {
  const tokens = await fixture.signIn({
    resource: resource.indicator,
    scope: 'openid offline_access read write delete',
  });
  const jwks = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const { payload, protectedHeader } = await jwtVerify(tokens.access_token, jwks, {
    issuer,
    audience: resource.indicator,
    typ: 'at+jwt',
  });
  expect(protectedHeader).toMatchObject({
    alg: 'ES256',
    kid: service.app.services.keys.current().kid,
  });
  expect(payload).toMatchObject({ sub: user.id, client_id: client.id, scope: 'read' });
  const { iat = 0, exp = 0, jti = '' } = payload;
  expect(exp - iat).toBe(3601);
  expect(Math.floor(issuedAt({ jti, iat }).getTime() / 1000)).toBe(iat + 1);
  expect(tokens).toMatchObject({
    scope: 'openid offline_access read',
    expires_in: 3600,
    token_type: 'bearer',
  });
  expect(tokens.refresh_token).toBeTypeOf('string');
  expect(tokens.claims()?.sub).toBe(user.id);
});

test('gives access tokens the lifetime of their resource', async () => {
  const shortLived = await directory.createResource(['read'], { accessTokenTtlSeconds: 90 });
  const tokens = await fixture.signIn({ resource: shortLived.indicator, scope: 'openid read' });
  const { iat = 0, exp = 0 } = decodeJwt(tokens.access_token);
  expect(exp - iat).toBe(91);
  expect(tokens).toMatchObject({ expires_in: 90, scope: 'openid' });
});

test('counts the scopes of organization roles too', async () => {
  const member = await fixture.createUser();
  const organization = await directory.createOrganization();
  await directory.addMember(organization, member, { resource, resourceScopes: ['write'] });
  const tokens = await fixture.signIn({
    username: member.username ?? '',
    resource: resource.indicator,
    scope: 'openid read write',
  });
  expect(tokens.scope).toBe('openid write');
});

test('issues tokens for the management API like any resource', async () => {
  const management = await prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  const operator = await fixture.createUser();
  await directory.allowUser(operator, management, ['users:read']);
  const tokens = await fixture.signIn({
    username: operator.username ?? '',
    resource: management.indicator,
    scope: 'openid users:read users:write',
  });
  expect(decodeJwt(tokens.access_token)).toMatchObject({
    aud: management.indicator,
    scope: 'users:read',
  });
});

test('gives an opaque token for user info without a resource', async () => {
  const person = await fixture.createUser({
    primaryEmail: 'grace@example.com',
    primaryPhone: '+15550100200',
    name: 'Grace Hopper',
    avatar: 'https://example.com/grace.png',
    profile: { givenName: 'Grace', family_name: 'Hopper', age: 85 },
  });
  const tokens = await fixture.signIn({
    username: person.username ?? '',
    scope: 'openid profile email phone',
  });
  expect(tokens.access_token).not.toContain('.');
  const claims = await oidc.fetchUserInfo(
    await discover(service, client),
    tokens.access_token,
    person.id,
  );
  expect(claims).toEqual({
    sub: person.id,
    name: 'Grace Hopper',
    preferred_username: person.username,
    picture: 'https://example.com/grace.png',
    given_name: 'Grace',
    family_name: 'Hopper',
    updated_at: Math.floor(person.updatedAt.getTime() / 1000),
    email: 'grace@example.com',
    email_verified: false,
    phone_number: '+15550100200',
    phone_number_verified: false,
  });
});

test('withholds claims that the scopes do not give', async () => {
  const tokens = await fixture.signIn({ scope: 'openid email' });
  const claims = await oidc.fetchUserInfo(
    await discover(service, client),
    tokens.access_token,
    user.id,
  );
  expect(claims).toEqual({ sub: user.id, email: 'Ada@example.com', email_verified: false });
});

test('refuses user info to a token for a resource', async () => {
  const tokens = await fixture.signIn({ resource: resource.indicator, scope: 'openid read' });
  const response = await fetch(`${issuer}/me`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect(response.status).toBe(401);
});

test.each([
  ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
  ['with a plain challenge', { code_challenge_method: 'plain' }],
  ['with a challenge of no method', { code_challenge_method: undefined }],
])('refuses a request %s', async (_case, parameters) => {
  const { url } = await authorize(service, client, parameters);
  const visit = await openBrowser(service.app.services.baseUrl).open(url);
  expect(visit.url.href).toContain(redirectUri);
  expect(errorOf(visit.url)).toBe('invalid_request');
});

test('refuses a code whose verifier is wrong or missing', async () => {
  const first = await obtainCode();
  const wrong = await postCode({ code: first.code, code_verifier: oidc.randomPKCECodeVerifier() });
  expect(wrong).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  const missing = await postCode({ code: first.code });
  expect(missing).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('refuses a reused code, and revokes its first tokens', async () => {
  const { code, verifier } = await obtainCode({ scope: 'openid offline_access' });
  const first = await postCode({ code, code_verifier: verifier });
  expect(first.status).toBe(200);
  const second = await postCode({ code, code_verifier: verifier });
  expect(second).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  const third = await postCode({
    grant_type: 'refresh_token',
    refresh_token: String(first.body['refresh_token']),
  });
  expect(third).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('only one of several concurrent code uses gets tokens', async () => {
  const { code, verifier } = await obtainCode();
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => postCode({ code, code_verifier: verifier })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(
    answers.every(({ status, body }) => status === 200 || body['error'] === 'invalid_grant'),
  ).toBe(true);
});

test('accepts the client secret in header and body', async () => {
  const { code, verifier } = await obtainCode();
  const config = await discover(service, client, oidc.ClientSecretPost(client.secret));
  const callback = new URL(`${redirectUri}?code=${code}&iss=${encodeURIComponent(issuer)}`);
  const tokens = await oidc.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier: verifier,
  });
  expect(tokens.access_token).toBeTypeOf('string');
});

test.each([
  ['a wrong secret', { authorization: basic(client.id, 'not the secret') }, {}],
  ['a secret of no client', { authorization: basic(newId('Application'), client.secret) }, {}],
  ['no credentials', {}, {}],
  ['no secret', {}, { client_id: client.id }],
])('refuses a code with %s', async (_case, headers, parameters) => {
  const { code, verifier } = await obtainCode();
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
      ...(parameters as Record<string, string>),
    }),
  });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
  expect(await response.json()).toMatchObject({ error: 'invalid_client' });
});

test('accepts live secrets only', async () => {
  const application = await fixture.createApplication();
  const second = await directory.createSecret(application.id);
  const expired = await directory.createSecret(application.id, { expiresAt: new Date(0) });
  const signInWith = (secret: string) =>
    fixture.signIn({ client: { id: application.id, secret } }).then(
      () => 200,
      (error: oidc.WWWAuthenticateChallengeError) => error.status,
    );
  expect(await signInWith(application.secret)).toBe(200);
  expect(await signInWith(second)).toBe(200);
  expect(await signInWith(expired)).toBe(401);
  await prisma.applicationSecret.deleteMany({
    where: { applicationId: application.id, expiresAt: null },
  });
  expect(await signInWith(application.secret)).toBe(401);
  expect(await signInWith(second)).toBe(401);
});

test('stores no usable code, token or cookie', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const tokens = await fixture.signIn({ browser, scope: 'openid offline_access' });
  const rows = JSON.stringify(await prisma.oidcRecord.findMany());
  expect(rows).not.toContain(tokens.refresh_token);
  expect(rows).not.toContain(tokens.access_token);
});

test('stores every record of a user under the user', async () => {
  const person = await fixture.createUser();
  const { browser, visit } = await openSignInPage(service, client, {
    scope: 'openid offline_access',
  });
  await browser.submit(visit, { identifier: person.username ?? '', password });
  await fixture.signIn({
    browser,
    username: person.username ?? '',
    scope: 'openid offline_access',
  });
  await browser.open((await authorize(service, client, { prompt: 'login' })).url);
  const rows = await prisma.oidcRecord.groupBy({
    by: ['model'],
    where: { accountId: person.id },
    orderBy: { model: 'asc' },
  });
  expect(rows.map(({ model }) => model)).toEqual([
    'AccessToken',
    'AuthorizationCode',
    'Grant',
    'Interaction',
    'RefreshToken',
    'Session',
  ]);
});

test.each([
  ['another path', 'https://app.example.com/callback/other'],
  ['a longer query', `${redirectUri}?more=1`],
  ['another host', 'https://evil.example.com/callback'],
  ['no URI', 'callback'],
])('never redirects to an unregistered address: %s', async (_case, redirect_uri) => {
  const { url } = await authorize(service, client, { redirect_uri });
  const visit = await openBrowser(service.app.services.baseUrl).open(url);
  expect(visit.url.origin).toBe(new URL(baseUrl).origin);
  expect(visit.status).toBe(400);
});

test('lets a native application use any loopback port', async () => {
  const native = await fixture.createApplication({
    type: 'NATIVE',
    redirectUris: ['http://127.0.0.1/callback', 'com.example.app:/callback'],
  });
  const tokens = await fixture.signIn({
    client: { id: native.id },
    redirectUri: 'http://127.0.0.1:49152/callback',
  });
  expect(tokens.claims()?.sub).toBe(user.id);
  const { url } = await authorize(service, native, {
    redirect_uri: 'http://127.0.0.1:49152/other',
  });
  expect((await openBrowser(service.app.services.baseUrl).open(url)).status).toBe(400);
});

test('lets a change of an application take effect at once', async () => {
  const application = await fixture.createApplication({
    redirectUris: [redirectUri, 'https://old.example.com/callback'],
  });
  const { url } = await authorize(service, application, {
    redirect_uri: 'https://old.example.com/callback',
  });
  expect((await openBrowser(service.app.services.baseUrl).open(url)).url.pathname).toMatch(
    /^\/sign-in\//,
  );
  await prisma.application.update({
    where: { id: application.id },
    data: { redirectUris: [redirectUri] },
  });
  expect((await openBrowser(service.app.services.baseUrl).open(url)).status).toBe(400);
});

test('refuses the code of a deleted application', async () => {
  const application = await fixture.createApplication();
  const { browser, visit, verifier } = await openSignInPage(service, application);
  const { url } = await browser.submit(visit, { identifier: 'Ada', password });
  await prisma.application.delete({ where: { id: application.id } });
  const answer = await postCode(
    { code: url.searchParams.get('code') ?? '', code_verifier: verifier },
    application.secret,
    application.id,
  );
  expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  expect((await openSignInPage(service, application)).visit.status).toBe(400);
});

test.each([
  ['a redirect URI that is none', { redirectUris: ['not a URI'] }],
  ['a post-logout redirect URI that is none', { postLogoutRedirectUris: [':'] }],
  ['an empty name', { name: '' }],
])('serves an application with %s', async (_case, values) => {
  const application = await fixture.createApplication(values);
  expect((await openSignInPage(service, application)).visit.status).toBe(400);
});

test('does not sign anyone in to a machine-to-machine application', async () => {
  const machine = await directory.createClient({ redirectUris: [redirectUri] });
  expect((await openSignInPage(service, machine)).visit.status).toBe(400);
});

test.each(['https://unknown.example.com', 'not a URI', 'https://app.example.com/#part', 'urn:\0'])(
  'refuses the resource %j',
  async (indicator) => {
    const { url } = await authorize(service, client, { resource: indicator });
    const visit = await openBrowser(service.app.services.baseUrl).open(url);
    if (indicator.includes('\0')) expect(visit.status).toBe(400);
    else expect(errorOf(visit.url)).toBe('invalid_target');
    const { code, verifier } = await obtainCode();
    const answer = await postCode({ code, code_verifier: verifier, resource: indicator });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  },
);

test('issues no token for a resource not requested at sign-in', async () => {
  const other = await directory.createResource(['read']);
  const { code, verifier } = await obtainCode({ resource: resource.indicator });
  const answer = await postCode({ code, code_verifier: verifier, resource: other.indicator });
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
});

test('signs in to a second application without asking again', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const other = await fixture.createApplication();
  const { visit } = await openSignInPage(service, other, { browser });
  expect(visit.url.searchParams.get('code')).toBeTypeOf('string');
});

test('asks again if the application wants it', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const { visit } = await openSignInPage(service, client, { browser, prompt: 'login' });
  expect(visit.url.pathname).toMatch(/^\/sign-in\//);
  const { url } = await browser.submit(visit, { identifier: 'Ada', password });
  expect(url.searchParams.get('code')).toBeTypeOf('string');
});

test('asks nothing when the application wants consent', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const { visit } = await openSignInPage(service, client, { browser, prompt: 'consent' });
  expect(visit.url.searchParams.get('code')).toBeTypeOf('string');
});

test('answers without a page if the application wants none', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const before = await openSignInPage(service, client, { browser, prompt: 'none' });
  expect(errorOf(before.visit.url)).toBe('login_required');
  await fixture.signIn({ browser });
  const after = await openSignInPage(service, client, { browser, prompt: 'none' });
  expect(after.visit.url.searchParams.get('code')).toBeTypeOf('string');
});

test('ends the session of a user who is suspended', async () => {
  const person = await fixture.createUser();
  const browser = openBrowser(service.app.services.baseUrl);
  const username = person.username ?? '';
  const tokens = await fixture.signIn({ browser, username });
  await updateUserSuspensionStatus(context, { id: person.id, isSuspended: true });
  const { visit } = await openSignInPage(service, client, { browser, prompt: 'none' });
  expect(errorOf(visit.url)).toBe('login_required');
  const response = await fetch(`${issuer}/me`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect(response.status).toBe(401);
});

test('asks for a new sign-in after a forced sign-out', async () => {
  const person = await fixture.createUser();
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser, username: person.username ?? '' });
  // As where a request under way stores the session anew after the sign-out deleted it.
  await prisma.user.update({
    where: { id: person.id },
    data: { tokensValidAfter: new Date(service.clock.now().getTime() + 60_000) },
  });
  const { visit } = await openSignInPage(service, client, { browser });
  expect(visit.url.pathname).toMatch(/^\/sign-in\//);
});

test('records the user, application and origin of a sign-in', async () => {
  const person = await fixture.createUser();
  const browser = openBrowser(service.app.services.baseUrl);
  const username = person.username ?? '';
  const findEvents = () =>
    prisma.event.findMany({ where: { type: 'PostSignIn', subjectId: person.id } });

  const { visit } = await openSignInPage(service, client, { browser });
  await browser.submit(visit, { identifier: username, password: 'wrong' });
  expect(await findEvents()).toEqual([]);
  await browser.submit(visit, { identifier: username, password }, { 'user-agent': 'Test/1.0' });

  const session = await prisma.oidcRecord.findFirstOrThrow({
    where: { model: 'Session', accountId: person.id },
  });
  const after = await prisma.user.findUniqueOrThrow({ where: { id: person.id } });
  const [event, ...more] = await findEvents();
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    actor: { type: 'USER', id: person.id, clientId: client.id },
    actorId: person.id,
    data: {
      user: { id: person.id, lastSignInAt: after.lastSignInAt?.toISOString() },
      applicationId: client.id,
      ip: expect.stringMatching(/127\.0\.0\.1$/),
      userAgent: expect.any(String),
      sessionId: session.uid,
    },
  });
  expect(event?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(after.updatedAt).toEqual(person.updatedAt);

  await openSignInPage(service, client, { browser });
  expect(await findEvents()).toHaveLength(1);
});

test('records nothing for a user suspended during the sign-in', async () => {
  const person = await fixture.createUser();
  const { browser, visit } = await openSignInPage(service, client);
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(visit.body) ?? [];
  const body = new URLSearchParams({ csrf, identifier: person.username ?? '', password });
  const response = await browser.request(visit.url, { method: 'POST', body });
  expect(response.status).toBe(303);
  await prisma.user.update({ where: { id: person.id }, data: { isSuspended: true } });
  const next = await browser.open(response.headers.get('location') ?? '');
  expect(next.url.pathname).toMatch(/^\/sign-in\//);
  expect(await prisma.event.count({ where: { type: 'PostSignIn', subjectId: person.id } })).toBe(0);
});

test('signs in a single-page application, which has no secret', async () => {
  const spa = await fixture.createApplication({ type: 'SPA' });
  const tokens = await signIn(service, {
    client: { id: spa.id },
    redirectUri,
    username: 'Ada',
    password,
    resource: resource.indicator,
    scope: 'openid offline_access read',
  });
  expect(decodeJwt(tokens.access_token)).toMatchObject({ client_id: spa.id, scope: 'read' });
  expect(tokens.refresh_token).toBeTypeOf('string');
});

test.each([
  ['/auth', 400],
  ['/auth?client_id=%00', 400],
  ['/auth?state=%00', 400],
  ['/auth?client_id=a&client_id=b', 400],
  // To the page of that sign-in, which is over.
  ['/auth/unknown', 404],
])('answers %s with a page', async (path, status) => {
  const response = await fetch(`${issuer}${path}`, { headers: { accept: 'text/html' } });
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain('text/html');
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
