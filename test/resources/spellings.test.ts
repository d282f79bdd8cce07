import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { managementIndicator } from '../../src/auth/scopes.ts';
import { newId } from '../../src/ids.ts';
import { explainExchange } from '../../src/oidc/token/explanation/explain.ts';
import { placeSpellings } from '../../src/resources/spellings.ts';
import { systemActor } from '../../src/services.ts';
import { createPersonalAccessToken } from '../../src/subject-tokens/personal-access-token.ts';
import { basic } from '../support/client-credentials.ts';
import { assertionGrantType, startForeignIssuer } from '../support/keys/foreign-issuer.ts';
import { testCall } from '../support/log.ts';
import { apply, plan } from '../support/operations/configuration.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { askForCodes } from '../support/people/device.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { discover, openBrowser } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
  refresh,
} from '../support/people/sign-in-fixture.ts';
import { permissionsOf, postAccess, whoCan } from '../support/permissions/client.ts';
import { startService } from '../support/service.ts';
import { exchange, formOf, isActive, postToken, userToken } from '../support/tokens.ts';
import { eventually } from '../support/wait.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true', TRUST_PROXY: '1' });
const { services } = service.app;
const { database } = services;
const { prisma } = database;
const fixture = await createSignInFixture(service);
const { directory, user } = fixture;
const admin = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, admin.token);
const { done, identityProvider } = createMaker(call);

// As somebody registered it; the others are as other programs write it.
const registered = 'https://Orders.example.com';
const others = [
  'https://orders.example.com/',
  'https://orders.example.com',
  'HTTPS://ORDERS.EXAMPLE.COM:443',
  'https://%6frders.example.com/v1/%2E%2e',
];
const unknown = 'https://orders.example.com/v1';
const { resource } = await done('createResource', { name: 'Orders', indicator: registered });
for (const name of ['read', 'write']) await done('createScope', { resourceId: resource.id, name });
const orders = await prisma.resource.findUniqueOrThrow({ where: { id: resource.id } });
await directory.allowUser(user, orders, ['read']);
const worker = await directory.createClient({ allowTokenExchange: true });
await directory.allowClient(worker, orders, ['read']);
const frontend = await directory.createClient({ type: 'SPA' });

const claimsOf = (token: unknown) => decodeJwt(String(token));
const granted = { aud: registered, scope: 'read' };
const invalidTarget = { status: 400, body: { error: 'invalid_target' } };

describe.each([registered, ...others])('%s', (spelling) => {
  test('gets client credentials', async () => {
    const form = { grant_type: 'client_credentials', resource: spelling, scope: 'read' };
    const { body } = await postToken(service, formOf(form), {
      authorization: basic(worker.id, worker.secret),
    });
    expect(claimsOf(body['access_token'])).toMatchObject(granted);
  });

  test.each([
    ['resource', { resource: spelling }],
    ['audience', { audience: spelling }],
    ['both', { resource: registered, audience: spelling }],
  ])('gets an exchange, as %s', async (_where, named) => {
    const subject_token = await userToken(service, user.id, frontend);
    const { body } = await exchange(service, worker, { subject_token, scope: 'read', ...named });
    expect(claimsOf(body['access_token'])).toMatchObject({ sub: user.id, ...granted });
  });

  test('gets a sign-in, a code and refreshed tokens', async () => {
    const scope = 'openid offline_access read';
    const tokens = await fixture.signIn({ scope, resource: spelling });
    expect(claimsOf(tokens.access_token)).toMatchObject(granted);
    const next = await refresh(service, fixture.client, tokens.refresh_token ?? '', {
      resource: others[0] as string,
    });
    expect(claimsOf(next.access_token)).toMatchObject(granted);
    const last = await refresh(service, fixture.client, next.refresh_token ?? '', {
      resource: spelling,
    });
    expect(claimsOf(last.access_token)).toMatchObject(granted);
  });

  test('gets a pushed request', async () => {
    const { client } = fixture;
    const config = await discover(service, client);
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    const address = await oidc.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: redirectUri,
      scope: 'openid read',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      resource: spelling,
    });
    const browser = openBrowser(services.baseUrl);
    const visit = await browser.open(address);
    const { url } = await browser.submit(visit, { identifier: 'Ada', password });
    const tokens = await oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier });
    expect(claimsOf(tokens.access_token)).toMatchObject(granted);
  });

  test('gets the consent of a person, under the registered one', async () => {
    const client = await fixture.createApplication({ isThirdParty: true });
    const { browser, visit, verifier } = await openSignInPage(service, client, {
      scope: 'openid read',
      resource: spelling,
    });
    const asked = await browser.submit(visit, { identifier: 'Ada', password });
    expect(asked.url.pathname).toMatch(/\/consent$/);
    const { url } = await browser.submit(asked, {});
    const config = await discover(service, client);
    const tokens = await oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
    expect(claimsOf(tokens.access_token)).toMatchObject(granted);
    const scopes = await prisma.userGrantScope.findMany({
      where: { grant: { applicationId: client.id }, name: 'read' },
    });
    expect(scopes.map((scope) => scope.resource)).toEqual([registered]);
  });

  test('gets a sign-in without a browser', async () => {
    const client = await fixture.createApplication({ allowHeadlessSignIn: true });
    const scope = 'openid read';
    const headless = await startHeadless(service, {
      clientId: client.id,
      redirectUri,
      scope,
      resource: spelling,
    });
    await step(headless.send, 'signInWithPassword', { identifier: 'ada@example.com', password });
    const { redirectTo } = await step(headless.send, 'submitInteraction');
    const tokens = await oidc.authorizationCodeGrant(
      await discover(service, client),
      new URL(redirectTo),
      { pkceCodeVerifier: headless.verifier, expectedState: headless.state },
      { resource: others[0] as string },
    );
    expect(claimsOf(tokens.access_token)).toMatchObject(granted);
  });

  test('gets codes for a device', async () => {
    const device = await fixture.createApplication({
      type: 'NATIVE',
      redirectUris: [],
      allowDeviceGrant: true,
    });
    const ask = (asked: string) =>
      askForCodes(service, device, { scope: 'openid', resource: asked });
    expect(await ask(spelling)).toMatchObject({ status: 200 });
    expect(await ask(unknown)).toMatchObject(invalidTarget);
  });

  test('is what a user and an application may do something at', async () => {
    const where = { resource: spelling };
    const [permission] = await permissionsOf(service, admin.token, user.id, where);
    expect(permission).toMatchObject({ scope: { name: 'read' }, sources: [{ counts: true }] });
    const { edges } = await whoCan(service, admin.token, { ...where, scope: 'read' });
    expect(edges.map(({ node }) => node.subjectId)).toEqual([worker.id, user.id]);
    const body = {
      subject: { type: 'user', id: user.id },
      action: { name: 'read' },
      resource: { type: 'api', id: spelling },
    };
    const answer = await postAccess(service, admin.token, 'evaluation', body);
    expect(answer.body).toEqual({ decision: true });
  });

  test('is explained as it is exchanged', async () => {
    const { rules, scopes } = await explainExchange(services, {
      applicationId: worker.id,
      userId: user.id,
      resource: spelling,
      scopes: undefined,
      organizationId: undefined,
      subjectTokenType: 'ACCESS_TOKEN',
      subjectAudience: undefined,
      subjectOrganizationId: undefined,
    });
    expect(rules.filter(({ isMet }) => isMet === false)).toEqual([]);
    expect(scopes.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['read', 'GRANTED'],
      ['write', 'NOT_HELD'],
    ]);
  });

  test('is what lists of an application mean', async () => {
    const listing = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [spelling],
      exchangeSubjectAudiences: [spelling],
    });
    const ask = async (aud: string, asked: string) =>
      exchange(service, listing, {
        subject_token: await userToken(service, user.id, frontend, { aud }),
        resource: asked,
        scope: 'read',
      });
    expect(
      claimsOf((await ask(registered, others[0] as string)).body['access_token']),
    ).toMatchObject(granted);
    expect(await ask('https://elsewhere.example.com', registered)).toMatchObject({ status: 400 });
    const other = await directory.createResource([]);
    expect(await ask(registered, other.indicator)).toMatchObject(invalidTarget);
    const isApi = await directory.createClient({
      isThirdParty: true,
      exchangeSubjectAudiences: [spelling],
    });
    const token = await userToken(service, user.id, frontend, { aud: registered });
    expect(await isActive(service, isApi, token)).toBe(true);
  });

  test('is what a personal access token is for', async () => {
    const context = { ...services, actor: systemActor, ...testCall };
    const { personalAccessToken, token } = await createPersonalAccessToken(context, {
      userId: user.id,
      name: spelling,
      resource: spelling,
      expiresAt: new Date(service.clock.now().getTime() + 60_000),
    });
    expect(personalAccessToken.resource).toBe(registered);
    const client = await directory.createClient({
      allowTokenExchange: true,
      allowPersonalAccessTokens: true,
    });
    const { body } = await exchange(service, client, {
      subject_token: token,
      subject_token_type: 'urn:signet:params:oauth:token-type:personal_access_token',
      resource: others[0],
      scope: 'read',
    });
    expect(claimsOf(body['access_token'])).toMatchObject(granted);
  });

  test('is a second one', async () => {
    const outcome = await call('createResource', { name: 'Orders', indicator: spelling });
    expect(outcome).toMatchObject({ code: 'CONFLICT', path: ['indicator'] });
  });
});

test('an identity assertion names a resource in any spelling', async () => {
  const company = await startForeignIssuer(service);
  const client = await directory.createClient({ type: 'TRADITIONAL' });
  const providerId = await identityProvider();
  await directory.createIdentity(user.id, providerId, { issuer: company.issuer, subject: 'ada' });
  await done('createTrustedIssuer', {
    name: 'Company',
    issuer: company.issuer,
    jwksUri: company.jwksUri,
    kind: 'IDENTITY',
    applicationId: client.id,
  });
  for (const [inside, beside] of [
    [others[0], undefined],
    [others[1], others[2]],
    [undefined, others[3]],
  ]) {
    const claims = inside === undefined ? {} : { resource: inside };
    const form = {
      grant_type: assertionGrantType,
      assertion: await company.signIdentity('ada', client.id, { claims }),
      resource: beside,
      scope: 'read',
    };
    const { body } = await postToken(service, formOf(form), {
      authorization: basic(client.id, client.secret),
    });
    expect(claimsOf(body['access_token'])).toMatchObject({ sub: user.id, ...granted });
  }
});

test('another audience is refused, in whatever spelling', async () => {
  const subject_token = await userToken(service, user.id, frontend);
  const named = { resource: others[0], audience: 'https://other.example.com' };
  expect(await exchange(service, worker, { subject_token, ...named })).toMatchObject(invalidTarget);
  expect(await exchange(service, worker, { subject_token, resource: unknown })).toMatchObject(
    invalidTarget,
  );
});

test('a refusal names the registered spelling', async () => {
  const answer = await exchange(
    service,
    worker,
    { subject_token: 'x', resource: others[0] },
    { 'x-forwarded-for': '198.51.100.7' },
  );
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  await eventually(async () => {
    const events = await prisma.event.findMany({ where: { type: 'Token.Refused' } });
    expect(events.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ ip: '198.51.100.7', resource: registered }),
    );
  });
});

describe("Signet's own API", async () => {
  const support = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [managementIndicator],
  });
  const ask = async (asked: string) =>
    exchange(service, support, {
      subject_token: await userToken(service, user.id, frontend),
      resource: asked,
    });

  test.each([
    'URN:signet:management',
    'urn:SIGNET:management',
    'urn:signet:%6danagement',
    'urn:signet:%6Danagement',
    'urn:%73ignet:management',
    'urn:signet:management?',
    'urn:signet:./management',
    'urn:signet:management%00',
  ])('is not %s', async (spelling) => {
    expect(await ask(spelling)).toMatchObject(invalidTarget);
    const form = { grant_type: 'client_credentials', resource: spelling, scope: 'all' };
    expect(
      await postToken(service, formOf(form), {
        authorization: basic(service.admin.id, service.admin.secret),
      }),
    ).toMatchObject(invalidTarget);
  });

  test.each(['/graphql', '/api', '/x/../graphql', '/%61pi'])('is found at %s', async (path) => {
    const url = `${services.baseUrl.replace('http:', 'HTTP:').replace('localhost', 'LocalHost')}${path}`;
    const { body } = await ask(url);
    expect(claimsOf(body['access_token'])).toMatchObject({ aud: managementIndicator, scope: '' });
    const stranger = await directory.createClient({ allowTokenExchange: true });
    const subject_token = await userToken(service, user.id, frontend);
    expect(await exchange(service, stranger, { subject_token, resource: url })).toMatchObject(
      invalidTarget,
    );
  });

  test('can be registered in no spelling', async () => {
    for (const indicator of ['URN:SIGNET:x', 'URN:signet:x', 'urn:Signet:management'])
      expect((await call('createResource', { name: 'x', indicator })).code).toBe('INVALID_INPUT');
  });
});

test('what every URL class takes for the same address is a second spelling', async () => {
  for (const [indicator, same] of [
    [
      'https://written.example.com/a',
      ['https:written.example.com/a', 'https:\\\\@written.example.com\\a'],
    ],
    ['https://xn--bcher-kva.example/', ['https://bücher.example']],
    ['http://127.0.0.1/', ['http://0x7f.1']],
  ] as const) {
    await done('createResource', { name: indicator, indicator });
    for (const other of same) {
      const outcome = await call('createResource', { name: other, indicator: other });
      expect(outcome).toMatchObject({ code: 'CONFLICT', path: ['indicator'] });
    }
  }
});

test('of several spellings that are registered at once, one is', async () => {
  const spellings = [
    'https://once.example.com',
    'https://once.example.com/',
    'https://ONCE.example.com',
    'https://once.example.com:443/',
  ];
  const outcomes = await Promise.all(
    spellings.map((indicator) => call('createResource', { name: 'Once', indicator })),
  );
  expect(outcomes.map(({ code }) => code).sort()).toEqual([
    'CONFLICT',
    'CONFLICT',
    'CONFLICT',
    'OK',
  ]);
});

describe('spellings that a version before has registered beside each other', async () => {
  const spellings = [
    'https://twin.example.com',
    'https://twin.example.com/',
    'HTTPS://twin.example.com',
  ];
  const ids: string[] = [];
  for (const indicator of spellings) {
    service.clock.advance(1000);
    const stamps = { createdAt: service.clock.now(), updatedAt: service.clock.now() };
    const id = newId('Resource');
    await prisma.resource.create({ data: { id, name: indicator, indicator, ...stamps } });
    ids.push(id);
  }
  const audienceOf = async (asked: string) => {
    const form = { grant_type: 'client_credentials', resource: asked };
    const { body } = await postToken(service, formOf(form), {
      authorization: basic(worker.id, worker.secret),
    });
    return body['access_token'] === undefined ? null : claimsOf(body['access_token']).aud;
  };
  const another = 'https://twin.example.com:443';
  const [first, second, third] = spellings as [string, string, string];

  test('are found in their own alone before a start', async () => {
    expect(await audienceOf(first)).toBe(first);
    expect(await audienceOf(another)).toBe(null);
  });

  test('are named by a start, and the oldest is found in all others', async () => {
    const versions = await prisma.resource.findMany({ select: { id: true, version: true } });
    const starts = await Promise.all([placeSpellings(database), placeSpellings(database)]);
    for (const twins of starts)
      expect(twins).toEqual([
        { indicator: second, sameAs: first },
        { indicator: third, sameAs: first },
      ]);
    for (const one of [first, second, third]) expect(await audienceOf(one)).toBe(one);
    expect(await audienceOf(another)).toBe(first);
    expect(await prisma.resource.findMany({ select: { id: true, version: true } })).toEqual(
      expect.arrayContaining(versions),
    );
  });

  test('give their place to the next when they are deleted', async () => {
    await done('deleteResource', { id: ids[0] });
    expect(await audienceOf(first)).toBe(second);
    expect(await audienceOf(another)).toBe(second);
    expect(await audienceOf(third)).toBe(third);
    await done('deleteResource', { id: ids[2] });
    expect(await audienceOf(third)).toBe(second);
    const outcome = await call('createResource', { name: 'Twin', indicator: first });
    expect(outcome.code).toBe('CONFLICT');
    await done('deleteResource', { id: ids[1] });
    expect(await audienceOf(third)).toBe(null);
    await done('createResource', { name: 'Twin', indicator: third });
    expect(await audienceOf(first)).toBe(third);
  });
});

describe('what a person has allowed', async () => {
  const client = await fixture.createApplication({ isThirdParty: true });
  const config = await discover(service, client);
  const scope = 'openid offline_access read';
  const one = 'https://allowed.example.com';
  const other = 'https://allowed.example.com/';
  const create = async (indicator: string) => {
    service.clock.advance(1000);
    const stamps = { createdAt: service.clock.now(), updatedAt: service.clock.now() };
    const id = newId('Resource');
    await prisma.resource.create({ data: { id, name: indicator, indicator, ...stamps } });
    await done('createScope', { resourceId: id, name: 'read' });
    const created = await prisma.resource.findUniqueOrThrow({ where: { id } });
    await directory.allowUser(user, created, ['read']);
    return id;
  };
  const begin = async (asked: string) => {
    const { browser, visit, verifier } = await openSignInPage(service, client, {
      scope,
      resource: asked,
    });
    return {
      browser,
      visit: await browser.submit(visit, { identifier: 'Ada', password }),
      verifier,
    };
  };
  const asksConsent = async (asked: string) =>
    /\/consent$/.test((await begin(asked)).visit.url.pathname);

  test('counts for the one resource in each spelling, until another has that spelling', async () => {
    const first = await create(one);
    await placeSpellings(database);
    const { browser, visit, verifier } = await begin(other);
    expect(visit.url.pathname).toMatch(/\/consent$/);
    const { url } = await browser.submit(visit, {});
    const tokens = await oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
    for (const spelling of [one, other]) expect(await asksConsent(spelling)).toBe(false);
    // As a node of a version before registers it.
    await create(other);
    expect(await asksConsent(one)).toBe(false);
    expect(await asksConsent(other)).toBe(true);
    await done('deleteResource', { id: first });
    for (const spelling of [one, other]) expect(await asksConsent(spelling)).toBe(false);
    const next = await refresh(service, client, String(tokens.refresh_token));
    expect(claimsOf(next.access_token)).toMatchObject({ aud: other, scope: 'read' });
  });
});

describe('a configuration', () => {
  const document = (indicator: string, linked: string, name: string) => ({
    resources: [{ indicator, name, scopes: [{ name: 'pay' }] }],
    roles: [{ name: 'Payers', type: 'USER', scopes: { [linked]: ['pay'] } }],
  });
  const [one, other, third] = [
    'https://pay.example.com',
    'https://pay.example.com/',
    'https://pay.example.com:443',
  ];

  test('names a resource in any spelling', async () => {
    await apply(admin, document(one, other, 'Pay'));
    expect(await prisma.resource.findMany({ where: { name: 'Pay' } })).toMatchObject([
      { indicator: one },
    ]);
    expect((await plan(admin, document(other, third, 'Pay'))).changes).toEqual([]);
    const { changes } = await plan(admin, document(other, one, 'Payments'));
    expect(changes).toMatchObject([{ action: 'UPDATE', kind: 'RESOURCE', key: one }]);
  });
});
