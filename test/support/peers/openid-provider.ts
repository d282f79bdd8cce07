import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { systemClock, toNumericDate } from '../../../src/clock.ts';
import { closeAtEnd } from '../cleanup.ts';

/** How the provider answers; absent: as it should. */
export interface Behaviour {
  /** Fields of the discovery document to replace; undefined removes one. */
  readonly discovery?: Record<string, unknown>;
  /** Claims of the ID token to replace; undefined removes one. */
  readonly claims?: Record<string, unknown>;
  /** Header of the ID token to replace. */
  readonly header?: Partial<JWTHeaderParameters>;
  /** Makes the whole ID token. */
  readonly sign?: (claims: Record<string, unknown>) => string | Promise<string>;
  readonly userInfo?: Record<string, unknown>;
  /**
   * Decides when the token endpoint answers about a person.
   *
   * @param answer Resolves when the answer is sent, or whoever asked is gone.
   */
  readonly answerToken?: (subject: string, answer: () => Promise<void>) => Promise<void>;
  /** Answers these paths itself. */
  readonly answer?: Readonly<
    Record<string, (request: IncomingMessage, response: ServerResponse) => void>
  >;
}

/** An OpenID provider that a test steers. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** The published keys. */
  jwks(): { keys: Record<string, unknown>[] };
  behave(behaviour: Behaviour): void;
  /** Replaces the signing key, and withdraws the one before. */
  rotate(): Promise<void>;
  /** Signs claims with the current key. */
  sign(claims: Record<string, unknown>, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** The URL that a person was sent to, for this person alone: several may be on the way at once. */
  visitOf(authorization: string, subject: string, claims?: Record<string, unknown>): URL;
  /** Decides who signs in at the authorization endpoint, without a question. */
  expect(subject: string, claims?: Record<string, unknown>): void;
  /**
   * Decides who has signed in there.
   *
   * @param authorization The URL that a person was sent to.
   * @returns The URL with which the person is sent back.
   */
  signedIn(authorization: URL, subject: string, claims?: Record<string, unknown>): URL;
}

/**
 * Starts a provider; it stops at the end of the test file.
 *
 * @param clock The service's, if a test moves it.
 */
export async function startOpenIdProvider(clock = systemClock): Promise<OpenIdProvider> {
  let behaviour: Behaviour = {};
  let person: Record<string, unknown> = {};
  let next: Record<string, unknown> = {};
  const people = new Map<string, Record<string, unknown>>();
  /** Where each code was sent. */
  const redirectUris = new Map<string, string | null>();
  let kid = 0;
  const newKey = async () => {
    kid += 1;
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: `key-${kid}`, use: 'sig', alg: 'ES256' };
    return { privateKey, jwk };
  };
  let key = await newKey();
  const asked: string[] = [];
  const clientId = 'signet';
  const sign = (claims: Record<string, unknown>, header: Partial<JWTHeaderParameters> = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: key.jwk.kid, ...header })
      .sign(key.privateKey);

  const backTo = (asked: URLSearchParams, code: string): URL => {
    const url = new URL(asked.get('redirect_uri') ?? '');
    url.searchParams.set('code', code);
    url.searchParams.set('state', asked.get('state') ?? '');
    if (behaviour.discovery?.['authorization_response_iss_parameter_supported'] !== false)
      url.searchParams.set('iss', issuer);
    return url;
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    asked.push(pathname);
    const own = behaviour.answer?.[pathname];
    if (own) return own(request, response);
    const send = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return send({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
          authorization_response_iss_parameter_supported: true,
          ...behaviour.discovery,
        });
      case '/jwks':
        return send({ keys: [key.jwk] });
      case '/token': {
        const form = new URLSearchParams(await text(request));
        const given = form.get('code') ?? '';
        // RFC 6749 §4.1.3
        if (form.get('redirect_uri') !== redirectUris.get(given))
          return send({ error: 'invalid_grant' }, 400);
        const about = people.get(given) ?? person;
        const now = toNumericDate(clock.now());
        const claims = {
          iss: issuer,
          aud: clientId,
          iat: now,
          exp: now + 300,
          ...about,
          ...behaviour.claims,
        };
        const idToken = await (behaviour.sign ?? ((all) => sign(all, behaviour.header)))(claims);
        const answer = () =>
          new Promise<void>((resolve) => {
            if (response.destroyed) return resolve();
            response.once('close', resolve);
            return send({
              access_token: 'access',
              token_type: 'Bearer',
              expires_in: 300,
              id_token: idToken,
            });
          });
        return behaviour.answerToken
          ? behaviour.answerToken(String(about['sub']), answer)
          : answer();
      }
      case '/authorize': {
        // Whoever comes is the person that the test has chosen.
        const query = new URL(request.url ?? '', issuer).searchParams;
        const chosen = query.get('as');
        const code = chosen === null ? 'a-code' : `code-${people.size}`;
        const nonce = query.get('nonce');
        if (chosen === null) person = { ...next, nonce };
        else people.set(code, { ...JSON.parse(chosen), nonce });
        redirectUris.set(code, query.get('redirect_uri'));
        return response.writeHead(303, { location: backTo(query, code).href }).end();
      }
      case '/userinfo':
        return send({ sub: person['sub'], ...behaviour.userInfo });
      default:
        return send({ error: 'not_found' }, 404);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    issuer,
    clientId,
    clientSecret: 'a secret that both know',
    asked,
    sign,
    jwks: () => ({ keys: [key.jwk] }),
    behave(next) {
      behaviour = next;
    },
    expect(sub, claims = {}) {
      next = { sub, ...claims };
    },
    visitOf(authorization, sub, claims = {}) {
      const url = new URL(authorization);
      url.searchParams.set('as', JSON.stringify({ sub, ...claims }));
      return url;
    },
    async rotate() {
      key = await newKey();
    },
    signedIn(authorization, sub, claims = {}) {
      const asked = authorization.searchParams;
      person = { sub, nonce: asked.get('nonce'), ...claims };
      redirectUris.set('a-code', asked.get('redirect_uri'));
      return backTo(asked, 'a-code');
    },
  };
}
