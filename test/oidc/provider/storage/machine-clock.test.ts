import { randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import type * as oidc from 'openid-client';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { deviceGrantType } from '../../../../src/oidc/provider/device/grant.ts';
import { basic } from '../../../support/client-credentials.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../../../support/keys/client-keys.ts';
import { askForCodes } from '../../../support/people/device.ts';
import { openBrowser } from '../../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { formOf, postToken } from '../../../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { client } = fixture;
const { baseUrl } = service.app.services;
const apart = 2 * 60 * 60 * 1_000;

// What one node stores and another reads is as if the machine's clock were another one in between.
let start = 0;
const setMachine = (apartMs: number) => vi.setSystemTime(start + apartMs);
let letGo = () => {};
beforeEach(() => {
  letGo = service.clock.freeze();
  start = service.clock.now().getTime();
  vi.useFakeTimers({ toFake: ['Date'], now: start });
});
afterEach(() => {
  vi.useRealTimers();
  letGo();
});
const now = () => Math.floor(service.clock.now().getTime() / 1000);

const ask = async (form: Record<string, string>, from: Partial<typeof client> = client) => {
  const { status, body } = await postToken(
    service,
    formOf(from.secret ? form : { ...form, client_id: from.id }),
    from.secret ? { authorization: basic(from.id as string, from.secret) } : {},
  );
  return { status, ...body } as { status: number } & oidc.TokenEndpointResponse;
};
const redeem = ({ url }: { readonly url: URL }, verifier: string) =>
  ask({
    grant_type: 'authorization_code',
    code: url.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
const refresh = ({ refresh_token = '' }: oidc.TokenEndpointResponse) =>
  ask({ grant_type: 'refresh_token', refresh_token });

// The embedded database has the machine's clock.
describe.runIf(inject('postgresql')).each([
  ['ahead', apart],
  ['behind', -apart],
])('at a machine that is %s', (_where, apartMs) => {
  test('a sign-in goes on, and so do its code, its refresh tokens and its session', async () => {
    const scope = 'openid offline_access';
    const browser = openBrowser(baseUrl);
    const { visit, verifier } = await openSignInPage(service, client, { browser, scope });
    setMachine(apartMs);
    const back = await browser.submit(visit, { identifier: 'Ada', password });
    setMachine(-apartMs);
    const tokens = await redeem(back, verifier);
    expect(tokens.status).toBe(200);
    const { iat = 0, exp, auth_time } = decodeJwt(tokens.id_token ?? '');
    expect({ iat, exp, auth_time }).toEqual({
      iat: now() - 1,
      exp: now() + 3600,
      auth_time: now(),
    });

    setMachine(apartMs);
    const again = await refresh(tokens);
    setMachine(-apartMs);
    const last = await refresh(again);
    const response = await fetch(`${service.url}/oidc/token/introspection`, {
      method: 'POST',
      headers: { authorization: basic(client.id, client.secret) },
      body: new URLSearchParams({ token: last.access_token }),
    });
    expect(await response.json()).toMatchObject({ active: true, iat: now(), exp: now() + 3600 });

    const next = await openSignInPage(service, client, { browser, max_age: '10' });
    expect(next.visit.url.searchParams.has('code')).toBe(true);
    service.clock.advance(11_000);
    const late = await openSignInPage(service, client, { browser, max_age: '10' });
    expect(late.visit.url.pathname).toMatch(/^\/sign-in\//);
  });

  describe('a request that was pushed elsewhere', () => {
    const push = async () => {
      const { url, verifier } = await authorize(service, client, { scope: 'openid' });
      const response = await fetch(`${service.url}/oidc/request`, {
        method: 'POST',
        headers: { authorization: basic(client.id, client.secret) },
        body: url.searchParams,
      });
      const { request_uri } = (await response.json()) as { request_uri: string };
      const pushed = new URLSearchParams({ client_id: client.id, request_uri });
      return { url: `${service.url}/oidc/auth?${pushed}`, verifier };
    };

    test('begins a sign-in', async () => {
      setMachine(-apartMs);
      const { url, verifier } = await push();
      setMachine(apartMs);
      service.clock.advance(59_000);
      const browser = openBrowser(baseUrl);
      const page = await browser.open(url);
      const back = await browser.submit(page, { identifier: 'Ada', password });
      expect((await redeem(back, verifier)).status).toBe(200);
    });

    test('begins none when its time is over', async () => {
      setMachine(-apartMs);
      const { url } = await push();
      setMachine(apartMs);
      service.clock.advance(60_000);
      const { url: answer } = await openBrowser(baseUrl).open(url);
      expect(answer.searchParams.get('error')).toBe('invalid_request_uri');
    });
  });

  test('a code ends when it does elsewhere', async () => {
    setMachine(apartMs);
    const { visit, browser, verifier } = await openSignInPage(service, client, {
      scope: 'openid offline_access',
    });
    const back = await browser.submit(visit, { identifier: 'Ada', password });
    setMachine(-apartMs);
    service.clock.advance(61_000);
    expect(await redeem(back, verifier)).toMatchObject({ status: 400 });
  });

  test('what a client signs counts as long as elsewhere', async () => {
    const key = await createClientKey();
    const applicant = await fixture.directory.createClient({
      jwks: { keys: [key.publicJwk] },
      keySetterScopes: ['all'],
    });
    const grant = { grant_type: 'client_credentials', resource: fixture.resource.indicator };
    const sent = async (assertionSeconds: number, proofSeconds: number) => {
      const assertion = await signAssertion(service, applicant.id, key, {
        iat: now() + 60,
        nbf: now() + 60,
        exp: now() + assertionSeconds,
      });
      const proof = await new SignJWT({
        htm: 'POST',
        htu: `${service.app.services.issuer}/token`,
        jti: randomUUID(),
        iat: now() + proofSeconds,
      })
        .setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk: key.publicJwk })
        .sign(key.privateKey);
      const parameters = { ...grant, ...assertionParameters(assertion) };
      const { status, body } = await postToken(service, formOf(parameters), { dpop: proof });
      return { status, error: body['error'] };
    };
    setMachine(apartMs);
    for (const proofSeconds of [-60, 60])
      for (const assertionSeconds of [1, 300])
        expect(await sent(assertionSeconds, proofSeconds)).toMatchObject({ status: 200 });
    for (const assertionSeconds of [0, 301])
      expect(await sent(assertionSeconds, 0)).toMatchObject({ error: 'invalid_client' });
    for (const proofSeconds of [-61, 61])
      expect(await sent(60, proofSeconds)).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('a device gets its tokens', async () => {
    const device = await fixture.createApplication({
      type: 'NATIVE',
      redirectUris: [],
      allowDeviceGrant: true,
    });
    const { body } = await askForCodes(service, device, { scope: 'openid' });
    setMachine(apartMs);
    const browser = openBrowser(baseUrl);
    const question = await browser.submit(await browser.open('/device'), {
      user_code: String(body['user_code']),
    });
    const page = await browser.submit(question, { confirm: 'yes' });
    const { body: done } = await browser.submit(page, { identifier: 'Ada', password });
    expect(done).toContain('connected');
    setMachine(-apartMs);
    const device_code = String(body['device_code']);
    const tokens = await ask({ grant_type: deviceGrantType, device_code }, { id: device.id });
    expect(tokens).toHaveProperty('id_token');
  });

  test('a session keeps its grant', async () => {
    const { oidcRecord } = fixture.database.prisma;
    const earlier = (await oidcRecord.findMany({ where: { model: 'Grant' } })).map(({ id }) => id);
    const grants = () => oidcRecord.findMany({ where: { model: 'Grant', id: { notIn: earlier } } });
    const browser = openBrowser(baseUrl);
    const { visit } = await openSignInPage(service, client, { browser });
    await browser.submit(visit, { identifier: 'Ada', password });
    const before = await grants();
    expect(before).toMatchObject([{ payload: { iat: now() } }]);
    setMachine(apartMs);
    await openSignInPage(service, client, { browser });
    expect(await grants()).toEqual(before);
  });
});
