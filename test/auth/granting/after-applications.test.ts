import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { basic } from '../../support/client-credentials.ts';
import {
  byPassword,
  everyScope,
  password,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { laterOperations } from '../../support/granting/later.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../../support/keys/client-keys.ts';
import { assertionGrantType, startForeignIssuer } from '../../support/keys/foreign-issuer.ts';
import { accountIndicator } from '../../support/people/account.ts';
import { openConsole } from '../../support/people/console.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import { discover } from '../../support/people/sign-in.ts';
import { openSignInPage, redirectUri, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange, formOf, postToken, userToken } from '../../support/tokens.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const attack = await startAttack(service);
const { make, next, done, setUp, promote, empower, rightsOf, scopesIn, m2m } = attack;
const managementIndicator = 'urn:signet:management';
const evil = 'https://evil.example.com/callback';

const administrator = async () => {
  const username = next('administrator');
  const id = await make.user({ username, password });
  await promote(id);
  return { id, username };
};

/** Whether an application gets scopes of Signet's own APIs from an administrator whom it asks nothing. */
async function reaches(client: { id: string }, uri: string): Promise<string[]> {
  const { username } = await administrator();
  const reached: string[] = [];
  for (const [resource, scope] of [
    [managementIndicator, everyScope],
    [accountIndicator, 'account:read account:write'],
  ] as const) {
    const browser = openConsole(service);
    const request = { browser, redirect_uri: uri, resource, scope: `openid ${scope}` };
    const { visit } = await openSignInPage(service, client, request);
    const after = await browser.submit(visit, { identifier: username, password });
    if (after.url.searchParams.has('code')) reached.push(resource);
    else expect(after.url.pathname).toMatch(/\/consent$/);
  }
  return reached;
}

/** What an application gets by exchanging an administrator's token of an application. */
async function exchanged(
  client: { id: string; secret: string },
  issuedTo: { id: string } = attack.trusted,
  through: (token: string) => Promise<string> = async (token) => token,
): Promise<string[]> {
  const { id } = await administrator();
  const token = await through(await userToken(service, id, issuedTo));
  const scopes: string[] = [];
  for (const [resource, scope] of [
    [managementIndicator, everyScope],
    [accountIndicator, 'account:read account:write'],
  ] as const) {
    const { body } = await exchange(service, client, { subject_token: token, resource, scope });
    if (body['access_token']) scopes.push(...scopesIn(body['access_token']));
  }
  return scopes.sort();
}

/** Whether an administrator can sign in by the application's own page. */
async function handsOver(client: { id: string }, uri: string): Promise<boolean> {
  const { username } = await administrator();
  const { send } = await startHeadless(service, { clientId: client.id, redirectUri: uri });
  await step(send, 'signInWithPassword', { identifier: username, password });
  const { __typename } = await step(send, 'submitInteraction');
  return __typename === 'SubmitInteractionPayload';
}

const everything = (scope: string) =>
  scope === 'all' ? [managementIndicator, accountIndicator] : [];
const exchanging = { allowTokenExchange: true, exchangeResources: ['urn:other'] };
const accepting = {
  exchangeSubjectAudiences: ['https://gateway.example.com/api'],
  allowPersonalAccessTokens: true,
  allowImpersonation: true,
  mayRebindTokens: true,
  exchangeThirdPartySubjectTokens: true,
  mayActFor: [attack.trusted.id],
};

const setters = ['applications:write', 'all'] as const;

test.each(setters)('an application for people that %s creates', async (scope) => {
  for (const settings of [
    { type: 'TRADITIONAL', isThirdParty: false, allowHeadlessSignIn: true },
    { type: 'SPA', corsAllowedOrigins: ['https://evil.example.com'] },
    { type: 'NATIVE', allowDeviceGrant: true },
    { type: 'TRADITIONAL', requirePkce: false },
    { type: 'TRADITIONAL', requireDpop: false, requirePushedAuthorizationRequests: false },
  ]) {
    const input = { name: next('mine'), redirectUris: [evil], ...settings };
    const { application } = await setUp(scope, 'createApplication', input);
    // An administrator who only renames it does not answer for it.
    await done('updateApplication', { id: application.id, name: next('renamed') });
    expect(await reaches(application, evil)).toEqual(everything(scope));
    if ('allowHeadlessSignIn' in settings)
      expect(await handsOver(application, evil)).toBe(scope === 'all');
    await done('updateApplication', { id: application.id, redirectUris: [evil] });
    expect(await reaches(application, evil)).toEqual(everything('all'));
  }
});

test.each(setters)('an application that %s creates, which gets roles', async (scope) => {
  const { application, secret } = await setUp(scope, 'createApplication', {
    name: next('mine'),
    ...m2m,
  });
  const roleIds = [await attack.role(m2m)];
  await done('assignApplicationRoles', { applicationId: application.id, roleIds });
  expect(await rightsOf({ id: application.id, secret })).toEqual(upTo(scope));
  const renewed = await done('createApplicationSecret', {
    applicationId: application.id,
    name: 'of all',
  });
  expect(await rightsOf({ id: application.id, secret: renewed.secret })).toEqual(upTo('all'));
});

test.each(setters)('an exchange that %s sets up and an administrator widens', async (scope) => {
  const { application, secret } = await setUp(scope, 'createApplication', {
    name: next('mine'),
    type: 'TRADITIONAL',
    ...exchanging,
    ...accepting,
  });
  const { id } = application;
  await done('updateApplication', {
    id,
    exchangeResources: [managementIndicator, accountIndicator],
  });
  const all = [...upTo('all'), 'account:read', 'account:write'].sort();
  const most = scope === 'all' ? all : upTo(scope);
  expect(await exchanged({ id, secret })).toEqual(most);
  const renewed = await done('createApplicationSecret', { applicationId: id, name: 'of all' });
  expect(await exchanged({ id, secret: renewed.secret })).toEqual(all);
});

test.each(setters)('a change of an application for people by %s', async (scope) => {
  const own = (settings: Record<string, unknown> = {}) =>
    make.application({
      ...{ type: 'TRADITIONAL', redirectUris: [redirectUri], isThirdParty: false },
      ...settings,
    });
  const cors = await own();
  await setUp(scope, 'updateApplication', {
    id: cors,
    corsAllowedOrigins: ['https://evil.example.com'],
  });
  expect(await reaches({ id: cors }, redirectUri)).toEqual(everything(scope));

  const redirected = await own();
  const redirectUris = [redirectUri, evil];
  await setUp(scope, 'updateApplication', { id: redirected, redirectUris });
  expect(await reaches({ id: redirected }, evil)).toEqual(everything(scope));

  const headless = await own();
  await setUp(scope, 'updateApplication', { id: headless, allowHeadlessSignIn: true });
  expect(await reaches({ id: headless }, redirectUri)).toEqual(everything(scope));
  expect(await handsOver({ id: headless }, redirectUri)).toBe(scope === 'all');

  const onDevices = await own();
  await setUp(scope, 'updateApplication', { id: onDevices, allowDeviceGrant: true });
  expect(await reaches({ id: onDevices }, redirectUri)).toEqual(everything(scope));

  for (const protection of ['requirePkce', 'requireDpop', 'requirePushedAuthorizationRequests']) {
    const bare = await own({ [protection]: true });
    await setUp(scope, 'updateApplication', { id: bare, [protection]: false });
    expect(await reaches({ id: bare }, redirectUri), protection).toEqual(everything(scope));
  }

  const foreign = await make.application({
    type: 'TRADITIONAL',
    redirectUris: [redirectUri],
    isThirdParty: true,
  });
  await setUp(scope, 'updateApplication', { id: foreign, isThirdParty: false });
  expect(await reaches({ id: foreign }, redirectUri)).toEqual(everything(scope));
});

test.each(setters)('people who sign in at a page of an application of %s', async (scope) => {
  const { application } = await setUp(scope, 'createApplication', {
    ...{ name: next('mine'), type: 'SPA', redirectUris: [redirectUri], allowHeadlessSignIn: true },
  });
  const start = () => startHeadless(service, { clientId: application.id, redirectUri });
  const known = next('known');
  const knownId = await make.user({ username: known, password });
  const { send } = await start();
  await step(send, 'signInWithPassword', { identifier: known, password });
  // It has seen the password, whether or not it goes on.
  const newcomer = next('newcomer');
  await step((await start()).send, 'register', { username: newcomer, password });
  const { id: newcomerId } = await attack.prisma.user.findFirstOrThrow({
    where: { username: newcomer },
  });
  for (const [username, id] of [
    [known, knownId],
    [newcomer, newcomerId],
  ] as const) {
    await promote(id);
    expect(await attack.rightsBy(byPassword(username))).toEqual(upTo(scope));
    await done('updateUser', { id, isVouchedFor: true });
    expect(await attack.rightsBy(byPassword(username))).toEqual(upTo('all'));
  }
});

test.each(setters)('a grant of before, once %s has changed the application', async (scope) => {
  const username = next('person');
  const userId = await make.user({ username, password });
  const id = await make.application({ type: 'SPA', redirectUris: [redirectUri] });
  const resource = { resource: managementIndicator };
  const request = {
    ...{ browser: openConsole(service), ...resource },
    scope: `openid offline_access ${everyScope}`,
  };
  const { browser, visit } = await openSignInPage(service, { id }, request);
  await browser.submit(visit, { identifier: username, password });

  // The person is not asked, holding nothing that the application could get.
  await setUp(scope, 'updateApplication', { id, redirectUris: [redirectUri, evil] });
  const again = await openSignInPage(service, { id }, { ...request, redirect_uri: evil });
  const config = await discover(service, { id });
  const checks = { pkceCodeVerifier: again.verifier };
  const tokens = await oidc.authorizationCodeGrant(config, again.visit.url, checks, resource);
  expect(scopesIn(tokens.access_token)).toEqual([]);
  await promote(userId);
  const later = await refresh(service, { id }, String(tokens.refresh_token), resource);
  expect(scopesIn(later.access_token)).toEqual(scope === 'all' ? upTo('all') : []);
});

test('what people allow an application of applications:write lasts', async () => {
  const { username } = await administrator();
  const input = { name: next('mine'), type: 'SPA', redirectUris: [evil] };
  const { application } = await setUp('applications:write', 'createApplication', input);
  const browser = openConsole(service);
  const resource = { resource: managementIndicator };
  const request = {
    ...{ browser, redirect_uri: evil, ...resource },
    scope: 'openid offline_access users:read',
  };
  const { visit, verifier } = await openSignInPage(service, application, request);
  const asked = await browser.submit(visit, { identifier: username, password });
  const allowed = await browser.submit(asked, {});
  const config = await discover(service, application);
  const checks = { pkceCodeVerifier: verifier };
  const tokens = await oidc.authorizationCodeGrant(config, allowed.url, checks, resource);
  expect(scopesIn(tokens.access_token)).toEqual(['users:read']);
  const later = await refresh(service, application, String(tokens.refresh_token), resource);
  expect(scopesIn(later.access_token)).toEqual(['users:read']);
});

test.each(setters)(
  'what people allow where they know it is not given where %s says',
  async (scope) => {
    const { username } = await administrator();
    const id = await make.application({ type: 'SPA', redirectUris: [redirectUri] });
    await setUp(scope, 'updateApplication', { id, redirectUris: [redirectUri, evil] });
    const browser = openConsole(service);
    const resource = { resource: managementIndicator };
    const request = { browser, ...resource, scope: `openid ${everyScope}` };
    const { visit } = await openSignInPage(service, { id }, request);
    const known = await browser.submit(visit, { identifier: username, password });
    const allowed = known.url.searchParams.has('code') ? known : await browser.submit(known, {});
    expect(allowed.url.searchParams.has('code')).toBe(true);
    // Any page in this browser can lead there, and nobody sees it.
    const silent = { ...request, redirect_uri: evil };
    const there = await openSignInPage(service, { id }, silent);
    expect(there.visit.url.searchParams.has('code')).toBe(scope === 'all');
    await setUp(scope, 'updateApplication', { id, redirectUris: [evil] });
    const alone = await openSignInPage(service, { id }, silent);
    expect(alone.visit.url.searchParams.has('code')).toBe(scope === 'all');
    await done('updateApplication', { id, redirectUris: [redirectUri, evil] });
    const vouched = await openSignInPage(service, { id }, silent);
    expect(vouched.visit.url.searchParams.has('code')).toBe(true);
  },
);

test.each(setters)('each change of an exchange by %s', async (scope) => {
  const all = [...upTo('all'), 'account:read', 'account:write'].sort();
  for (const change of [
    { allowTokenExchange: true },
    { exchangeResources: ['urn:other'] },
    { exchangeSubjectAudiences: ['https://gateway.example.com/api'] },
    { allowPersonalAccessTokens: true },
    { allowImpersonation: true },
    { mayRebindTokens: true },
    { exchangeThirdPartySubjectTokens: true },
    { mayActFor: [attack.trusted.id] },
  ]) {
    const { application, secret } = await done('createApplication', {
      name: next('gateway'),
      type: 'TRADITIONAL',
      redirectUris: [redirectUri],
    });
    const { id } = application;
    await setUp(scope, 'updateApplication', { id, ...change });
    const exchangeResources = [managementIndicator, accountIndicator];
    await done('updateApplication', { id, allowTokenExchange: true, exchangeResources });
    expect(await exchanged({ id, secret })).toEqual(scope === 'all' ? all : upTo(scope));
  }
});

test.each(setters)('a secret that %s creates', async (scope) => {
  const applicationId = await make.application();
  const name = next('mine');
  const { secret } = await setUp(scope, 'createApplicationSecret', { applicationId, name });
  await done('assignApplicationRoles', { applicationId, roleIds: [await attack.role(m2m)] });
  expect(await rightsOf({ id: applicationId, secret })).toEqual(upTo(scope));

  const gateway = await make.application({ type: 'TRADITIONAL' });
  const own = await setUp(scope, 'createApplicationSecret', { applicationId: gateway, name });
  const exchangeResources = [managementIndicator];
  await done('updateApplication', { id: gateway, allowTokenExchange: true, exchangeResources });
  expect(await exchanged({ id: gateway, secret: own.secret })).toEqual(upTo(scope));
});

test.each(setters)('keys that %s sets', async (scope) => {
  const key = await createClientKey();
  const jwks = { keys: [key.publicJwk] };
  const byKey = async (id: string) => {
    const assertion = await signAssertion(service, id, key);
    const form = { grant_type: 'client_credentials', resource: managementIndicator };
    const { body } = await postToken(
      service,
      formOf({ ...form, scope: everyScope, ...assertionParameters(assertion) }),
    );
    return scopesIn(body['access_token']);
  };
  const roleIds = [await attack.role(m2m)];
  const { application } = await setUp(scope, 'createApplication', {
    name: next('mine'),
    ...m2m,
    jwks,
  });
  const changed = await make.application();
  await setUp(scope, 'updateApplication', { id: changed, jwks });
  for (const id of [application.id, changed]) {
    await done('assignApplicationRoles', { applicationId: id, roleIds });
    expect(await byKey(id)).toEqual(upTo(scope));
    await done('updateApplication', { id, jwks });
    expect(await byKey(id)).toEqual(upTo('all'));
  }
  // Those at an address are bound alike.
  const jwksUri = 'https://keys.example.com/jwks';
  const remote = { name: next('mine'), ...m2m, jwksUri };
  const { application: created } = await setUp(scope, 'createApplication', remote);
  const other = await make.application();
  await setUp(scope, 'updateApplication', { id: other, jwksUri });
  for (const id of [created.id, other]) {
    const where = { where: { id } };
    const { prisma } = service.app.services.database;
    const { keySetterScopes } = await prisma.application.findUniqueOrThrow(where);
    expect(keySetterScopes).toEqual([scope]);
  }
});

const foreign = await startForeignIssuer(service);
const trust = (values: Record<string, unknown>) => ({
  name: next('issuer'),
  issuer: foreign.issuer,
  jwksUri: foreign.jwksUri,
  kind: 'WORKLOAD',
  claimRules: [{ claim: 'repository', equals: 'acme/shop' }],
  maxLifetimeSeconds: 300,
  requireJti: true,
  ...values,
});
const byAssertion = async (
  assertion: string,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) => {
  const resource = managementIndicator;
  const form = { grant_type: assertionGrantType, assertion, resource, scope: everyScope };
  return (await postToken(service, formOf({ ...form, ...parameters }), headers)).body;
};

test.each(setters)('an issuer of workloads that %s trusts', async (scope) => {
  const roleIds = [await attack.role(m2m)];
  const byWorkload = async (client_id: string) =>
    scopesIn((await byAssertion(await foreign.signWorkload(), { client_id }))['access_token']);
  const [created, moved] = [await make.application(), await make.application()];
  const { trustedIssuer: first } = await setUp(
    scope,
    'createTrustedIssuer',
    trust({ applicationId: created }),
  );
  const second = await make.trustedIssuer();
  await setUp(scope, 'updateTrustedIssuer', { id: second, ...trust({ applicationId: moved }) });
  for (const [applicationId, id] of [
    [created, first.id],
    [moved, second],
  ] as const) {
    await done('assignApplicationRoles', { applicationId, roleIds });
    expect(await byWorkload(applicationId)).toEqual(upTo(scope));
    await done('updateTrustedIssuer', { id, name: next('renamed'), issuer: foreign.issuer });
    expect(await byWorkload(applicationId)).toEqual(upTo(scope));
    await done('updateTrustedIssuer', { id, jwksUri: foreign.jwksUri });
    expect(await byWorkload(applicationId)).toEqual(upTo('all'));
  }
});

test.each(setters)('an issuer of identities that %s trusts', async (scope) => {
  const { prisma } = service.app.services.database;
  // Nobody holds anything yet, or a narrow caller could trust none.
  await prisma.userRole.deleteMany();
  const client = await attack.directory.createClient({ type: 'TRADITIONAL' });
  const input = trust({ kind: 'IDENTITY', claimRules: [], applicationId: client.id });
  await setUp(scope, 'createTrustedIssuer', input);
  const identityProviderId = await make.identityProvider();
  const linked = async () => {
    const subject = next('subject');
    const userId = await make.user();
    const issuer = foreign.issuer;
    await attack.directory.createIdentity(userId, identityProviderId, { issuer, subject });
    return { userId, subject };
  };
  const byIdentity = async (subject: string) =>
    byAssertion(
      await foreign.signIdentity(subject, client.id),
      {},
      { authorization: basic(client.id, client.secret) },
    );
  // Whoever holds more is not who the issuer says; whoever came by it holds no more afterwards.
  const [before, after] = [await linked(), await linked()];
  expect(scopesIn((await byIdentity(before.subject))['access_token'])).toEqual([]);
  for (const { userId } of [before, after]) await promote(userId);
  for (const { subject } of [before, after]) {
    const body = await byIdentity(subject);
    if (scope === 'all') expect(scopesIn(body['access_token'])).toEqual(upTo('all'));
    else expect(body).toMatchObject({ error: 'invalid_grant' });
  }
  const { setterScopes } = await prisma.user.findUniqueOrThrow({ where: { id: before.userId } });
  expect(setterScopes).toEqual([scope]);
});

test.each(setters)('a role that %s gives to an application', async (scope) => {
  for (const operation of ['assignApplicationRoles', 'replaceApplicationRoles']) {
    const { id, secret } = await attack.directory.createClient();
    const role = await make.role(m2m);
    await setUp(scope, operation, { applicationId: id, roleIds: [role] });
    await empower(role);
    expect(await rightsOf({ id, secret })).toEqual(upTo(scope));
    await done('assignApplicationRoles', { applicationId: id, roleIds: [role] });
    expect(await rightsOf({ id, secret })).toEqual(upTo('all'));
  }
});

test.each(setters)('a token of an application of %s, which a gateway exchanges', async (scope) => {
  const exchangeResources = [managementIndicator, accountIndicator];
  const gateway = await attack.directory.createClient({
    allowTokenExchange: true,
    exchangeResources,
  });
  const input = { name: next('mine'), type: 'TRADITIONAL', redirectUris: [evil] };
  const { application } = await setUp(scope, 'createApplication', input);
  const all = [...upTo('all'), 'account:read', 'account:write'].sort();
  const expected = scope === 'all' ? all : upTo(scope);
  expect(await exchanged(gateway, application)).toEqual(expected);

  // A gateway before it is named in the token instead, which comes from the application all the same.
  const first = await attack.directory.createClient({ allowTokenExchange: true });
  const api = await attack.directory.createResource([]);
  const through = async (token: string) => {
    const asked = { subject_token: token, resource: api.indicator };
    return String((await exchange(service, first, asked)).body['access_token']);
  };
  expect(await exchanged(gateway, application, through)).toEqual(expected);
});

test('every later field of applications is attacked', () => {
  expect(attack.missing(laterOperations.applications)).toEqual([]);
});
