import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { basic } from '../../support/client-credentials.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

// What clients ask for that people have, as the contract's section 24.5 answers them.

const service = await startService();
const { issuer, baseUrl, database } = service.app.services;
const { prisma } = database;
const fixture = await createSignInFixture(service);
const { client, resource, directory, user } = fixture;
const other = await directory.createResource(['read']);
await directory.allowUser(user, other, ['read']);
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const spa = await fixture.createApplication({ type: 'SPA' });

type Parameters = Record<string, string | undefined>;

const post = async (path: string, parameters: Parameters, authorization?: string) => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const response = await fetch(`${issuer}${path}`, {
    method: 'POST',
    headers: authorization === undefined ? {} : { authorization },
    body: new URLSearchParams(given as [string, string][]),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const asClient = (path: string, parameters: Parameters) =>
  post(path, parameters, basic(client.id, client.secret));

/** Where an authorization request leads. */
async function answerTo(parameters: Parameters): Promise<URL> {
  const { url } = await authorize(service, client, parameters);
  return (await openBrowser(baseUrl).open(url)).url;
}

async function tokensOf(parameters: Parameters, atToken: Parameters = {}) {
  const { browser, visit, verifier } = await openSignInPage(service, client, parameters);
  const { url } = await browser.submit(visit, { identifier: 'Ada', password });
  return asClient('/token', {
    grant_type: 'authorization_code',
    code: url.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUri,
    ...atToken,
  });
}

const refreshed = (tokens: Record<string, unknown>, parameters: Parameters) =>
  asClient('/token', {
    grant_type: 'refresh_token',
    refresh_token: String(tokens['refresh_token']),
    ...parameters,
  });

const scope = 'openid offline_access read';
const scopesOf = (body: Record<string, unknown>) => new Set(String(body['scope']).split(' '));
const audienceOf = ({ body }: { body: Record<string, unknown> }) =>
  decodeJwt(String(body['access_token'])).aud;

describe('audience means what resource means', () => {
  test('at the authorization endpoint, with the code and on refresh', async () => {
    const audience = resource.indicator;
    const first = await tokensOf({ scope, audience }, { audience });
    expect(first.status).toBe(200);
    expect(audienceOf(first)).toBe(audience);
    const second = await refreshed(first.body, { audience });
    expect(audienceOf(second)).toBe(audience);
    expect(audienceOf(await refreshed(second.body, {}))).toBe(audience);
  });

  test('in any spelling, and beside the same resource', async () => {
    const audience = resource.indicator.replace('https://', 'HTTPS://');
    const tokens = await tokensOf({ scope, audience, resource: resource.indicator });
    expect(audienceOf(tokens)).toBe(resource.indicator);
  });

  test('in pushed requests and those of devices', async () => {
    const { url } = await authorize(service, client, { scope, audience: resource.indicator });
    const pushed = await asClient('/request', Object.fromEntries(url.searchParams));
    expect(pushed.status).toBe(201);
    const opened = await openBrowser(baseUrl).open(
      `${issuer}/auth?${new URLSearchParams({ client_id: client.id, request_uri: String(pushed.body['request_uri']) })}`,
    );
    expect(opened.url.pathname).toMatch(/^\/sign-in\//);
    const device = await fixture.createApplication({ type: 'NATIVE', allowDeviceGrant: true });
    const ask = (audience: string) =>
      post('/device/auth', { client_id: device.id, scope, audience });
    expect((await ask(resource.indicator)).status).toBe(200);
    expect(await ask('https://nobody.example.com')).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
  });

  test('without a value it counts as absent', async () => {
    expect((await tokensOf({ scope: 'openid', audience: '' }, { audience: '' })).status).toBe(200);
  });

  test('beside a resource without a value it names the resource', async () => {
    const target = { audience: resource.indicator, resource: '' };
    const tokens = await tokensOf({ scope, ...target }, target);
    expect(audienceOf(tokens)).toBe(resource.indicator);
    expect(audienceOf(await refreshed(tokens.body, target))).toBe(resource.indicator);
  });

  test.each([
    ['contradicts the resource', { audience: other.indicator, resource: resource.indicator }],
    ['is not registered', { audience: 'https://nobody.example.com' }],
    ['is no URI', { audience: 'nobody' }],
  ])('one that %s is an invalid target', async (_what, target) => {
    const url = await answerTo({ scope, ...target });
    expect(`${url.origin}${url.pathname}`).toBe(redirectUri);
    expect(url.searchParams.get('error')).toBe('invalid_target');

    const { url: asked } = await authorize(service, client, { scope, ...target });
    expect(await asClient('/request', Object.fromEntries(asked.searchParams))).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });

    const refused = { status: 400, body: { error: 'invalid_target' } };
    const granted = { scope, resource: resource.indicator };
    expect(await tokensOf(granted, target)).toMatchObject(refused);
    const { body } = await tokensOf(granted);
    expect(await refreshed(body, target)).toMatchObject(refused);
  });
});

test.each([
  ['openid,email', 'openid,email'],
  ['no scope', undefined],
  ['an unknown scope', 'read'],
])('refuses a request with %s before the person signs in', async (_what, asked) => {
  const url = await answerTo({ scope: asked });
  expect(`${url.origin}${url.pathname}`).toBe(redirectUri);
  expect(url.searchParams.get('error')).toBe('invalid_scope');
  expect(url.searchParams.get('error_description')).toMatch(/openid/);
  const { url: request } = await authorize(service, client, { scope: asked });
  expect(await asClient('/request', Object.fromEntries(request.searchParams))).toMatchObject({
    status: 400,
    body: { error: 'invalid_scope' },
  });
});

test.each([
  ['a resource alone', { scope: undefined, resource: resource.indicator }],
  ['one known scope', { scope: 'openid,email profile' }],
])('asks to sign in for %s', async (_what, parameters) => {
  expect((await answerTo(parameters)).pathname).toMatch(/^\/sign-in\//);
});

describe('the scope of an answer', () => {
  test('names OpenID’s scopes and the resource’s; the token the resource’s alone', async () => {
    const granted = new Set(['openid', 'offline_access', 'profile', 'read']);
    const asked = { scope: `${scope} write profile`, resource: resource.indicator };
    const { body } = await tokensOf(asked);
    expect(scopesOf(body)).toEqual(granted);
    expect(decodeJwt(String(body['access_token']))['scope']).toBe('read');
    const again = await refreshed(body, {});
    expect(scopesOf(again.body)).toEqual(granted);
    expect(decodeJwt(String(again.body['access_token']))['scope']).toBe('read');
  });

  test('names what was asked of a refresh', async () => {
    const { body } = await tokensOf({ scope, resource: resource.indicator });
    expect((await refreshed(body, { scope: 'read' })).body['scope']).toBe('read');
  });

  test('names each once', async () => {
    const profiled = await directory.createResource(['profile']);
    await directory.allowUser(user, profiled, ['profile']);
    const { body } = await tokensOf({ scope: 'openid profile', resource: profiled.indicator });
    expect(body['scope']).toBe('openid profile');
  });
});

describe('a public client with HTTP Basic and an empty secret', () => {
  const exchanged = async (application: { readonly id: string }, parameters: Parameters = {}) => {
    const { browser, visit, verifier } = await openSignInPage(service, application, {
      scope: 'openid',
    });
    const { url } = await browser.submit(visit, { identifier: 'Ada', password });
    return post(
      '/token',
      {
        grant_type: 'authorization_code',
        code: url.searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: redirectUri,
        ...parameters,
      },
      basic(application.id, ''),
    );
  };

  test.each([
    ['alone', {}],
    ['and its id in the body', { client_id: spa.id }],
    ['and an assertion without a value', { client_assertion: '', client_assertion_type: '' }],
  ])('%s is taken as a public client', async (_what, parameters) => {
    const { status, body } = await exchanged(spa, parameters);
    expect(status).toBe(200);
    const token = String(body['access_token']);
    const revoked = await post('/token/revocation', { token }, basic(spa.id, ''));
    expect(revoked).toEqual({ status: 200, body: {} });
  });

  test('is refused for another id in the body, and a client that has secrets', async () => {
    expect((await exchanged(spa, { client_id: client.id })).status).toBe(400);
    expect(await exchanged(client)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    });
    expect(await post('/token', { grant_type: 'refresh_token' }, basic(spa.id, 'x'))).toMatchObject(
      { status: 401, body: { error: 'invalid_client' } },
    );
  });
});

test('user info tells that a token is for another API', async () => {
  const { body } = await tokensOf({ scope, resource: resource.indicator });
  const response = await fetch(`${issuer}/me`, {
    headers: { authorization: `Bearer ${body['access_token']}` },
  });
  expect(response.status).toBe(401);
  const challenge = response.headers.get('www-authenticate');
  expect(challenge).toMatch(/^Bearer /);
  expect(challenge).toMatch(/error="invalid_token"/);
  expect(challenge).toMatch(/error_description="[^"]*another API/);
  expect(await response.json()).toMatchObject({ error: 'invalid_token' });
});

describe('an application that cannot send PKCE', async () => {
  const without = await fixture.createApplication({ requirePkce: false });
  const noChallenge = { code_challenge: undefined, code_challenge_method: undefined };

  /** The answer to a code of an authorization request with these parameters. */
  async function redeemed(asked: Parameters, atToken: (verifier: string) => Parameters) {
    const { browser, visit, verifier } = await openSignInPage(service, without, asked);
    const { url } = await browser.submit(visit, { identifier: 'Ada', password });
    return post(
      '/token',
      {
        grant_type: 'authorization_code',
        code: url.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        ...atToken(verifier),
      },
      basic(without.id, without.secret),
    );
  }

  test('signs in without a challenge', async () => {
    expect((await redeemed(noChallenge, () => ({}))).status).toBe(200);
  });

  test('has a challenge that it sends checked', async () => {
    expect((await redeemed({}, (code_verifier) => ({ code_verifier }))).status).toBe(200);
    const invalid = { status: 400, body: { error: 'invalid_grant' } };
    expect(await redeemed({}, () => ({}))).toMatchObject(invalid);
    const wrong = (verifier: string) => ({ code_verifier: verifier.split('').reverse().join('') });
    expect(await redeemed({}, wrong)).toMatchObject(invalid);
    // RFC 9700 §2.1.1: or somebody could take the challenge out of the request.
    expect(await redeemed(noChallenge, (code_verifier) => ({ code_verifier }))).toMatchObject(
      invalid,
    );
  });

  test('others need it', async () => {
    expect((await answerTo(noChallenge)).searchParams.get('error')).toBe('invalid_request');
  });

  test('is a web application, until it needs PKCE again', async () => {
    const create = (type: string) =>
      done('createApplication', { name: 'Wiki', type, requirePkce: false });
    for (const type of ['SPA', 'NATIVE', 'MACHINE_TO_MACHINE'])
      await expect(create(type)).rejects.toThrow(/requirePkce.*must be on for type/);
    const { application } = await create('TRADITIONAL');
    const id = String(application?.['id']);
    const isRequired = async () =>
      (await prisma.application.findUniqueOrThrow({ where: { id } })).requirePkce;
    expect(await isRequired()).toBe(false);
    await done('updateApplication', { id, requirePkce: null });
    expect(await isRequired()).toBe(true);
  });
});
