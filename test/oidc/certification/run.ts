import { randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';
import { expect, vi } from 'vitest';
import type { User } from '../../../src/generated/prisma/client.ts';
import type { TestClient } from '../../support/operations/directory.ts';
import { manager } from '../../support/people/federation.ts';
import { type Browser, discover, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { expectErrorResponse, expectSoundIdToken, expectStandardClaims } from './conditions.ts';

/** What the suite makes of a module. It waits for a screenshot before `REVIEW`, and a person looks at it. */
export type Outcome = 'PASSED' | 'WARNING' | 'SKIPPED' | 'REVIEW' | 'NOT OFFERED';

/** Tries a module; it throws where the suite would fail it. */
export type Module = (run: Run) => Promise<void>;

/** An authorization request, and what its answer is checked against. */
export interface Asked {
  readonly url: URL;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** The tokens of a sign-in. */
export type Tokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

/** Where the application is told that a person signed out. */
export const goodbye = 'https://app.example.com/post_logout_redirect';

/** Starts the service that all modules share, with one person whose record is complete. */
export async function startSuite() {
  const service = await startService();
  const { issuer, baseUrl } = service.app.services;
  const fixture = await createSignInFixture(service);
  const client = await fixture.createApplication({ postLogoutRedirectUris: [goodbye] });
  const user = await fixture.createUser({
    name: 'Grace Hopper',
    primaryEmail: 'grace@example.com',
    isEmailVerified: true,
    primaryPhone: '+15550100200',
    isPhoneVerified: true,
    avatar: 'https://example.com/grace.png',
    profile: {
      givenName: 'Grace',
      familyName: 'Hopper',
      middleName: 'Brewster',
      nickname: 'Amazing Grace',
      profile: 'https://example.com/grace',
      website: 'https://grace.example.com',
      gender: 'female',
      birthdate: '1906-12-09',
      zoneinfo: 'America/New_York',
      locale: 'en-US',
    },
  });
  const configure = async (application: TestClient, authentication?: oidc.ClientAuth) => {
    const config = await discover(service, application, authentication);
    // Checks signatures with the published keys, as the suite does.
    oidc.enableNonRepudiationChecks(config);
    return config;
  };
  const config = await configure(client);
  const { done } = await manager(service);
  const register = async (input: object): Promise<TestClient> => {
    const { application, secret } = await done('createApplication', {
      name: 'Suite',
      type: 'TRADITIONAL',
      redirectUris: [redirectUri],
      ...input,
    });
    return { id: application.id, secret };
  };

  return {
    service,

    /** Begins a module. */
    start: () => new Run({ issuer, baseUrl, register, configure, client, config, user }),
  };
}

interface Setting {
  readonly issuer: string;
  readonly baseUrl: string;
  /** Creates another application by the management API. */
  readonly register: (input: object) => Promise<TestClient>;
  readonly configure: (
    application: TestClient,
    authentication?: oidc.ClientAuth,
  ) => Promise<oidc.Configuration>;
  readonly client: TestClient;
  readonly config: oidc.Configuration;
  readonly user: User;
}

/** One run of a module: a browser without cookies, and an application. */
export class Run {
  readonly issuer: string;
  readonly register: Setting['register'];
  readonly configure: Setting['configure'];
  readonly client: TestClient;
  readonly user: User;
  /** It has no cookies yet. */
  readonly browser: Browser;
  /** The application in openid-client; a module may use another. */
  config: oidc.Configuration;
  #outcome: Outcome = 'PASSED';

  constructor({ issuer, baseUrl, register, configure, client, config, user }: Setting) {
    this.issuer = issuer;
    this.register = register;
    this.configure = configure;
    this.client = client;
    this.config = config;
    this.user = user;
    this.browser = openBrowser(baseUrl);
  }

  get outcome(): Outcome {
    return this.#outcome;
  }

  get metadata() {
    return this.config.serverMetadata();
  }

  /** Ends in a warning unless this holds: the suite recommends it and does not require it. */
  recommend(holds: boolean): void {
    if (!holds) this.#outcome = 'WARNING';
  }

  /** Ends without a result: the provider rightly says that it does not do this. */
  skip(outcome: 'SKIPPED' | 'NOT OFFERED' = 'SKIPPED'): void {
    this.#outcome = outcome;
  }

  /** Notes that a person looks at a picture of the page; what can be read of it is expected here. */
  review(visit: Visit, expected: { status: number; text: RegExp }): void {
    expect(visit.status).toBe(expected.status);
    expect(visit.body).toMatch(expected.text);
    this.#outcome = 'REVIEW';
  }

  /**
   * The suite's authorization request with these parameters more, or without those that are undefined. It has PKCE,
   * which the suite sends in one module only.
   */
  async ask(parameters: Record<string, string | undefined> = {}): Promise<Asked> {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = parameters['state'] ?? oidc.randomState();
    const nonce = oidc.randomNonce();
    const url = oidc.buildAuthorizationUrl(this.config, {
      redirect_uri: redirectUri,
      scope: 'openid',
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    for (const [name, value] of Object.entries(parameters)) {
      if (value === undefined) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    return { url, verifier, state, nonce };
  }

  /** Opens a request in the browser. */
  open(asked: Asked): Promise<Visit> {
    return this.browser.open(asked.url);
  }

  /** Signs in on the page, and returns to the application. */
  async signIn(page: Visit): Promise<Visit> {
    expect(page.url.pathname).toMatch(/^\/sign-in\//);
    const visit = await this.browser.submit(page, {
      identifier: this.user.username ?? '',
      password,
    });
    expect(visit.url.href).toContain(redirectUri);
    return visit;
  }

  /** Redeems the code in the answer to a request, and checks the ID token. */
  async redeem(asked: Asked, { url }: Pick<Visit, 'url'>): Promise<Tokens> {
    const { searchParams: sent } = asked.url;
    const tokens = await oidc.authorizationCodeGrant(this.config, url, {
      pkceCodeVerifier: asked.verifier,
      expectedState: asked.state,
      idTokenExpected: true,
      ...(sent.has('nonce') ? { expectedNonce: asked.nonce } : {}),
      ...(sent.has('max_age') ? { maxAge: Number(sent.get('max_age')) } : {}),
    });
    expectSoundIdToken(claimsOf(tokens));
    expect(claimsOf(tokens).sub).toBe(this.user.id);
    return tokens;
  }

  /** Calls user info, and checks the claims. */
  async userInfo(tokens: Tokens): Promise<oidc.UserInfoResponse> {
    const { sub } = claimsOf(tokens);
    const claims = await oidc.fetchUserInfo(this.config, tokens.access_token, sub);
    expectStandardClaims(claims);
    return claims;
  }

  /** The usual way: to the page, back with a code, to the token endpoint, and to user info. */
  async complete(asked: Asked, page?: Visit): Promise<Tokens> {
    const tokens = await this.redeem(asked, await this.signIn(page ?? (await this.open(asked))));
    await this.userInfo(tokens);
    return tokens;
  }

  /** Signs in again in the same browser, which must not ask anything. */
  async completeSilently(asked: Asked): Promise<Tokens> {
    const tokens = await this.redeem(asked, await this.open(asked));
    await this.userInfo(tokens);
    return tokens;
  }

  /** The answer to a request is an error at the application, one of these. */
  expectError(asked: Asked, { url }: Visit, ...errors: string[]): void {
    expect(url.href).toContain(redirectUri);
    expectErrorResponse(url, { issuer: this.issuer, state: asked.state, errors });
  }
}

/** The claims of the ID token. */
export function claimsOf(tokens: Tokens): oidc.IDToken {
  const claims = tokens.claims();
  if (!claims) throw new Error('There is no ID token.');
  return claims;
}

/** A `state` of 128 characters, with all the marks that a URL may have as they are. */
export const longState = (): string => `${randomBytes(62).toString('hex')}-._~`;

/** Lets time pass, for the service, its libraries and the application alike. */
export async function later<T>(seconds: number, act: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
  try {
    return await act();
  } finally {
    vi.useRealTimers();
  }
}
