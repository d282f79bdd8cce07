import { generateKeyPair, generateProof } from 'dpop';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  decodeJwt,
  exportJWK,
  exportSPKI,
  importJWK,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { basic } from '../../../support/client-credentials.ts';
import { createClientKey } from '../../../support/keys/client-keys.ts';
import { assertionGrantType, startForeignIssuer } from '../../../support/keys/foreign-issuer.ts';
import { seedDirectory } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { startSecondNode, startService } from '../../../support/service.ts';
import { formOf, isActive, postToken } from '../../../support/tokens.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const otherNode = await startSecondNode(service);
const { issuer: here, database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const { done, next } = createMaker(overGraphQL(service, await service.managementToken()));
const pipelines = await startForeignIssuer(service);
const deployer = await directory.createClient();
const resource = await directory.createResource(['deploy', 'destroy']);
await directory.allowClient(deployer, resource, ['deploy']);

const claimRules = [{ claim: 'sub', equals: 'repo:acme/shop:ref:refs/heads/main' }];
const trust = async (values: Record<string, unknown> = {}): Promise<string> =>
  (
    await done('createTrustedIssuer', {
      name: next('issuer'),
      issuer: pipelines.issuer,
      jwksUri: pipelines.jwksUri,
      kind: 'WORKLOAD',
      claimRules,
      applicationId: deployer.id,
      ...values,
    })
  ).trustedIssuer.id;
const trusted = await trust();

const ask = async (
  assertion: string,
  parameters: Record<string, string | undefined> = {},
  headers: Record<string, string> = {},
  at: { url: string } = service,
) =>
  postToken(
    at,
    formOf({
      grant_type: assertionGrantType,
      assertion,
      resource: resource.indicator,
      scope: 'deploy destroy',
      ...parameters,
    }),
    headers,
  );
const refused = { status: 400, body: { error: 'invalid_grant' } };
const now = pipelines.now;

test('a pipeline gets the token of its application, without a secret', async () => {
  const { status, headers, body } = await ask(await pipelines.signWorkload());
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { token_type: 'Bearer', scope: 'deploy', expires_in: 3600 },
  });
  expect(body).not.toHaveProperty('refresh_token');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(decodeJwt(String(body['access_token']))).toMatchObject({
    iss: here,
    sub: deployer.id,
    client_id: deployer.id,
    aud: resource.indicator,
  });
});

test('an unmodified client gets it, by what discovery says', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const as = await oauth.processDiscoveryResponse(
    new URL(here),
    await oauth.discoveryRequest(new URL(here), insecure),
  );
  expect(as.grant_types_supported).toContain(assertionGrantType);
  const client = { client_id: deployer.id };
  const pair = await oauth.generateKeyPair('ES256');
  const DPoP = oauth.DPoP({ [oauth.clockSkew]: 0 }, pair);
  const response = await oauth.genericTokenEndpointRequest(
    as,
    client,
    oauth.None(),
    assertionGrantType,
    new URLSearchParams({
      assertion: await pipelines.signWorkload(),
      resource: resource.indicator,
      scope: 'deploy',
    }),
    { DPoP, ...insecure },
  );
  const answer = await oauth.processGenericTokenEndpointResponse(as, client, response);
  expect(answer).toMatchObject({ token_type: 'dpop', scope: 'deploy' });
  const jkt = await calculateJwkThumbprint(await exportJWK(pair.publicKey));
  expect(decodeJwt(answer.access_token)['cnf']).toEqual({ jkt });
});

test.each<[string, () => Record<string, unknown>, object?]>([
  ['of another issuer', () => ({ iss: 'https://evil.example.com' })],
  ['of an issuer that is spelled otherwise', () => ({ iss: `${pipelines.issuer}/` })],
  ['of another repository', () => ({ sub: 'repo:evil/shop:ref:refs/heads/main' })],
  ['of a list of subjects', () => ({ sub: ['repo:acme/shop:ref:refs/heads/main'] })],
  ['of nobody', () => ({ sub: undefined })],
  ['for another audience', () => ({ aud: 'https://elsewhere.example.com' })],
  ['for the token endpoint', () => ({ aud: `${here}/token` })],
  ['for two audiences', () => ({ aud: [here, 'https://elsewhere.example.com'] })],
  ['for no audience', () => ({ aud: [] })],
  ['for an audience within a list', () => ({ aud: [[here]] })],
  ['without an audience', () => ({ aud: undefined })],
  ['that has expired', () => ({ exp: now() - 1 })],
  ['without an end', () => ({ exp: undefined })],
  ['whose end is no number', () => ({ exp: 'soon' })],
  ['that lives for too long', () => ({ exp: now() + 400 })],
  ['that is not valid yet', () => ({ nbf: now() + 120 })],
  ['from the future', () => ({ iat: now() + 120 })],
  ['without a jti', () => ({ jti: undefined })],
  ['whose jti is no text', () => ({ jti: 7 })],
  ['with an endless jti', () => ({ jti: 'x'.repeat(600) })],
  ['that is bound to a key', () => ({ cnf: { jkt: 'x' } })],
  ['that is bound in an unknown way', () => ({ cnf: { x5t: 'x' } })],
  ['that is an access token elsewhere', () => ({}), { typ: 'at+jwt' }],
  ['that is about a person', () => ({}), { typ: 'oauth-id-jag+jwt' }],
  ['that is a proof of possession', () => ({}), { typ: 'dpop+jwt' }],
  ['with an extension', () => ({}), { crit: ['b64'], b64: true }],
])('an assertion %s is refused', async (_what, claims, header) => {
  const assertion = await pipelines.signWorkload({ claims: claims(), ...(header && { header }) });
  expect(await ask(assertion)).toMatchObject(refused);
});

describe('an assertion', () => {
  test('names its audience as a text or as a list of one, and may have no type', async () => {
    for (const claims of [{ aud: here }, { aud: [here] }])
      expect(await ask(await pipelines.signWorkload({ claims }))).toMatchObject({ status: 200 });
    for (const typ of [undefined, 'jwt', 'JOSE'])
      expect(await ask(await pipelines.signWorkload({ header: { typ } as object }))).toMatchObject({
        status: 200,
      });
  });

  test('is refused by an algorithm that the key does not have', async () => {
    const { key } = pipelines;
    const claims = decodeJwt(await pipelines.signWorkload());
    const unsecured = new UnsecuredJWT(claims).encode();
    expect(await ask(unsecured)).toMatchObject(refused);
    expect(await ask(`${unsecured.replace(/\.$/, '')}.AAAA`)).toMatchObject(refused);
    const publicKey = (await importJWK(key.publicJwk, 'RS256', { extractable: true })) as CryptoKey;
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(key.publicJwk)]) {
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: key.kid })
        .sign(new TextEncoder().encode(secret));
      expect(await ask(forged)).toMatchObject(refused);
    }
  });

  test('is refused by a key of another issuer, or one of its own', async () => {
    const other = await startForeignIssuer(service);
    const { kid } = pipelines.key;
    for (const by of [other.key, { ...other.key, kid }, { ...other.key, kid: undefined }])
      expect(await ask(await pipelines.signWorkload({ by }))).toMatchObject(refused);
    const header = { jwk: other.key.publicJwk, jku: other.jwksUri };
    expect(await ask(await pipelines.signWorkload({ by: other.key, header }))).toMatchObject(
      refused,
    );
    // Once the other one is trusted too, each has its own keys.
    await trust({ issuer: other.issuer, jwksUri: other.jwksUri });
    expect(await ask(await other.signWorkload())).toMatchObject({ status: 200 });
    expect(await ask(await other.signWorkload({ by: pipelines.key }))).toMatchObject(refused);
    const claims = { iss: pipelines.issuer };
    expect(await ask(await other.signWorkload({ claims }))).toMatchObject(refused);
  });

  test('may be signed by a key that is new', async () => {
    const key = await createClientKey('ES256');
    pipelines.published.push(key.publicJwk);
    service.clock.advance(31_000);
    expect(await ask(await pipelines.signWorkload({ by: key }))).toMatchObject({ status: 200 });
  });

  test('is refused if it is huge, or no JWT at all', async () => {
    const padded = await pipelines.signWorkload({ claims: { pad: 'x'.repeat(20_000) } });
    for (const assertion of [padded, 'x', '..', 'e30.e30.', 'a.b.c'])
      expect(await ask(assertion)).toMatchObject(refused);
    expect(await ask('')).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test('counts once, on two nodes at once', async () => {
    const assertion = await pipelines.signWorkload();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => ask(assertion, {}, {}, i % 2 ? service : otherNode)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(7);
    const { jti } = decodeJwt(assertion);
    expect(
      await ask(await pipelines.signWorkload({ claims: { jti } }), {}, {}, otherNode),
    ).toMatchObject(refused);
  });

  test('is not used up by what is refused', async () => {
    const assertion = await pipelines.signWorkload();
    const { jti } = decodeJwt(assertion);
    const stranger = { ...(await createClientKey('RS256')), kid: pipelines.key.kid };
    expect(
      await ask(await pipelines.signWorkload({ claims: { jti }, by: stranger })),
    ).toMatchObject(refused);
    expect(await ask(assertion, { resource: 'https://unknown.example.com' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
    expect(await ask(assertion, { scope: '"' })).toMatchObject({
      body: { error: 'invalid_scope' },
    });
    expect(await ask(assertion)).toMatchObject({ status: 200 });
  });

  test('is not for another application, nor beside wrong credentials', async () => {
    const other = await directory.createClient();
    const assertion = await pipelines.signWorkload();
    expect(await ask(assertion, { client_id: other.id })).toMatchObject(refused);
    const as = (id: string, secret: string) => ({ authorization: basic(id, secret) });
    expect(await ask(assertion, {}, as(other.id, other.secret))).toMatchObject(refused);
    expect(await ask(assertion, {}, as(deployer.id, 'wrong'))).toMatchObject({ status: 401 });
    expect(await ask(assertion, { client_id: deployer.id })).toMatchObject({ status: 200 });
    const another = await pipelines.signWorkload();
    expect(await ask(another, {}, as(deployer.id, deployer.secret))).toMatchObject({ status: 200 });
  });

  test('that is bound to a key needs a proof of it', async () => {
    const pair = await generateKeyPair('ES256');
    const jkt = await calculateJwkThumbprint(await exportJWK(pair.publicKey));
    const assertion = await pipelines.signWorkload({ claims: { cnf: { jkt } } });
    expect(await ask(assertion)).toMatchObject(refused);
    const proof = async (by: typeof pair) => ({
      dpop: await generateProof(by, `${here}/token`, 'POST'),
    });
    const other = await proof(await generateKeyPair('ES256'));
    expect(await ask(assertion, {}, other)).toMatchObject(refused);
    expect(await ask(assertion, {}, await proof(pair))).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    });
  });
});

describe('a trusted issuer', () => {
  test('may allow longer lives, and none without a jti', async () => {
    const slow = await startForeignIssuer(service);
    const id = await trust({
      issuer: slow.issuer,
      jwksUri: slow.jwksUri,
      maxLifetimeSeconds: 3_600,
      requireJti: false,
      claimRules: [
        { claim: 'repository', equals: 'acme/shop' },
        { claim: 'run_attempt', equals: '1' },
      ],
    });
    const exp = () => now() + 3_500;
    const claims = { exp: exp(), jti: undefined };
    const assertion = await slow.signWorkload({ claims });
    for (const _ of [1, 2]) expect(await ask(assertion)).toMatchObject({ status: 200 });
    // With one, it counts once all the same.
    const once = await slow.signWorkload({ claims: { exp: exp() } });
    expect(await ask(once)).toMatchObject({ status: 200 });
    expect(await ask(once)).toMatchObject(refused);
    for (const wrong of [{ exp: now() + 3_700 }, { run_attempt: 2 }, { repository: ['acme/shop'] }])
      expect(await ask(await slow.signWorkload({ claims: wrong }))).toMatchObject(refused);
    await done('updateTrustedIssuer', { id, maxLifetimeSeconds: null, requireJti: null });
    expect(await ask(assertion)).toMatchObject(refused);
  });

  test('that fits two applications needs the client_id', async () => {
    const both = await startForeignIssuer(service);
    const other = await directory.createClient();
    const of = { issuer: both.issuer, jwksUri: both.jwksUri };
    await trust(of);
    await trust({ ...of, applicationId: other.id });
    const assertion = await both.signWorkload();
    expect(await ask(assertion)).toMatchObject(refused);
    const { body } = await ask(assertion, { client_id: other.id });
    expect(decodeJwt(String(body['access_token'])).sub).toBe(other.id);
  });

  test('that is deleted ends what it brought in', async () => {
    const gone = await startForeignIssuer(service);
    const id = await trust({ issuer: gone.issuer, jwksUri: gone.jwksUri });
    const { body } = await ask(await gone.signWorkload());
    expect(await isActive(service, deployer, body['access_token'])).toBe(true);
    await done('deleteTrustedIssuer', { id });
    expect(await isActive(service, deployer, body['access_token'])).toBe(false);
    expect(await ask(await gone.signWorkload())).toMatchObject(refused);
    expect(await ask(await pipelines.signWorkload())).toMatchObject({ status: 200 });
  });

  test('reads its keys once for many assertions', async () => {
    const quiet = await startForeignIssuer(service);
    await trust({ issuer: quiet.issuer, jwksUri: quiet.jwksUri });
    for (const _ of [1, 2, 3])
      expect(await ask(await quiet.signWorkload())).toMatchObject({ status: 200 });
    expect(quiet.fetched()).toBe(1);
  });

  test('is not reached inside, unless that is allowed', async () => {
    const guarded = await startService();
    const { done: make, next: another } = createMaker(
      overGraphQL(guarded, await guarded.managementToken()),
    );
    const { application } = await make('createApplication', {
      name: 'Deployer',
      type: 'MACHINE_TO_MACHINE',
    });
    const input = {
      name: another('issuer'),
      issuer: pipelines.issuer,
      kind: 'WORKLOAD',
      claimRules,
      applicationId: application.id,
    };
    for (const jwksUri of [pipelines.jwksUri, 'https://127.0.0.1/jwks', 'https://10.0.0.1/jwks'])
      await expect(make('createTrustedIssuer', { ...input, jwksUri })).rejects.toThrow(
        /INVALID_INPUT.*jwksUri/,
      );
  });

  test('is read back with its rules', async () => {
    const token = await service.managementToken('applications:read');
    const response = await fetch(`${service.url}/api/trusted-issuers/${trusted}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toMatchObject({
      trustedIssuer: {
        id: trusted,
        kind: 'WORKLOAD',
        claimRules,
        application: { id: deployer.id },
        maxLifetimeSeconds: 300,
        requireJti: true,
        setterScopes: ['all'],
      },
    });
  });
});
