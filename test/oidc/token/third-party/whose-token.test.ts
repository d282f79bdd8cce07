import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { accountIndicator, managementIndicator } from '../../../../src/auth/scopes.ts';
import { basic } from '../../../support/client-credentials.ts';
import { assertionGrantType, startForeignIssuer } from '../../../support/keys/foreign-issuer.ts';
import type { TestClient } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture, refresh } from '../../../support/people/sign-in-fixture.ts';
import { postAccess } from '../../../support/permissions/client.ts';
import { startService } from '../../../support/service.ts';
import {
  accessTokenType,
  exchange,
  formOf,
  isActive,
  postToken,
  userToken,
} from '../../../support/tokens.ts';
import { consentDriver } from '../../consent/driver.ts';

// The table of docs/acting-for-a-user.md, cell by cell: a token of an application of the operator, one of a third
// party, and one that was exchanged from that.
const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const fixture = await createSignInFixture(service);
const { directory, resource, client: own } = fixture;
const make = createMaker(overGraphQL(service, await service.managementToken()));
const { createPair, begin, redeem } = consentDriver(service, fixture);

const pair = await createPair();
const { user, client: shop } = pair;
const stranger = await fixture.createApplication({ isThirdParty: true });
const listed = await fixture.createApplication({
  isThirdParty: true,
  exchangeSubjectAudiences: [resource.indicator],
});
const careful = await directory.createClient({ allowTokenExchange: true });
const open = await directory.createClient({
  allowTokenExchange: true,
  exchangeThirdPartySubjectTokens: true,
});
const gateway = await directory.createClient({
  allowTokenExchange: true,
  exchangeThirdPartySubjectTokens: true,
  exchangeResources: [accountIndicator, managementIndicator],
});

const target = { resource: resource.indicator, scope: 'read write' };
const signedIn = await fixture.signIn({
  username: user.username ?? '',
  scope: 'openid offline_access read',
  resource: resource.indicator,
});
const consented = await (async () => {
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid offline_access read',
    resource: resource.indicator,
  });
  return redeem(pair, await browser.submit(visit, {}), verifier);
})();
const swap = (by: TestClient, subject_token: string, parameters: object = {}) =>
  exchange(service, by, { subject_token, ...target, ...parameters });
const passed = String((await swap(open, consented.access_token)).body['access_token']);

const tokens = {
  own: { token: signedIn.access_token, client: own },
  thirdParty: { token: consented.access_token, client: shop },
  exchanged: { token: passed, client: open },
} as const;
type Whose = keyof typeof tokens;
const rows = <Expected>(expected: Record<Whose, Expected>) =>
  (Object.keys(tokens) as Whose[]).map((whose) => [whose, expected[whose]] as const);

const get = (path: string, token: string) =>
  fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
const post = (path: string, token: string, query: string) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });

describe('a token exchange', () => {
  test.each(rows({ own: 200, thirdParty: 400, exchanged: 400 }))(
    'takes it as subject, with allowTokenExchange alone: %s, %d',
    async (whose, status) => {
      expect((await swap(careful, tokens[whose].token)).status).toBe(status);
    },
  );

  test('takes it as subject, with the setting, and names the third party innermost', async () => {
    for (const [whose, act] of rows<object>({
      own: { sub: open.id },
      thirdParty: { sub: open.id, act: { sub: shop.id } },
      exchanged: { sub: open.id, act: { sub: open.id, act: { sub: shop.id } } },
    })) {
      const { body } = await swap(open, tokens[whose].token);
      expect([whose, decodeJwt(String(body['access_token']))['act']]).toEqual([whose, act]);
    }
  });

  test.each(rows({ own: 200, thirdParty: 400, exchanged: 400 }))(
    'takes it as actor, and the next exchange asks who acted: %s, %d',
    async (whose, next) => {
      const { token, client } = tokens[whose];
      const acting = await directory.createClient({
        allowTokenExchange: true,
        mayActFor: [client.id],
      });
      const answer = await swap(acting, tokens.own.token, {
        actor_token: token,
        actor_token_type: accessTokenType,
      });
      expect(answer.status).toBe(200);
      const further = String(answer.body['access_token']);
      expect((await swap(careful, further)).status).toBe(next);
      expect((await swap(open, further)).status).toBe(200);
    },
  );

  test.each([accountIndicator, managementIndicator])('for %s', async (indicator) => {
    const asked = { resource: indicator, scope: '' };
    for (const [whose, status] of rows({ own: 200, thirdParty: 400, exchanged: 400 }))
      expect([whose, (await swap(gateway, tokens[whose].token, asked)).status]).toEqual([
        whose,
        status,
      ]);
  });
});

test('an API is told the scopes: what was allowed, or what the user holds', async () => {
  await directory.allowUser(user, resource, ['write']);
  const { body } = await swap(open, tokens.thirdParty.token);
  expect(decodeJwt(tokens.thirdParty.token)).toMatchObject({ scope: 'read', client_id: shop.id });
  expect(decodeJwt(String(body['access_token']))).toMatchObject({
    scope: 'read write',
    act: { sub: open.id, act: { sub: shop.id } },
  });
});

describe('user info', () => {
  test('takes no token for an API', async () => {
    for (const { token } of Object.values(tokens))
      expect((await get('/oidc/me', token)).status).toBe(401);
  });

  test('takes the token of a sign-in without a resource, with what was allowed', async () => {
    const { access_token } = await fixture.signIn({ username: user.username ?? '' });
    expect(await (await get('/oidc/me', access_token)).json()).toMatchObject({ sub: user.id });
    const { browser, visit, verifier } = await begin(pair, { scope: 'openid' });
    const done = /\/consent$/.test(visit.url.pathname) ? await browser.submit(visit, {}) : visit;
    const { access_token: theirs } = await redeem(pair, done, verifier);
    expect(await (await get('/oidc/me', theirs)).json()).toEqual({ sub: user.id });
    for (const token of [access_token, theirs])
      expect((await swap(gateway, token)).status).toBe(400);
  });
});

describe('the APIs of this service', () => {
  test('take no token for another', async () => {
    for (const { token } of Object.values(tokens)) {
      expect((await post('/graphql', token, '{ users { totalCount } }')).status).toBe(401);
      expect((await post('/account/graphql', token, '{ viewer { id } }')).status).toBe(401);
    }
  });

  test('the account is never a third party’s', async () => {
    const ask = { scope: 'openid account:read', resource: accountIndicator };
    const ours = await fixture.signIn({ username: user.username ?? '', ...ask });
    const answer = await post('/account/graphql', ours.access_token, '{ viewer { id } }');
    expect(answer.status).toBe(200);
    const { visit } = await begin(pair, ask);
    expect(visit.url.searchParams.get('error')).toBe('invalid_target');
  });
});

describe('introspection', () => {
  test.each(rows({ own: true, thirdParty: true, exchanged: true }))(
    'by an application of the operator: %s, %s',
    async (whose, isKnown) => {
      expect(await isActive(service, careful, tokens[whose].token)).toBe(isKnown);
    },
  );

  test.each(rows({ own: false, thirdParty: true, exchanged: false }))(
    'by the third party: %s, %s',
    async (whose, isKnown) => {
      expect(await isActive(service, shop, tokens[whose].token)).toBe(isKnown);
    },
  );

  test('by another third party, only for an API that it is', async () => {
    for (const { token } of Object.values(tokens)) {
      expect(await isActive(service, stranger, token)).toBe(false);
      expect(await isActive(service, listed, token)).toBe(true);
    }
  });
});

test('a refresh token is for its application alone', async () => {
  const mine = String(consented.refresh_token);
  for (const other of [own, stranger])
    await expect(refresh(service, other, mine)).rejects.toMatchObject({ error: 'invalid_grant' });
  const pair2 = { user, client: await fixture.createApplication({ isThirdParty: true }) };
  const { browser, visit, verifier } = await begin(pair2, {
    scope: 'openid offline_access read',
    resource: resource.indicator,
  });
  const first = await redeem(pair2, await browser.submit(visit, {}), verifier);
  const { access_token } = await refresh(service, pair2.client, String(first.refresh_token));
  expect((await swap(careful, access_token)).status).toBe(400);
  expect((await swap(open, access_token)).status).toBe(200);
});

test('an assertion gets a third party a token that is a third party’s', async () => {
  const company = await startForeignIssuer(service);
  const providerId = await make.identityProvider();
  const subject = 'grace';
  await directory.createIdentity(user.id, providerId, { issuer: company.issuer, subject });
  await make.done('createTrustedIssuer', {
    name: make.next('issuer'),
    issuer: company.issuer,
    jwksUri: company.jwksUri,
    kind: 'IDENTITY',
    applicationId: shop.id,
  });
  const { status, body } = await postToken(
    service,
    formOf({
      grant_type: assertionGrantType,
      assertion: await company.signIdentity(subject, shop.id),
      ...target,
    }),
    { authorization: basic(shop.id, shop.secret) },
  );
  expect({ status, body }).toMatchObject({ status: 200, body: { scope: 'read' } });
  const token = String(body['access_token']);
  expect((await swap(careful, token)).status).toBe(400);
  const answer = await swap(open, token);
  expect(decodeJwt(String(answer.body['access_token']))).toMatchObject({
    act: { sub: open.id, act: { sub: shop.id } },
  });
});

test('a third party’s ID token gets no assertion for another service', async () => {
  const answer = await exchange(service, shop, {
    subject_token: String(consented.id_token),
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    audience: 'https://chat.example.com',
  });
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
});

test('an application’s personal access tokens and subject tokens need other settings, and no consent', async () => {
  const agent = await directory.createClient({
    allowTokenExchange: true,
    allowImpersonation: true,
    allowPersonalAccessTokens: true,
  });
  const personal = await make.done('createPersonalAccessToken', {
    userId: user.id,
    name: 'Terminal',
    expiresAt: new Date(service.clock.now().getTime() + 3_600_000).toISOString(),
  });
  const impersonated = await make.done('createSubjectToken', { userId: user.id, reason: 'A test' });
  for (const [type, token] of [
    ['personal_access_token', personal.token],
    ['subject_token', impersonated.token],
  ] as const) {
    const subject_token_type = `urn:signet:params:oauth:token-type:${type}`;
    expect((await swap(open, token, { subject_token_type })).status).toBe(400);
    const { status, body } = await swap(agent, token, { subject_token_type });
    expect([type, status]).toEqual([type, 200]);
    expect((await swap(careful, String(body['access_token']))).status).toBe(200);
  }
});

test('one that a user created through a third party is a third party’s', async () => {
  const management = await fixture.database.prisma.resource.findUniqueOrThrow({
    where: { indicator: managementIndicator },
  });
  await directory.allowUser(user, management, ['users:write']);
  const ask = { scope: 'openid users:write', resource: managementIndicator };
  const { access_token: ours } = await fixture.signIn({ username: user.username ?? '', ...ask });
  const { browser, visit, verifier } = await begin(pair, ask);
  const theirs = await redeem(pair, await browser.submit(visit, {}), verifier);
  const settings = {
    allowTokenExchange: true,
    allowImpersonation: true,
    allowPersonalAccessTokens: true,
  };
  const without = await directory.createClient(settings);
  const withSetting = await directory.createClient({
    ...settings,
    exchangeThirdPartySubjectTokens: true,
  });
  const { id: userId } = await fixture.createUser();
  for (const [token, status] of [
    [ours, 200],
    [theirs.access_token, 400],
  ] as const) {
    const { done } = createMaker(overGraphQL(service, token));
    const create = {
      personal_access_token: () =>
        done('createPersonalAccessToken', {
          userId,
          name: make.next('token'),
          expiresAt: new Date(service.clock.now().getTime() + 3_600_000).toISOString(),
        }),
      subject_token: () => done('createSubjectToken', { userId, reason: 'A test' }),
    } as const;
    for (const [type, made] of Object.entries(create)) {
      const subject_token_type = `urn:signet:params:oauth:token-type:${type}`;
      for (const [by, expected] of [
        [without, status],
        [withSetting, 200],
      ] as const) {
        const answer = await swap(by, (await made()).token, { subject_token_type });
        expect([type, answer.status]).toEqual([type, expected]);
      }
    }
  }
});

test('AuthZEN takes no token of a user, and answers by what the user holds', async () => {
  const question = {
    subject: { type: 'user', id: user.id },
    action: { name: 'read' },
    resource: { type: 'api', id: resource.indicator },
  };
  for (const { token } of Object.values(tokens))
    expect((await postAccess(service, token, 'evaluation', question)).status).toBe(401);
  const asking = await service.managementToken('permissions:read');
  expect((await postAccess(service, asking, 'evaluation', question)).body).toEqual({
    decision: true,
  });
});

test('revocation is for the application that a token was issued to', async () => {
  const revoke = (by: TestClient, token: string) =>
    fetch(`${service.url}/oidc/token/revocation`, {
      method: 'POST',
      headers: { authorization: basic(by.id, by.secret) },
      body: new URLSearchParams({ token }),
    });
  const fresh = {
    own: { client: own, token: await userToken(service, user.id, own) },
    thirdParty: { client: shop, token: await userToken(service, user.id, shop) },
    exchanged: {
      client: open,
      token: String((await swap(open, tokens.thirdParty.token)).body['access_token']),
    },
  } satisfies Record<Whose, unknown>;
  for (const { client, token } of Object.values(fresh)) {
    for (const other of [own, shop, open, stranger].filter(({ id }) => id !== client.id))
      await revoke(other, token);
    expect(await isActive(service, careful, token)).toBe(true);
    await revoke(client, token);
    expect(await isActive(service, careful, token)).toBe(false);
  }
});
