import { hash, randomUUID } from 'node:crypto';
import { generateKeyPair as generateDpopKeys, generateProof, type KeyPair } from 'dpop';
import { createClient as createSocketClient } from 'graphql-ws';
import {
  calculateJwkThumbprint,
  decodeJwt,
  exportJWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { basic } from '../../support/client-credentials.ts';
import { type ClientKey, createClientKey } from '../../support/keys/client-keys.ts';
import { accountIndicator } from '../../support/people/account.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchange,
  exchangeGrantType,
  postToken,
  userToken,
} from '../../support/tokens.ts';

const service = await startService({ TRUST_PROXY: '1' });
const otherNode = await startSecondNode(service);
const { issuer, baseUrl } = service.app.services;
const tokenUrl = `${issuer}/token`;
const fixture = await createSignInFixture(service);
const { directory, resource, user } = fixture;
const backend = await directory.createClient({ allowTokenExchange: true });
const rebinding = await directory.createClient({ allowTokenExchange: true, mayRebindTokens: true });
const strict = await directory.createClient({ allowTokenExchange: true, requireDpop: true });
const management = { resource: 'urn:signet:management', scope: 'all' };

const [keys, otherKeys] = [await generateDpopKeys('ES256'), await generateDpopKeys('ES256')];
const thumbprintOf = async ({ publicKey }: KeyPair) =>
  calculateJwkThumbprint(await exportJWK(publicKey));
const jkt = await thumbprintOf(keys);
const otherJkt = await thumbprintOf(otherKeys);

const proofHeader = async (by: KeyPair, ...of: [url: string, method: string, token?: string]) => ({
  dpop: await generateProof(by, of[0], of[1], undefined, of[2]),
});
const atToken = (by: KeyPair) => proofHeader(by, tokenUrl, 'POST');

/** What an application gets for itself. */
const forItself = async (
  headers: Record<string, string>,
  client = service.admin,
  at: { url: string } = service,
) =>
  postToken(at, new URLSearchParams({ grant_type: 'client_credentials', ...management }), {
    authorization: basic(client.id, client.secret),
    ...headers,
  });

/** Signs a proof by hand; the given claims and header fields replace the usual ones. */
async function signProof(
  key: ClientKey,
  claims: Partial<Record<keyof JWTPayload | string, unknown>> = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const { kid: _kid, ...jwk } = key.publicJwk;
  const iat = Math.floor(service.clock.now().getTime() / 1000);
  const all = { htm: 'POST', htu: tokenUrl, iat, jti: randomUUID(), ...claims };
  return new SignJWT(all as JWTPayload)
    .setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk, ...header })
    .sign(key.privateKey);
}

const invalidProof = { status: 400, body: { error: 'invalid_dpop_proof' } };

describe('a token request with a proof', async () => {
  const as = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { [oauth.allowInsecureRequests]: true }),
  );

  test('is announced by discovery', () => {
    expect(as.dpop_signing_alg_values_supported).toEqual(
      expect.arrayContaining(['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256']),
    );
  });

  test.each(['ES256', 'Ed25519', 'PS256'] as const)(
    'gets a token that is bound to its key, by %s with unmodified clients',
    async (alg) => {
      const pair = await oauth.generateKeyPair(alg, { extractable: false });
      const client = { client_id: service.admin.id };
      const DPoP = oauth.DPoP({ [oauth.clockSkew]: 0 }, pair);
      const insecure = { [oauth.allowInsecureRequests]: true };
      const response = await oauth.clientCredentialsGrantRequest(
        as,
        client,
        oauth.ClientSecretBasic(service.admin.secret),
        new URLSearchParams(management),
        { DPoP, ...insecure },
      );
      const answer = await oauth.processClientCredentialsResponse(as, client, response);
      expect(answer.token_type).toBe('dpop');
      const bound = await thumbprintOf(pair);
      expect(decodeJwt(answer.access_token)['cnf']).toEqual({ jkt: bound });
      const call = await oauth.protectedResourceRequest(
        answer.access_token,
        'GET',
        new URL(`${baseUrl}/api/users?first=1`),
        undefined,
        undefined,
        { DPoP, ...insecure },
      );
      expect(call.status).toBe(200);
      const introspection = await oauth.processIntrospectionResponse(
        as,
        client,
        await oauth.introspectionRequest(
          as,
          client,
          oauth.ClientSecretBasic(service.admin.secret),
          answer.access_token,
          insecure,
        ),
      );
      expect(introspection).toMatchObject({
        active: true,
        token_type: 'DPoP',
        cnf: { jkt: bound },
      });
    },
  );

  test('is taken by ES384 and EdDSA too', async () => {
    for (const alg of ['ES384', 'EdDSA']) {
      const key = await createClientKey(alg);
      expect(await forItself({ dpop: await signProof(key) })).toMatchObject({ status: 200 });
    }
  });

  const now = () => Math.floor(service.clock.now().getTime() / 1000);
  test.each<[string, () => Record<string, unknown>, Partial<JWTHeaderParameters>?]>([
    ['for another method', () => ({ htm: 'GET' })],
    ['for a method in lower case', () => ({ htm: 'post' })],
    ['for another path', () => ({ htu: `${issuer}/token/introspection` })],
    ['for another host', () => ({ htu: tokenUrl.replace(/\/\/[^/]+/, '//evil.example.com') })],
    ['for a host with a user', () => ({ htu: tokenUrl.replace('//', '//user@') })],
    ['for another scheme', () => ({ htu: tokenUrl.replace('http:', 'https:') })],
    ['for another path in its case', () => ({ htu: tokenUrl.replace('/token', '/Token') })],
    ['for a path with a slash', () => ({ htu: `${tokenUrl}/` })],
    ['for no URL', () => ({ htu: '/oidc/token' })],
    ['without a URL', () => ({ htu: undefined })],
    ['for a list of URLs', () => ({ htu: [tokenUrl] })],
    ['that is old', () => ({ iat: now() - 70 })],
    ['from the future', () => ({ iat: now() + 70 })],
    ['without a time', () => ({ iat: undefined })],
    ['whose time is no number', () => ({ iat: '0' })],
    ['without a jti', () => ({ jti: undefined })],
    ['with an empty jti', () => ({ jti: '' })],
    ['with an endless jti', () => ({ jti: 'x'.repeat(600) })],
    ['that is huge', () => ({ pad: 'x'.repeat(10_000) })],
    ['of another type', () => ({}), { typ: 'JWT' }],
    ['without a key', () => ({}), { jwk: undefined } as never],
    ['with an extension', () => ({}), { crit: ['b64'], b64: true }],
  ])('is refused %s', async (_what, claims, header) => {
    const key = await createClientKey();
    const dpop = await signProof(key, claims(), header);
    expect(await forItself({ dpop })).toMatchObject(invalidProof);
  });

  test('is about the same URL in another spelling', async () => {
    const key = await createClientKey();
    const { host } = new URL(tokenUrl);
    for (const htu of [
      `${tokenUrl}?a=b#c`,
      tokenUrl.replace('http', 'HTTP'),
      tokenUrl.replace(host, host.toUpperCase()),
      tokenUrl.replace('/oidc', '/x/../oidc'),
    ])
      expect(await forItself({ dpop: await signProof(key, { htu }) })).toMatchObject({
        status: 200,
      });
  });

  test('is refused by another algorithm, or with another key than its own', async () => {
    const [key, other] = [await createClientKey('RS256'), await createClientKey()];
    expect(await forItself({ dpop: await signProof(key) })).toMatchObject(invalidProof);
    const { jwk, ...rest } = { jwk: (await createClientKey()).publicJwk };
    expect(await forItself({ dpop: await signProof(other, rest, { jwk }) })).toMatchObject(
      invalidProof,
    );
    const secret = new TextEncoder().encode(JSON.stringify(other.publicJwk));
    const claims = { htm: 'POST', htu: tokenUrl, iat: now(), jti: randomUUID() };
    const symmetric = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: other.publicJwk })
      .sign(secret);
    const withPrivateKey = await signProof(
      other,
      {},
      {
        jwk: { ...other.publicJwk, d: 'AAAA' } as never,
      },
    );
    for (const dpop of [symmetric, withPrivateKey, 'x', '..', ''])
      expect(await forItself({ dpop })).toMatchObject(invalidProof);
    const twice = `${await signProof(other)}, ${await signProof(other)}`;
    expect(await forItself({ dpop: twice })).toMatchObject(invalidProof);
  });

  test('counts once, on two nodes at once', async () => {
    const dpop = await generateProof(keys, tokenUrl, 'POST');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        forItself({ dpop }, service.admin, i % 2 ? service : otherNode),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error'] === 'invalid_dpop_proof')).toHaveLength(7);
  });

  test('is not used up by a client that does not authenticate', async () => {
    const headers = await atToken(keys);
    const stranger = { id: service.admin.id, secret: 'a wrong one' };
    expect((await forItself(headers, stranger)).status).toBe(401);
    expect((await forItself(headers)).status).toBe(200);
  });

  test('is what an application must send that requires it', async () => {
    expect(await forItself({}, strict)).toMatchObject(invalidProof);
    expect((await forItself(await atToken(keys), strict)).body).toMatchObject({
      token_type: 'DPoP',
    });
    const subject_token = await userToken(service, user.id, fixture.client);
    const parameters = { subject_token, resource: resource.indicator };
    expect(await exchange(service, strict, parameters)).toMatchObject(invalidProof);
    expect(await exchange(service, strict, parameters, await atToken(keys))).toMatchObject({
      status: 200,
    });
    const web = await fixture.createApplication({ requireDpop: true });
    await expect(fixture.signIn({ client: web })).rejects.toMatchObject({
      error: 'invalid_dpop_proof',
      status: 400,
    });
  });
});

describe('an exchange', () => {
  const bearer = () => userToken(service, user.id, fixture.client);
  const bound = () => userToken(service, user.id, fixture.client, { cnf: { jkt } });
  const invalid = { error: 'invalid_request' };
  const toBearer = { token_type: 'Bearer' };
  const toBound = { token_type: 'DPoP' };

  test.each<[string, () => Promise<string>, KeyPair | undefined, object, object, string?]>([
    ['bearer, without a proof', bearer, undefined, toBearer, toBearer],
    ['bearer, with any key', bearer, otherKeys, toBound, toBound, otherJkt],
    ['bound, with its key', bound, keys, toBound, toBound, jkt],
    ['bound, with another key', bound, otherKeys, invalid, toBound, otherJkt],
    ['bound, without a proof', bound, undefined, invalid, invalid],
  ])('of a token that is %s', async (_what, subject, by, usual, whenRebinding, thumbprint) => {
    for (const [client, expected] of [
      [backend, usual],
      [rebinding, whenRebinding],
    ] as const) {
      const answer = await exchange(
        service,
        client,
        { subject_token: await subject(), resource: resource.indicator, scope: 'read' },
        by ? await atToken(by) : {},
      );
      expect(answer.body).toMatchObject(expected);
      expect(answer.status).toBe('error' in expected ? 400 : 200);
      if ('error' in expected) continue;
      const { cnf, act } = decodeJwt(answer.body['access_token'] as string);
      expect(cnf).toEqual(thumbprint === undefined ? undefined : { jkt: thumbprint });
      expect(act).toEqual({ sub: client.id });
    }
  });

  test('keeps the binding through a chain, and over every way to ask', async () => {
    const first = await exchange(
      service,
      backend,
      { subject_token: await bearer(), resource: resource.indicator },
      await atToken(keys),
    );
    const subject_token = first.body['access_token'] as string;
    for (const client of [backend, rebinding])
      for (const parameters of [
        { resource: resource.indicator },
        { audience: resource.indicator },
        { resource: resource.indicator, requested_token_type: accessTokenType },
      ])
        expect(await exchange(service, client, { subject_token, ...parameters })).toMatchObject({
          status: 400,
          body: invalid,
        });
    const next = await exchange(
      service,
      backend,
      { subject_token, resource: resource.indicator },
      await atToken(keys),
    );
    expect(decodeJwt(next.body['access_token'] as string)['cnf']).toEqual({ jkt });
  });

  test('is refused with a proof that was used for another one', async () => {
    const headers = await atToken(keys);
    const parameters = { subject_token: await bound(), resource: resource.indicator };
    expect((await exchange(service, backend, parameters, headers)).status).toBe(200);
    expect(await exchange(service, backend, parameters, headers)).toMatchObject(invalidProof);
  });
});

describe('at a resource', async () => {
  const { body } = await forItself(await atToken(keys));
  const token = body['access_token'] as string;
  const bearer = await service.managementToken();
  const graphqlUrl = `${baseUrl}/graphql`;
  const usersUrl = `${baseUrl}/api/users`;
  const query = (headers: Record<string, string>, at = service.url) =>
    fetch(`${at}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: '{ users(first: 1) { edges { node { id } } } }' }),
    });
  const invalidToken = /^DPoP error="invalid_token", algs="[^"]*ES256/;

  test('a bound token works with a proof of its key, once', async () => {
    const headers = {
      authorization: `DPoP ${token}`,
      ...(await proofHeader(keys, graphqlUrl, 'POST', token)),
    };
    const answers = await Promise.all([query(headers), query(headers, otherNode.url)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const rest = await fetch(`${service.url}/api/users?first=1`, {
      headers: {
        authorization: `dpop ${token}`,
        ...(await proofHeader(keys, usersUrl, 'GET', token)),
      },
    });
    expect(rest.status).toBe(200);
  });

  test.each<[string, () => Promise<Record<string, string>>, RegExp]>([
    [
      'a bound token as a bearer',
      async () => ({
        authorization: `Bearer ${token}`,
        ...(await proofHeader(keys, graphqlUrl, 'POST', token)),
      }),
      invalidToken,
    ],
    [
      'a bound token as a bearer alone',
      async () => ({ authorization: `Bearer ${token}` }),
      invalidToken,
    ],
    [
      'a bound token without a proof',
      async () => ({ authorization: `DPoP ${token}` }),
      /^DPoP error="invalid_dpop_proof"/,
    ],
    [
      'another key',
      async () => ({
        authorization: `DPoP ${token}`,
        ...(await proofHeader(otherKeys, graphqlUrl, 'POST', token)),
      }),
      invalidToken,
    ],
    [
      'a proof for another token',
      async () => ({
        authorization: `DPoP ${token}`,
        ...(await proofHeader(keys, graphqlUrl, 'POST', bearer)),
      }),
      /^DPoP error="invalid_dpop_proof"/,
    ],
    [
      'a proof for no token',
      async () => ({
        authorization: `DPoP ${token}`,
        ...(await proofHeader(keys, graphqlUrl, 'POST')),
      }),
      /^DPoP error="invalid_dpop_proof"/,
    ],
    [
      'a proof for another path',
      async () => ({
        authorization: `DPoP ${token}`,
        ...(await proofHeader(keys, usersUrl, 'POST', token)),
      }),
      /^DPoP error="invalid_dpop_proof"/,
    ],
    [
      'a bearer token as DPoP',
      async () => ({
        authorization: `DPoP ${bearer}`,
        ...(await proofHeader(keys, graphqlUrl, 'POST', bearer)),
      }),
      invalidToken,
    ],
  ])('%s is refused, in GraphQL and in REST', async (_what, headers, challenge) => {
    const answer = await query(await headers());
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(challenge);
    const rest = await fetch(usersUrl, { headers: await headers() });
    expect(rest.status).toBe(401);
    expect(rest.headers.get('www-authenticate')).toMatch(/^DPoP error="/);
  });

  test('a stream of events begins with a proof', async () => {
    const stream = async (headers: Record<string, string>) => {
      const control = new AbortController();
      const answer = await fetch(graphqlUrl, {
        method: 'POST',
        signal: control.signal,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        body: JSON.stringify({ query: 'subscription { events(types: [USER_CREATED]) { id } }' }),
      });
      control.abort();
      return answer.status;
    };
    const proof = await proofHeader(keys, graphqlUrl, 'POST', token);
    expect(await stream({ authorization: `DPoP ${token}`, ...proof })).toBe(200);
    expect(await stream({ authorization: `Bearer ${token}` })).toBe(401);
  });

  test('a socket begins with a proof among its parameters', async () => {
    const connect = (connectionParams: Record<string, unknown>) =>
      new Promise<number | 'connected'>((resolve) => {
        const client = createSocketClient({
          url: `${service.url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          connectionParams,
          lazy: false,
          retryAttempts: 0,
          onNonLazyError: () => undefined,
          on: {
            connected: () => {
              resolve('connected');
              void client.dispose();
            },
            closed: (event) => resolve((event as CloseEvent).code),
          },
        });
      });
    const authorization = `DPoP ${token}`;
    const dpop = await generateProof(keys, graphqlUrl, 'GET', undefined, token);
    expect(await connect({ authorization, dpop })).toBe('connected');
    expect(await connect({ authorization, dpop })).toBe(4403);
    expect(await connect({ authorization })).toBe(4403);
    expect(await connect({ authorization: `Bearer ${token}` })).toBe(4403);
    const other = await generateProof(otherKeys, graphqlUrl, 'GET', undefined, token);
    expect(await connect({ authorization, dpop: other })).toBe(4403);
  });
});

describe('a sign-in', () => {
  const scope = 'openid offline_access read';
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => 'no error',
      (error: openid.ResponseBodyError) => error.error,
    );

  async function signIn(application: { id: string; secret?: string }, more: object = {}) {
    const config = await discover(service, application);
    const pair = await openid.randomDPoPKeyPair();
    const DPoP = openid.getDPoPHandle(config, pair);
    const tokens = await fixture.signIn({ client: application, scope, DPoP, ...more });
    const refresh = (token: string | undefined, handle?: openid.DPoPHandle) =>
      openid.refreshTokenGrant(config, token ?? '', undefined, handle ? { DPoP: handle } : {});
    const another = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    return { config, pair, DPoP, tokens, refresh, another };
  }

  test('binds the tokens of a single-page app, and its refresh token to the key', async () => {
    const spa = await fixture.createApplication({ type: 'SPA' });
    const { pair, DPoP, tokens, refresh, another } = await signIn(
      { id: spa.id },
      { resource: resource.indicator },
    );
    const cnf = { jkt: await thumbprintOf(pair) };
    expect(tokens.token_type).toBe('dpop');
    expect(decodeJwt(tokens.access_token)['cnf']).toEqual(cnf);
    expect(await errorOf(refresh(tokens.refresh_token))).toBe('invalid_grant');
    expect(await errorOf(refresh(tokens.refresh_token, another))).toBe('invalid_grant');
    const next = await refresh(tokens.refresh_token, DPoP);
    expect(decodeJwt(next.access_token)['cnf']).toEqual(cnf);
    expect(await errorOf(refresh(next.refresh_token))).toBe('invalid_grant');
    expect((await refresh(next.refresh_token, DPoP)).token_type).toBe('dpop');
  });

  test('binds the refresh token of a public client at its first proof', async () => {
    const native = await fixture.createApplication({ type: 'NATIVE' });
    const client = { id: native.id };
    const unbound = await signIn(client, { DPoP: undefined });
    expect(unbound.tokens.token_type).toBe('bearer');
    const first = await unbound.refresh(unbound.tokens.refresh_token, unbound.DPoP);
    expect(first.token_type).toBe('dpop');
    expect(await errorOf(unbound.refresh(first.refresh_token))).toBe('invalid_grant');
    expect(await errorOf(unbound.refresh(first.refresh_token, unbound.another))).toBe(
      'invalid_grant',
    );
    expect((await unbound.refresh(first.refresh_token, unbound.DPoP)).token_type).toBe('dpop');
  });

  test('lets a confidential client refresh with any key, and never without one', async () => {
    const { tokens, refresh, another, DPoP } = await signIn(fixture.client);
    const rotated = await refresh(tokens.refresh_token, another);
    expect(rotated.token_type).toBe('dpop');
    expect(await errorOf(refresh(rotated.refresh_token))).toBe('invalid_grant');
    expect((await refresh(rotated.refresh_token, DPoP)).token_type).toBe('dpop');
  });

  test('gets user info with a proof', async () => {
    const { config, DPoP, tokens } = await signIn(fixture.client);
    const info = await openid.fetchUserInfo(config, tokens.access_token, user.id, { DPoP });
    expect(info.sub).toBe(user.id);
    const me = (headers: Record<string, string>) => fetch(`${service.url}/oidc/me`, { headers });
    const proof = () => proofHeader(keys, `${issuer}/me`, 'GET', tokens.access_token);
    const unbound = (await fixture.signIn()).access_token;
    for (const headers of [
      { authorization: `Bearer ${tokens.access_token}` },
      { authorization: `Bearer ${tokens.access_token}`, ...(await proof()) },
      { authorization: `DPoP ${tokens.access_token}` },
      { authorization: `DPoP ${tokens.access_token}`, ...(await proof()) },
      {
        authorization: `DPoP ${unbound}`,
        ...(await proofHeader(keys, `${issuer}/me`, 'GET', unbound)),
      },
    ]) {
      const refused = await me(headers);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP .*error="invalid_/);
    }
    const posted = await fetch(`${service.url}/oidc/me`, {
      method: 'POST',
      body: new URLSearchParams({ access_token: tokens.access_token }),
    });
    expect(posted.status).toBe(401);
  });

  test('counts a proof for user info once, on two nodes at once', async () => {
    const tokens = await fixture.signIn({ scope, DPoP: await handleOf(keys) });
    const headers = {
      authorization: `DPoP ${tokens.access_token}`,
      ...(await proofHeader(keys, `${issuer}/me`, 'GET', tokens.access_token)),
    };
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        fetch(`${(i % 2 ? service : otherNode).url}/oidc/me`, { headers }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  });

  test('binds the code to the key that the request names', async () => {
    const { config, pair, DPoP, another } = await signIn(fixture.client);
    const parameters = { dpop_jkt: await thumbprintOf(pair) };
    const request = { scope, parameters };
    expect(await errorOf(fixture.signIn(request))).toBe('invalid_grant');
    expect(await errorOf(fixture.signIn({ ...request, DPoP: another }))).toBe('invalid_grant');
    expect((await fixture.signIn({ ...request, DPoP })).token_type).toBe('dpop');
    expect(config.serverMetadata().issuer).toBe(issuer);
  });

  test('opens the account API with a proof', async () => {
    const { DPoP, tokens, config } = await signIn(fixture.client, {
      resource: accountIndicator,
      scope: 'openid account:read',
    });
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${service.url}/account/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query: '{ viewer { id } }' }),
      });
    const bearer = await ask({ authorization: `Bearer ${tokens.access_token}` });
    expect(bearer.status).toBe(401);
    expect(bearer.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_token"/);
    const answer = await openid.fetchProtectedResource(
      config,
      tokens.access_token,
      new URL(`${baseUrl}/account/graphql`),
      'POST',
      JSON.stringify({ query: '{ viewer { id } }' }),
      new Headers({ 'content-type': 'application/json' }),
      { DPoP },
    );
    expect(answer.status).toBe(200);
  });

  async function handleOf(pair: KeyPair) {
    return openid.getDPoPHandle(await discover(service, fixture.client), pair);
  }
});

describe('where nonces are required', () => {
  const setNonce = async (dpopNonce: 'OFF' | 'REQUIRED') => {
    const token = await service.managementToken();
    const answer = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        query: `mutation { updateServiceSettings(input: { dpopNonce: ${dpopNonce} }) {
          ... on UpdateServiceSettingsPayload { serviceSettings { dpopNonce } } } }`,
      }),
    });
    expect(await answer.json()).toEqual({
      data: { updateServiceSettings: { serviceSettings: { dpopNonce } } },
    });
  };
  afterAll(() => setNonce('OFF'));

  test('proofs bring one that any node gave', async () => {
    const early = await forItself(await atToken(keys));
    expect(early.headers.get('dpop-nonce')).toBeNull();
    await setNonce('REQUIRED');
    const asked = await forItself(await atToken(keys), service.admin, otherNode);
    expect(asked).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
    const nonce = asked.headers.get('dpop-nonce') ?? '';
    expect(nonce).not.toBe('');
    const answer = await forItself({
      dpop: await generateProof(keys, tokenUrl, 'POST', nonce),
    });
    expect(answer.status).toBe(200);
    const made = hash('sha256', 'mine', 'base64url');
    const forged = await forItself({ dpop: await generateProof(keys, tokenUrl, 'POST', made) });
    expect(forged.body).toMatchObject({ error: 'use_dpop_nonce' });

    const token = answer.body['access_token'] as string;
    const call = async (with_?: string) =>
      fetch(`${service.url}/api/users`, {
        headers: {
          authorization: `DPoP ${token}`,
          dpop: await generateProof(keys, `${baseUrl}/api/users`, 'GET', with_, token),
        },
      });
    const challenged = await call();
    expect(challenged.status).toBe(401);
    expect(challenged.headers.get('www-authenticate')).toMatch(/^DPoP error="use_dpop_nonce"/);
    expect((await call(challenged.headers.get('dpop-nonce') ?? '')).status).toBe(200);
  });

  test('an unmodified client signs in, refreshes, and gets user info', async () => {
    const config = await discover(service, fixture.client);
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const tokens = await fixture.signIn({ scope: 'openid offline_access', DPoP });
    const info = await openid.fetchUserInfo(config, tokens.access_token, user.id, { DPoP });
    expect(info.sub).toBe(user.id);
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, {
      DPoP,
    });
    expect(next.token_type).toBe('dpop');
    const exchanged = await openid.genericGrantRequest(
      await discover(service, backend),
      exchangeGrantType,
      {
        subject_token: await userToken(service, user.id, fixture.client),
        subject_token_type: accessTokenType,
        resource: resource.indicator,
      },
      { DPoP },
    );
    expect(exchanged.token_type).toBe('dpop');
  });
});
