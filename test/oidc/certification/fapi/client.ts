import { randomUUID } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import { createApplication } from '../../../../src/applications/operations.ts';
import { systemActor } from '../../../../src/services.ts';
import { type ClientKey, createClientKey } from '../../../support/keys/client-keys.ts';
import { testCall } from '../../../support/log.ts';
import { openBrowser, type Visit } from '../../../support/people/sign-in.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../../support/people/sign-in-fixture.ts';
import type { TestService } from '../../../support/service.ts';

const insecure = { [oauth.allowInsecureRequests]: true };

/** An authorization that was asked for. */
export interface Asked {
  readonly verifier: string;
  readonly requestUri: string;
  readonly state: string | undefined;
}

/** Applications of the FAPI 2.0 security profile at a service, in oauth4webapi. */
export async function startFapi(service: TestService) {
  const { issuer } = service.app.services;
  const fixture = await createSignInFixture(service);
  const as = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), insecure),
  );

  /** Creates an application as the conformance suite's configuration has it, by the profile alone. */
  async function createClient(key: ClientKey) {
    const context = { ...service.app.services, actor: systemActor, ...testCall };
    const { application } = await createApplication(context, {
      name: 'Bank',
      type: 'TRADITIONAL',
      securityProfile: 'FAPI_2_0',
      redirectUris: [redirectUri],
      jwks: { keys: [key.publicJwk as Record<string, unknown>] },
    });
    return { application, client: { client_id: application.id }, key };
  }
  const first = await createClient(await createClientKey('PS256'));
  const second = await createClient(await createClientKey('ES256'));
  type Client = typeof first;

  /** Authenticates as the application; the given changes are made to the assertion. */
  const proofOf = (
    { key }: Client,
    change: (header: Record<string, unknown>, payload: Record<string, unknown>) => void = () =>
      undefined,
  ) =>
    oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.kid }, { [oauth.modifyAssertion]: change });

  const newDpop = async () => oauth.DPoP({}, await oauth.generateKeyPair('ES256'));

  /** The parameters of an authorization request; the given ones replace the usual, and undefined ones are left out. */
  async function requestParameters(changes: Record<string, string | undefined> = {}) {
    const verifier = oauth.generateRandomCodeVerifier();
    const all: Record<string, string | undefined> = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid offline_access',
      state: randomUUID(),
      nonce: randomUUID(),
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...changes,
    };
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(all))
      if (value !== undefined) parameters.set(name, value);
    return { verifier, parameters };
  }

  /** Pushes an authorization request, and returns the answer. */
  async function push(
    changes: Record<string, string | undefined> = {},
    {
      client = first,
      authentication = proofOf(client),
      DPoP,
    }: { client?: Client; authentication?: oauth.ClientAuth; DPoP?: oauth.DPoPHandle } = {},
  ) {
    const { verifier, parameters } = await requestParameters(changes);
    const response = await oauth.pushedAuthorizationRequest(
      as,
      client.client,
      authentication,
      parameters,
      { ...insecure, ...(DPoP ? { DPoP } : {}) },
    );
    const body = (await response.json()) as Record<string, string>;
    return { status: response.status, body, verifier, state: parameters.get('state') ?? undefined };
  }

  /** Pushes an authorization request that is accepted. */
  async function ask(...request: Parameters<typeof push>): Promise<Asked> {
    const { status, body, verifier, state } = await push(...request);
    expect({ status, body }).toMatchObject({ status: 201, body: { expires_in: 60 } });
    return { verifier, state, requestUri: body['request_uri'] ?? '' };
  }

  /** Sends a browser with a pushed request to the authorization endpoint. */
  function open(
    { requestUri }: Pick<Asked, 'requestUri'>,
    { client = first, more = {} }: { client?: Client; more?: Record<string, string> } = {},
    browser = openBrowser(service.app.services.baseUrl),
  ) {
    const url = new URL(as.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      client_id: client.client.client_id,
      request_uri: requestUri,
      ...more,
    }).toString();
    return browser.open(url).then((visit) => ({ browser, visit }));
  }

  /** Signs the person in, and returns where the browser is sent. */
  async function signIn(opened: Awaited<ReturnType<typeof open>>): Promise<Visit> {
    expect(opened.visit.url.pathname).toMatch(/^\/sign-in\//);
    return opened.browser.submit(opened.visit, { identifier: 'Ada', password });
  }

  /** Checks that the browser was sent back with a code, and returns it with the other parameters. */
  function codeAt(visit: Visit, asked: Pick<Asked, 'state'>, client = first): URLSearchParams {
    const state = asked.state ?? oauth.expectNoState;
    return oauth.validateAuthResponse(as, client.client, visit.url, state);
  }

  /** Redeems a code, and returns the answer. */
  async function redeem(
    code: URLSearchParams,
    { verifier }: Pick<Asked, 'verifier'>,
    {
      client = first,
      authentication = proofOf(client),
      DPoP,
    }: {
      client?: Client;
      authentication?: oauth.ClientAuth;
      DPoP?: oauth.DPoPHandle;
    } = {},
  ) {
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client.client,
      authentication,
      code,
      redirectUri,
      verifier || oauth.nopkce,
      { ...insecure, ...(DPoP ? { DPoP } : {}) },
    );
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }

  /** Goes the whole way to tokens. */
  async function run(changes: Record<string, string | undefined> = {}, client = first) {
    const DPoP = await newDpop();
    const asked = await ask(changes, { client });
    const code = codeAt(await signIn(await open(asked, { client })), asked, client);
    const answer = await redeem(code, asked, { client, DPoP });
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    return { DPoP, asked, code, tokens: answer.body, client };
  }

  const userInfo = (token: string, DPoP?: oauth.DPoPHandle) =>
    oauth.protectedResourceRequest(
      token,
      'GET',
      new URL(as.userinfo_endpoint ?? ''),
      undefined,
      undefined,
      { ...insecure, ...(DPoP ? { DPoP } : {}) },
    );

  return {
    ...{ as, fixture, first, second, createClient, proofOf, newDpop, requestParameters },
    ...{ push, ask, open, signIn, codeAt, redeem, run, userInfo, insecure },
  };
}
