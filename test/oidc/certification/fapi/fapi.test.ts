import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { readPage } from '../../../../scripts/documents/blocks.ts';
import { createApplication, updateApplication } from '../../../../src/applications/operations.ts';
import { createApplicationSecret } from '../../../../src/applications/secrets.ts';
import { InvalidInputError, NotAllowedError } from '../../../../src/errors.ts';
import { systemActor } from '../../../../src/services.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../../../support/keys/client-keys.ts';
import { testCall } from '../../../support/log.ts';
import { openBrowser } from '../../../support/people/sign-in.ts';
import { authorize, redirectUri } from '../../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../../support/service.ts';
import { formOf, postToken } from '../../../support/tokens.ts';
import { startFapi } from './client.ts';

// Addresses with many failures are shut out.
const service = await startService();
const otherNode = await startSecondNode(service);
const fapi = await startFapi(service);
const { as, first, second, proofOf, newDpop, push, ask, open, signIn, codeAt, redeem } = fapi;
const { issuer } = service.app.services;
const context = { ...service.app.services, actor: systemActor, ...testCall };
const now = () => Math.floor(Date.now() / 1000);

/** Expects that an authorization request ends with an error, at the application or on a page of the service. */
async function expectRefused(opened: Awaited<ReturnType<typeof open>>, error: RegExp) {
  const { url, status, body } = opened.visit;
  if (url.href.startsWith(redirectUri)) expect(url.searchParams.get('error')).toMatch(error);
  else expect({ status, body }).toMatchObject({ status: 400, body: expect.stringMatching(error) });
}

/** Pushes with a changed assertion. */
const pushWith = (change: (payload: Record<string, unknown>) => void) =>
  push({}, { authentication: proofOf(first, (_header, payload) => change(payload)) });
const invalidClient = { status: 401, body: { error: 'invalid_client' } };

/** Asks for a code, and redeems it. */
async function code(...request: Parameters<typeof ask>) {
  const asked = await ask(...request);
  return { asked, code: codeAt(await signIn(await open(asked)), asked) };
}

const long = 'x'.repeat(384);

/** The modules of the plan that apply, and the tests that stand for them. */
const modules: Readonly<Record<string, () => Promise<void>>> = {
  async 'discovery-end-point-verification'() {
    expect(as).toMatchObject({
      issuer,
      pushed_authorization_request_endpoint: `${issuer}/request`,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256', 'PS256', 'EdDSA']),
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['PS256', 'ES256']),
    });
  },
  async 'happy-flow'() {
    for (const client of [first, second]) {
      const { tokens, DPoP } = await fapi.run({}, client);
      expect((await fapi.userInfo(tokens['access_token'] ?? '', DPoP)).status).toBe(200);
    }
  },
  async 'user-rejects-authentication'() {
    const client = await fapi.createClient(await createClientKey());
    await updateApplication(context, { id: client.application.id, isThirdParty: true });
    const opened = await open(await ask({}, { client }), { client });
    // The person is asked, and says no.
    const consent = await signIn(opened);
    expect(consent.url.pathname).toMatch(/\/consent$/);
    const after = await opened.browser.submit(consent, { cancel: 'yes' });
    expect(after.url.searchParams.get('error')).toBe('access_denied');
  },
  async 'ensure-authorization-request-without-state-success'() {
    await fapi.run({ state: undefined });
  },
  async 'ensure-authorization-request-without-nonce-success'() {
    await fapi.run({ nonce: undefined });
  },
  async 'ensure-authorization-request-with-64-char-nonce-success'() {
    await fapi.run({ nonce: 'n'.repeat(64) });
  },
  async 'ensure-authorization-request-with-long-nonce'() {
    await fapi.run({ nonce: long });
  },
  async 'ensure-authorization-request-with-long-state'() {
    await fapi.run({ state: long });
  },
  async 'ensure-other-scope-order-succeeds'() {
    await fapi.run({ scope: 'offline_access openid' });
  },
  async 'access-token-type-header-case-sensitivity'() {
    const { tokens } = await fapi.run();
    for (const scheme of ['DPoP', 'dpop', 'DPOP']) {
      const answer = await fetch(`${issuer}/me`, {
        headers: { authorization: `${scheme} ${tokens['access_token']}` },
      });
      // The scheme is known in each spelling: what is missing is the proof.
      expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof"/);
    }
  },
  async 'check-dpop-proof-nbf-exp'() {
    const { asked, code: redeemed } = await code();
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'), {
      [oauth.modifyAssertion]: (_header, payload) =>
        void Object.assign(payload, { nbf: now(), exp: now() + 60 }),
    });
    expect((await redeem(redeemed, asked, { DPoP })).status).toBe(200);
  },
  async 'ensure-dpopproof-with-iat-10seconds-before-succeeds'() {
    await expectIat(-10, 200);
  },
  async 'ensure-dpopproof-with-iat-10seconds-after-succeeds'() {
    await expectIat(10, 200);
  },
  async 'dpop-negative-tests'() {
    await expectIat(-90, 400);
    await expectIat(90, 400);
    const { tokens, DPoP } = await fapi.run();
    const token = tokens['access_token'] ?? '';
    expect(
      (await fapi.userInfo(token, await newDpop()).catch(({ status }) => ({ status }))).status,
    ).toBe(401);
    expect((await fapi.userInfo(token, DPoP)).status).toBe(200);
  },
  async 'ensure-mismatched-dpop-jkt-fails'() {
    const pair = await oauth.generateKeyPair('ES256');
    const dpop_jkt = await (await newDpop()).calculateThumbprint();
    expect(await push({ dpop_jkt }, { DPoP: oauth.DPoP({}, pair) })).toMatchObject({ status: 400 });
  },
  async 'ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt'() {
    const { asked, code: bound } = await code({}, { DPoP: await newDpop() });
    expect(await redeem(bound, asked, { DPoP: await newDpop() })).toMatchObject({ status: 400 });
  },
  async 'ensure-token-endpoint-fails-with-mismatched-dpop-jkt'() {
    const dpop_jkt = await (await newDpop()).calculateThumbprint();
    const { asked, code: bound } = await code({ dpop_jkt });
    expect(await redeem(bound, asked, { DPoP: await newDpop() })).toMatchObject({ status: 400 });
  },
  async 'ensure-dpopproof-at-par-endpoint-binding-success'() {
    const DPoP = await newDpop();
    const { asked, code: bound } = await code({}, { DPoP });
    expect(await redeem(bound, asked, { DPoP })).toMatchObject({ status: 200 });
  },
  async 'ensure-dpop-auth-code-binding-success'() {
    const DPoP = await newDpop();
    const { asked, code: bound } = await code({ dpop_jkt: await DPoP.calculateThumbprint() });
    expect(await redeem(bound, asked, { DPoP })).toMatchObject({ status: 200 });
  },
  async 'ensure-different-nonce-inside-and-outside-request-object'() {
    const asked = await ask();
    const opened = await open(asked, { more: { nonce: 'another' } });
    const answer = await redeem(codeAt(await signIn(opened), asked), asked, {
      DPoP: await newDpop(),
    });
    expect(decodeJwt(answer.body['id_token'] ?? '')['nonce']).not.toBe('another');
  },
  async 'ensure-different-state-inside-and-outside-request-object'() {
    const asked = await ask();
    codeAt(await signIn(await open(asked, { more: { state: 'another' } })), asked);
  },
  async 'state-only-outside-request-object-not-used'() {
    const asked = await ask({ state: undefined });
    codeAt(await signIn(await open(asked, { more: { state: 'outside' } })), asked);
  },
  async 'ensure-request-object-without-redirect-uri-fails'() {
    expect(await push({ redirect_uri: undefined })).toMatchObject({ status: 400 });
  },
  async 'ensure-redirect-uri-in-authorization-request'() {
    expect(await push({ redirect_uri: undefined })).toMatchObject({ status: 400 });
  },
  async 'plain-fapi-tolerate-unregistered-redirect-uri'() {
    expect(await push({ redirect_uri: 'https://evil.example.com/' })).toMatchObject({
      status: 400,
    });
  },
  async 'ensure-unsigned-authorization-request-without-using-par-fails'() {
    const { url } = await authorize(service, first.application);
    await expectRefused(
      { browser: openBrowser(issuer), visit: await openBrowser(issuer).open(url) },
      /invalid_request/,
    );
  },
  async 'ensure-response-type-code-idtoken-fails'() {
    expect((await push({ response_type: 'code id_token' })).status).toBe(400);
  },
  async 'ensure-response-type-token-fails'() {
    expect((await push({ response_type: 'token' })).status).toBe(400);
  },
  async 'ensure-client-id-in-token-endpoint'() {
    const { asked, code: redeemed } = await code();
    const assertion = await signAssertion(service, first.application.id, first.key);
    const { status } = await postToken(
      service,
      formOf({
        grant_type: 'authorization_code',
        code: redeemed.get('code') ?? '',
        code_verifier: asked.verifier,
        redirect_uri: redirectUri,
        client_id: second.application.id,
        ...assertionParameters(assertion),
      }),
    );
    expect(status).toBe(401);
  },
  async 'ensure-holder-of-key-required'() {
    const { asked, code: redeemed } = await code();
    expect(await redeem(redeemed, asked)).toMatchObject({
      status: 400,
      body: { error: 'invalid_dpop_proof' },
    });
    const { tokens } = await fapi.run();
    const answer = await fetch(`${issuer}/me`, {
      headers: { authorization: `Bearer ${tokens['access_token']}` },
    });
    expect(answer.status).toBe(401);
  },
  async 'ensure-authorization-code-is-bound-to-client'() {
    const { asked, code: redeemed } = await code();
    const DPoP = await newDpop();
    expect(await redeem(redeemed, asked, { client: second, DPoP })).toMatchObject({ status: 400 });
  },
  async 'attempt-reuse-authorization-code-after-one-second'() {
    const { code: used, asked, DPoP } = await fapi.run();
    expect(await redeem(used, asked, { DPoP })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  },
  async 'ensure-token-endpoint-fails-with-expired-auth-code'() {
    const { asked, code: old } = await code();
    const row = { model: 'AuthorizationCode', clientId: first.application.id, consumedAt: null };
    const { prisma } = service.app.services.database;
    const [kept] = await prisma.oidcRecord.findMany({ where: row, orderBy: { expiresAt: 'desc' } });
    const left = (kept?.expiresAt?.getTime() ?? 0) - service.clock.now().getTime();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    await prisma.oidcRecord.updateMany({ where: row, data: { expiresAt: service.clock.now() } });
    expect(await redeem(old, asked, { DPoP: await newDpop() })).toMatchObject({ status: 400 });
  },
  async 'ensure-client-assertion-in-token-endpoint'() {
    const { asked, code: redeemed } = await code();
    const DPoP = await newDpop();
    const answer = await redeem(redeemed, asked, { DPoP, authentication: oauth.None() });
    expect(answer).toMatchObject(invalidClient);
  },
  async 'ensure-client-assertion-with-exp-is-5-minutes-in-past-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { exp: now() - 300 })),
    ).toMatchObject(invalidClient);
  },
  async 'ensure-client-assertion-with-wrong-aud-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { aud: 'https://x.example.com' })),
    ).toMatchObject(invalidClient);
  },
  async 'ensure-client-assertion-with-no-sub-fails'() {
    expect(await pushWith((payload) => void delete payload['sub'])).toMatchObject(invalidClient);
  },
  async 'refresh-token'() {
    const { tokens, DPoP } = await fapi.run();
    const refreshToken = tokens['refresh_token'] ?? '';
    const refresh = (handle?: oauth.DPoPHandle, client = first) =>
      oauth.refreshTokenGrantRequest(as, client.client, proofOf(client), refreshToken, {
        ...fapi.insecure,
        ...(handle ? { DPoP: handle } : {}),
      });
    for (const handle of [DPoP, DPoP, await newDpop()]) {
      const answer = await (await refresh(handle)).json();
      // It stays the same: an answer that is lost ends nothing.
      expect(answer).toMatchObject({ token_type: 'DPoP', refresh_token: refreshToken });
    }
    expect((await refresh()).status).toBe(400);
    expect((await refresh(DPoP, second)).status).toBe(400);
  },
  async 'par-ensure-reused-request-uri-prior-to-auth-completion-succeeds'() {
    const asked = await ask();
    await open(asked);
    codeAt(await signIn(await open(asked)), asked);
  },
  async 'par-attempt-reuse-request_uri'() {
    const asked = await ask();
    const [early, late] = [await open(asked), await open(asked)];
    codeAt(await signIn(early), asked);
    await expectRefused(await open(asked), /invalid_request_uri/);
    // Nor by a sign-in that was begun before.
    const after = await signIn(late);
    expect(after.url.searchParams.has('code')).toBe(false);
  },
  async 'par-attempt-to-use-expired-request_uri'() {
    const asked = await ask();
    service.clock.advance(60_000);
    await expectRefused(await open(asked), /invalid_request_uri/);
    service.clock.advance(-60_000);
  },
  async 'par-attempt-to-use-request_uri-for-different-client'() {
    await expectRefused(await open(await ask(), { client: second }), /invalid_request/);
  },
  async 'par-attempt-invalid-http-method'() {
    const { status } = await fetch(`${issuer}/request?client_id=${first.application.id}`);
    expect([404, 405]).toContain(status);
  },
  async 'par-authorization-request-containing-request_uri-form-param'() {
    const { requestUri } = await ask();
    expect((await push({ request_uri: requestUri })).status).toBe(400);
  },
  async 'par-ensure-pkce-required'() {
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    expect(await push(without)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  },
  async 'ensure-pkce-code-verifier-required'() {
    const { code: redeemed } = await code();
    const DPoP = await newDpop();
    expect((await redeem(redeemed, { verifier: '' }, { DPoP })).status).toBe(400);
  },
  async 'incorrect-pkce-code-verifier-rejected'() {
    const { code: redeemed } = await code();
    const verifier = oauth.generateRandomCodeVerifier();
    expect((await redeem(redeemed, { verifier }, { DPoP: await newDpop() })).status).toBe(400);
  },
  async 'par-plain-pkce-rejected'() {
    expect(await push({ code_challenge_method: 'plain' })).toMatchObject({ status: 400 });
  },
  async 'par-without-duplicate-parameters'() {
    const asked = await ask();
    codeAt(await signIn(await open(asked)), asked);
  },
  async 'par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted'() {
    const { status } = await pushWith((payload) => void Object.assign(payload, { nbf: now() + 8 }));
    expect(status).toBe(201);
  },
  async 'par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { nbf: now() + 90 })),
    ).toMatchObject(invalidClient);
  },
  async 'par-test-array-as-audience-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { aud: [issuer] })),
    ).toMatchObject(invalidClient);
  },
  async 'par-test-par-endpoint-url-as-audience-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { aud: `${issuer}/request` })),
    ).toMatchObject(invalidClient);
  },
  async 'par-test-token-endpoint-url-as-audience-fails'() {
    expect(
      await pushWith((payload) => void Object.assign(payload, { aud: `${issuer}/token` })),
    ).toMatchObject(invalidClient);
  },
};

/** Redeems a code with a proof that was made so many seconds from now. */
async function expectIat(seconds: number, status: number) {
  const { asked, code: redeemed } = await code();
  const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'), {
    [oauth.modifyAssertion]: (_header, payload) =>
      void Object.assign(payload, { iat: now() + seconds }),
  });
  expect((await redeem(redeemed, asked, { DPoP })).status).toBe(status);
}

const prefix = 'fapi2-security-profile-final-';
const documented = [
  ...readPage('docs/certification.md').matchAll(/^\| `(fapi2-[\w-]+)` \| ([A-Z ]+) \|/gm),
].map(([, name = '', outcome = '']) => [name, outcome] as const);

describe('fapi2-security-profile-final-test-plan', () => {
  test.each(Object.entries(modules))(`${prefix}%s`, (_name, run) => run());

  test('is documented, module by module', () => {
    expect(documented.map(([name]) => name).sort()).toEqual(
      Object.keys(modules)
        .map((name) => `${prefix}${name}`)
        .sort(),
    );
  });
});

describe('an application of the FAPI 2.0 profile', async () => {
  const { publicJwk } = await createClientKey('ES256');
  const jwks = { keys: [publicJwk as Record<string, unknown>] };
  const usual = { name: 'Bank', type: 'TRADITIONAL', securityProfile: 'FAPI_2_0', jwks } as const;
  const pathsOf = (work: Promise<unknown>) =>
    work.then(
      () => [],
      (error: unknown) => {
        if (!(error instanceof InvalidInputError)) throw error;
        return error.issues.map(({ path }) => path.join('.'));
      },
    );

  test('gets the settings that it does not name', async () => {
    const { application, secret } = await createApplication(context, usual);
    expect(secret).toBeNull();
    expect(application).toMatchObject({
      allowSecrets: false,
      requireDpop: true,
      requirePushedAuthorizationRequests: true,
      idTokenSigningAlg: 'ES256',
    });
    const { id } = application;
    await expect(
      createApplicationSecret(context, { applicationId: id, name: 'mine' }),
    ).rejects.toThrow(NotAllowedError);
    const later = await fapi.fixture.createApplication();
    const { type: _type, ...changes } = usual;
    expect(await updateApplication(context, { ...changes, id: later.id })).toMatchObject({
      allowSecrets: false,
      requireDpop: true,
    });
    const secretly = { authorization: `Basic ${btoa(`${later.id}:${later.secret}`)}` };
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x' });
    const answer = await fetch(`${issuer}/token`, { method: 'POST', headers: secretly, body });
    expect(answer.status).toBe(401);
  });

  test.each<[string, object, string[]]>([
    ['secrets', { allowSecrets: true }, ['allowSecrets']],
    ['bearer tokens', { requireDpop: false }, ['requireDpop']],
    [
      'requests that are not pushed',
      { requirePushedAuthorizationRequests: false },
      ['requirePushedAuthorizationRequests'],
    ],
    ['requests without PKCE', { requirePkce: false }, ['requirePkce']],
    ['sign-ins without a browser', { allowHeadlessSignIn: true }, ['allowHeadlessSignIn']],
    ['another algorithm', { idTokenSigningAlg: 'RS256' }, ['idTokenSigningAlg']],
    ['no keys', { jwks: null }, ['jwks']],
  ])('cannot have %s, then or later', async (_what, given, paths) => {
    expect(await pathsOf(createApplication(context, { ...usual, ...given }))).toEqual(paths);
    const { application } = await createApplication(context, usual);
    expect(await pathsOf(updateApplication(context, { id: application.id, ...given }))).toEqual(
      paths,
    );
  });

  test('is confidential, and has keys that fit', async () => {
    const { publicJwk: unfit } = await createClientKey('ES384');
    const others = { keys: [unfit as Record<string, unknown>] };
    expect(await pathsOf(createApplication(context, { ...usual, jwks: others }))).toEqual(['jwks']);
    expect(await pathsOf(createApplication(context, { ...usual, type: 'SPA' }))).toContain(
      'securityProfile',
    );
  });

  test('signs by no algorithm beside those of the profile', async () => {
    const key = await createClientKey('RS256');
    const { application } = await createApplication(context, {
      ...usual,
      type: 'MACHINE_TO_MACHINE',
      jwks: { keys: [key.publicJwk as Record<string, unknown>] },
    });
    const { id } = application;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      resource: fapi.fixture.resource.indicator,
      ...assertionParameters(await signAssertion(service, id, key)),
    });
    expect((await fetch(`${issuer}/token`, { method: 'POST', body: form })).status).toBe(401);
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('RS256'));
    const { asked, code: redeemed } = await code();
    expect((await redeem(redeemed, asked, { DPoP })).body).toMatchObject({
      error: 'invalid_dpop_proof',
    });
  });
});

describe('a pushed request', () => {
  test('is one that others may push too, and some must', async () => {
    const { fixture } = fapi;
    const pushing = await fixture.createApplication({ requirePushedAuthorizationRequests: true });
    const { url } = await authorize(service, pushing);
    const refused = await openBrowser(issuer).open(url);
    expect(refused.url.searchParams.get('error')).toBe('invalid_request');
    for (const application of [pushing, fixture.client]) {
      const { parameters } = await fapi.requestParameters();
      const client = { client_id: application.id };
      const answer = await oauth.processPushedAuthorizationResponse(
        as,
        client,
        await oauth.pushedAuthorizationRequest(
          as,
          client,
          oauth.ClientSecretBasic(application.secret),
          parameters,
          fapi.insecure,
        ),
      );
      const opened = new URL(`${issuer}/auth`);
      opened.search = String(new URLSearchParams({ ...client, ...answer } as never));
      opened.searchParams.delete('expires_in');
      expect((await openBrowser(issuer).open(opened)).url.pathname).toMatch(/^\/sign-in\//);
    }
  });

  test('is bounded, and needs a client that authenticates', async () => {
    expect(await push({ state: 'x'.repeat(3000) })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    const authentication = oauth.ClientSecretPost(randomUUID());
    expect(await push({}, { authentication })).toMatchObject(invalidClient);
  });

  test('gives one code, when two nodes are asked at once', async () => {
    const asked = await ask();
    const opened = [await open(asked), await open(asked)];
    const visits = await Promise.all(opened.map((one) => signIn(one)));
    expect(visits.filter(({ url }) => url.searchParams.has('code'))).toHaveLength(1);
    expect(otherNode.url).not.toBe(service.url);
  });
});
