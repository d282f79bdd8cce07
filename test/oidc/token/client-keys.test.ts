import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { createApplication, updateApplication } from '../../../src/applications/operations.ts';
import { InvalidInputError, NotAllowedError } from '../../../src/errors.ts';
import { systemActor } from '../../../src/services.ts';
import { closeAtEnd } from '../../support/cleanup.ts';
import { basic } from '../../support/client-credentials.ts';
import {
  assertionParameters,
  type ClientKey,
  createClientKey,
  signAssertion,
} from '../../support/keys/client-keys.ts';
import { testCall } from '../../support/log.ts';
import { send } from '../../support/operations/graphql.ts';
import { discover } from '../../support/people/sign-in.ts';
import { createSignInFixture, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchangeGrantType,
  formOf,
  postToken,
  userToken,
} from '../../support/tokens.ts';

// An address that fails a hundred times is shut out.
const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true', TRUST_PROXY: '1' });
const otherNode = await startSecondNode(service);
const { issuer, database } = service.app.services;
const fixture = await createSignInFixture(service);
const { directory, resource, user } = fixture;
const token = await service.managementToken();

let addresses = 0;
const fromElsewhere = () => {
  addresses += 1;
  return { 'x-forwarded-for': `198.18.0.${addresses}` };
};

/** Calls a mutation on applications, with the answer's application or its issues. */
async function call(mutation: string, input: object) {
  const type = mutation.charAt(0).toUpperCase() + mutation.slice(1);
  const { data, errors } = await send<Record<string, Record<string, unknown>>>(
    { url: service.url, token },
    `mutation ($input: ${type}Input!) { ${mutation}(input: $input) { __typename
      ... on ${type}Payload { application { id allowSecrets keys { jwks jwksUri } } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { code } } }`,
    ...([{ input }] as unknown as []),
  );
  expect(errors).toBeUndefined();
  return data?.[mutation] as {
    readonly __typename: string;
    readonly code?: string;
    readonly issues?: { readonly path: string[] }[];
    readonly application?: {
      readonly id: string;
      readonly allowSecrets: boolean;
      readonly keys: { readonly jwks: unknown; readonly jwksUri: string | null } | null;
    };
  };
}

async function createWithKeys(keys: readonly ClientKey[], settings: object = {}): Promise<string> {
  const { application } = await call('createApplication', {
    name: 'Pipeline',
    type: 'MACHINE_TO_MACHINE',
    jwks: { keys: keys.map(({ publicJwk }) => publicJwk) },
    ...settings,
  });
  if (!application) throw new Error('No application was created.');
  return application.id;
}

const ask = (parameters: Record<string, string>, at: { url: string } = service) =>
  postToken(
    at,
    formOf({ grant_type: 'client_credentials', resource: resource.indicator, ...parameters }),
    fromElsewhere(),
  );
const askWith = (assertion: string, at?: { url: string }) =>
  ask(assertionParameters(assertion), at);
const refused = { status: 401, body: { error: 'invalid_client' } };

const key = await createClientKey();
const id = await createWithKeys([key], { allowSecrets: false, allowTokenExchange: true });

describe('clients with keys', async () => {
  const as = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { [oauth.allowInsecureRequests]: true }),
  );
  const insecure = { [oauth.allowInsecureRequests]: true };
  const jwt = (by: ClientKey) => oauth.PrivateKeyJwt({ key: by.privateKey, kid: by.kid });

  test('are told how, by discovery', () => {
    for (const endpoint of ['token', 'introspection', 'revocation'] as const) {
      expect(as[`${endpoint}_endpoint_auth_methods_supported`]).toContain('private_key_jwt');
      expect(as[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual(
        expect.arrayContaining(['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256']),
      );
    }
  });

  test.each(['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256'])(
    'authenticate by %s, with an unmodified client',
    async (alg) => {
      const own = await createClientKey(alg);
      const client = { client_id: await createWithKeys([own]) };
      const remap =
        alg === 'Ed25519' || alg === 'EdDSA'
          ? {
              [oauth.modifyAssertion]: (header: Record<string, unknown>) => {
                header['alg'] = alg;
              },
            }
          : {};
      const proof = oauth.PrivateKeyJwt({ key: own.privateKey, kid: own.kid }, remap);
      const parameters = new URLSearchParams({ resource: resource.indicator });
      const response = await oauth.clientCredentialsGrantRequest(
        as,
        client,
        proof,
        parameters,
        insecure,
      );
      const answer = await oauth.processClientCredentialsResponse(as, client, response);
      expect(decodeJwt(answer.access_token)).toMatchObject({ sub: client.client_id });
    },
  );

  test('exchange, introspect and revoke', async () => {
    const client = { client_id: id };
    const subject = await userToken(service, user.id, fixture.client);
    const exchanged = await oauth.processGenericTokenEndpointResponse(
      as,
      client,
      await oauth.genericTokenEndpointRequest(
        as,
        client,
        jwt(key),
        exchangeGrantType,
        new URLSearchParams({
          subject_token: subject,
          subject_token_type: accessTokenType,
          resource: resource.indicator,
        }),
        insecure,
      ),
    );
    expect(decodeJwt(exchanged.access_token)['act']).toEqual({ sub: id });
    const introspect = async () =>
      oauth.processIntrospectionResponse(
        as,
        client,
        await oauth.introspectionRequest(as, client, jwt(key), exchanged.access_token, insecure),
      );
    expect(await introspect()).toMatchObject({ active: true });
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, jwt(key), exchanged.access_token, insecure),
    );
    expect(await introspect()).toMatchObject({ active: false });
  });

  test('sign people in and refresh, by the code of the library', async () => {
    const own = await createClientKey('PS256');
    const clientId = await createWithKeys([own], {
      type: 'TRADITIONAL',
      redirectUris: [redirectUri],
      allowSecrets: false,
    });
    const client = { id: clientId };
    const authentication = openid.PrivateKeyJwt({ key: own.privateKey, kid: own.kid });
    const scope = 'openid offline_access read';
    const tokens = await fixture.signIn({ client, authentication, scope });
    const configuration = await discover(service, client, authentication);
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: clientId });
    const refreshed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
    expect(refreshed.access_token).toBeTruthy();
    // A token that is not a JWT is the library's.
    const opaque = refreshed.refresh_token ?? '';
    expect(await openid.tokenIntrospection(configuration, opaque)).toMatchObject({ active: true });
    await openid.tokenRevocation(configuration, opaque);
    expect(await openid.tokenIntrospection(configuration, opaque)).toMatchObject({ active: false });
    const byAnother = openid.PrivateKeyJwt({ key: key.privateKey, kid: own.kid });
    const thief = await discover(service, client, byAnother);
    await expect(openid.refreshTokenGrant(thief, opaque)).rejects.toMatchObject({ status: 401 });
  });
});

describe('an assertion', () => {
  test('is good for the issuer and for the token endpoint', async () => {
    for (const aud of [issuer, `${issuer}/token`])
      expect(await askWith(await signAssertion(service, id, key, { aud }))).toMatchObject({
        status: 200,
      });
  });

  const now = () => Math.floor(service.clock.now().getTime() / 1000);
  test.each<[string, () => Record<string, unknown>]>([
    ['of another issuer', () => ({ iss: 'app_01h455vb4pex5vsknk084sn02q' })],
    ['for another audience', () => ({ aud: 'https://elsewhere.example.com' })],
    ['for a list of audiences', () => ({ aud: [issuer] })],
    ['for the introspection endpoint', () => ({ aud: `${issuer}/token/introspection` })],
    ['without an audience', () => ({ aud: undefined })],
    ['without an end', () => ({ exp: undefined })],
    ['that has expired', () => ({ exp: now() - 1 })],
    ['that lives for too long', () => ({ exp: now() + 400 })],
    ['whose end is no number', () => ({ exp: 'soon' })],
    ['that is not valid yet', () => ({ nbf: now() + 120 })],
    ['without a jti', () => ({ jti: undefined })],
    ['whose jti is no text', () => ({ jti: 7 })],
    ['with an endless jti', () => ({ jti: 'x'.repeat(600) })],
  ])('is refused %s', async (_what, claims) => {
    const assertion = await signAssertion(service, id, key, claims());
    expect(await askWith(assertion)).toMatchObject(refused);
  });

  test('is refused by another client’s key, and by no key of the client', async () => {
    const stranger = await createClientKey();
    const other = await createWithKeys([stranger]);
    expect(await askWith(await signAssertion(service, other, stranger))).toMatchObject({
      status: 200,
    });
    for (const kid of [key.kid, stranger.kid, undefined])
      expect(
        await askWith(await signAssertion(service, id, { ...stranger, kid } as ClientKey)),
      ).toMatchObject(refused);
  });

  test('is refused by an algorithm that the key does not have', async () => {
    const rsa = await createClientKey('RS256', { extractable: true });
    const clientId = await createWithKeys([rsa]);
    const claims = decodeJwt(await signAssertion(service, clientId, rsa));
    const unsecured = new UnsecuredJWT(claims).encode();
    expect(await askWith(unsecured)).toMatchObject(refused);
    expect(await askWith(`${unsecured.replace(/\.$/, '')}.AAAA`)).toMatchObject(refused);
    // The public key, which everybody knows, as the secret of an HMAC.
    const publicKey = (await importJWK(rsa.publicJwk, 'RS256', { extractable: true })) as CryptoKey;
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(rsa.publicJwk)]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: rsa.kid })
        .sign(new TextEncoder().encode(secret));
      expect(await askWith(forged)).toMatchObject(refused);
    }
    const weak = await createClientKey('RS512');
    const weakClient = await createWithKeys([weak]);
    expect(await askWith(await signAssertion(service, weakClient, weak))).toMatchObject(refused);
  });

  test('is refused with a key of its own in its header, or an extension', async () => {
    const stranger = await createClientKey();
    const { kid: _kid, ...unnamed } = stranger;
    const header = { jwk: stranger.publicJwk };
    expect(await askWith(await signAssertion(service, id, unnamed, {}, header))).toMatchObject(
      refused,
    );
    const critical = { crit: ['b64'], b64: true };
    expect(await askWith(await signAssertion(service, id, key, {}, critical))).toMatchObject(
      refused,
    );
  });

  test('is refused if it is huge, or no JWT at all', async () => {
    const padded = await signAssertion(service, id, key, { pad: 'x'.repeat(20_000) } as never);
    for (const assertion of [padded, 'x', '..', 'e30.e30.', 'a.b.c', `${'x'.repeat(30_000)}.e30.x`])
      expect(await askWith(assertion)).toMatchObject(refused);
  });

  test('counts once, on two nodes at once', async () => {
    const assertion = await signAssertion(service, id, key);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => askWith(assertion, i % 2 ? service : otherNode)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(7);
    expect(await askWith(assertion)).toMatchObject(refused);
    const { jti } = decodeJwt(assertion);
    const again = await signAssertion(service, id, key, { jti });
    expect(await askWith(again, otherNode)).toMatchObject(refused);
    // Each client has its own ids.
    const other = await createWithKeys([key]);
    expect(await askWith(await signAssertion(service, other, key, { jti }))).toMatchObject({
      status: 200,
    });
  });

  test('is not used up by a forged one with the same jti', async () => {
    const stranger = await createClientKey();
    const jti = 'known to an attacker';
    const forged = await signAssertion(service, id, { ...stranger, kid: key.kid }, { jti });
    expect(await askWith(forged)).toMatchObject(refused);
    expect(await askWith(await signAssertion(service, id, key, { jti }))).toMatchObject({
      status: 200,
    });
  });

  test('stands alone, and is of the one type', async () => {
    const assertion = await signAssertion(service, id, key);
    const invalid = { status: 400, body: { error: 'invalid_request' } };
    const form = { ...assertionParameters(assertion), client_secret: 'and a secret' };
    expect(await ask(form)).toMatchObject(invalid);
    const withBasic = await postToken(
      service,
      formOf({ grant_type: 'client_credentials', ...assertionParameters(assertion) }),
      { authorization: basic(id, 'a secret') },
    );
    expect(withBasic).toMatchObject(invalid);
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer';
    expect(await ask({ client_assertion: assertion, client_assertion_type })).toMatchObject(
      invalid,
    );
    expect(await ask({ ...assertionParameters(assertion), client_id: user.id })).toMatchObject(
      refused,
    );
    // None of it has used it up.
    expect(await ask({ ...assertionParameters(assertion), client_id: id })).toMatchObject({
      status: 200,
    });
  });
});

describe('the keys of an application', () => {
  const { publicJwk } = key;
  const create = (settings: object) =>
    call('createApplication', { name: 'Keys', type: 'MACHINE_TO_MACHINE', ...settings });
  const pathsOf = ({ issues }: { issues?: { path: string[] }[] }) =>
    issues?.map(({ path }) => path.join('.'));

  test('are shown, without anything that is not public or known', async () => {
    const jwks = { keys: [{ ...publicJwk, x5t: 'AAAA', note: 'mine' }] };
    const { application } = await create({ jwks });
    expect(application?.keys).toEqual({ jwks: { keys: [publicJwk] }, jwksUri: null });
  });

  test.each<[string, (own: ClientKey) => Promise<object> | object, string]>([
    ['private', async () => ({ ...publicJwk, d: 'AAAA' }), 'jwks.keys.0'],
    ['a secret', () => ({ kty: 'oct', k: 'AAAA' }), 'jwks.keys.0'],
    ['for encryption', () => ({ ...publicJwk, use: 'enc' }), 'jwks.keys.0'],
    ['of another algorithm', () => ({ ...publicJwk, alg: 'HS256' }), 'jwks.keys.0'],
    ['of an unknown kind', () => ({ kty: 'XYZ' }), 'jwks.keys.0'],
    ['no point of its curve', () => ({ ...publicJwk, x: publicJwk.y }), 'jwks.keys.0'],
    ['of another curve', async () => (await createClientKey('ES512')).publicJwk, 'jwks.keys.0'],
  ])('are refused if one is %s', async (_what, jwk) => {
    const before = await database.prisma.application.count();
    expect(pathsOf(await create({ jwks: { keys: [await jwk(key)] } }))).toEqual(['jwks.keys.0']);
    expect(await database.prisma.application.count()).toBe(before);
  });

  test('are bounded, and of an application that authenticates', async () => {
    const { kid: _kid, ...jwk } = publicJwk;
    expect(pathsOf(await create({ jwks: { keys: Array(11).fill(jwk) } }))).toEqual(['jwks.keys']);
    expect(pathsOf(await create({ jwks: { keys: [] } }))).toEqual(['jwks.keys']);
    expect(pathsOf(await create({ jwks: {} }))).toEqual(['jwks.keys']);
    expect(pathsOf(await create({ jwks: { keys: [publicJwk, publicJwk] } }))).toEqual([
      'jwks.keys',
    ]);
    const jwks = { keys: [publicJwk] };
    expect(pathsOf(await create({ type: 'SPA', jwks }))).toEqual(['jwks']);
    expect(pathsOf(await create({ jwks, jwksUri: 'https://example.com/jwks' }))).toEqual([
      'jwksUri',
    ]);
    expect(pathsOf(await create({ allowSecrets: false }))).toEqual(['allowSecrets']);
  });

  test('stand beside secrets, until those are switched off', async () => {
    const client = await directory.createClient();
    const byKey = async () => (await askWith(await signAssertion(service, client.id, key))).status;
    const bySecret = async () =>
      (await ask({ client_id: client.id, client_secret: client.secret })).status;
    expect([await byKey(), await bySecret()]).toEqual([401, 200]);
    const jwks = { keys: [publicJwk] };
    await call('updateApplication', { id: client.id, jwks });
    expect([await byKey(), await bySecret()]).toEqual([200, 200]);
    const { application } = await call('updateApplication', { id: client.id, allowSecrets: false });
    expect(application).toMatchObject({ allowSecrets: false });
    expect([await byKey(), await bySecret()]).toEqual([200, 401]);
    const cleared = await call('updateApplication', { id: client.id, jwks: null });
    expect(pathsOf(cleared)).toEqual(['allowSecrets']);
    await call('updateApplication', { id: client.id, jwks: null, allowSecrets: true });
    expect([await byKey(), await bySecret()]).toEqual([401, 200]);
  });

  test('open of Signet’s own APIs what whoever set them held', async () => {
    const indicator = 'urn:signet:management';
    const client = await directory.createClient();
    const management = await database.prisma.resource.findUniqueOrThrow({ where: { indicator } });
    await directory.allowClient(client, management, ['users:read', 'applications:write']);
    const caller = { scopes: new Set(['users:read', 'applications:write']) };
    const context = { ...service.app.services, ...testCall, actor: systemActor, caller };
    await updateApplication(context, { id: client.id, jwks: { keys: [publicJwk] } });
    await directory.allowClient(client, management, ['roles:read']);
    const weaker = { ...context, caller: { scopes: new Set(['applications:write']) } };
    await expect(
      updateApplication(weaker, { id: client.id, jwks: { keys: [publicJwk] } }),
    ).rejects.toThrow(NotAllowedError);
    const { body } = await ask({
      ...assertionParameters(await signAssertion(service, client.id, key)),
      resource: indicator,
      scope: 'users:read roles:read',
    });
    expect(body['scope']).toBe('users:read');
  });
});

describe('keys at an address', async () => {
  let keys: readonly ClientKey[] = [];
  let fetched = 0;
  const server = createServer((_request, response) => {
    fetched += 1;
    response.writeHead(200, { 'cache-control': 'max-age=600' });
    response.end(JSON.stringify({ keys: keys.map(({ publicJwk }) => publicJwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const jwksUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;

  test('are fetched, kept, and fetched again for a key that is new', async () => {
    const thaw = service.clock.freeze();
    const [first, second, third] = [
      await createClientKey(),
      await createClientKey(),
      await createClientKey(),
    ] as const;
    keys = [first];
    const { application } = await call('createApplication', {
      name: 'Remote',
      type: 'MACHINE_TO_MACHINE',
      jwksUri,
      allowSecrets: false,
    });
    const clientId = application?.id ?? '';
    expect(application?.keys).toEqual({ jwks: null, jwksUri });
    const by = async (one: ClientKey) =>
      (await askWith(await signAssertion(service, clientId, one))).status;
    expect(await Promise.all([by(first), by(first), by(first)])).toEqual([200, 200, 200]);
    expect(await by(first)).toBe(200);
    expect(fetched).toBe(1);
    keys = [first, second];
    expect(await by(second)).toBe(200);
    expect(fetched).toBe(2);
    // Strangers cannot make the service fetch over and over.
    expect(await Promise.all([by(third), by(third)])).toEqual([401, 401]);
    expect(fetched).toBe(2);
    service.clock.advance(30_000);
    expect(await by(third)).toBe(401);
    expect(fetched).toBe(3);
    // A key that is gone is refused once what is kept has expired.
    keys = [second];
    expect(await by(first)).toBe(200);
    service.clock.advance(600_000);
    expect(await by(first)).toBe(401);
    expect(await by(second)).toBe(200);
    thaw();
  });

  test('lie on a public address', async () => {
    const { services } = service.app;
    const context = {
      ...services,
      config: { ...services.config, allowPrivateWebhooks: false },
      actor: systemActor,
      ...testCall,
    };
    for (const inside of [jwksUri, 'https://127.0.0.1/jwks', 'https://[::1]/', 'https://10.0.0.1/'])
      await expect(
        createApplication(context, { name: 'Inside', type: 'MACHINE_TO_MACHINE', jwksUri: inside }),
      ).rejects.toThrow(InvalidInputError);
  });
});
