import { type AccessTokenClaims, newJti, signAccessToken } from '../../src/auth/access-token.ts';
import { toNumericDate } from '../../src/clock.ts';
import { newId } from '../../src/ids.ts';
import { basic } from './client-credentials.ts';
import type { TestClient } from './operations/directory.ts';
import type { TestService } from './service.ts';

/** `grant_type` of RFC 8693 §2.1. */
export const exchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The one token type that is exchanged and issued (RFC 8693 §3). */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** An answer of the token endpoint. */
export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Sends a body to the token endpoint unchanged. */
export async function postToken(
  service: Pick<TestService, 'url'>,
  body: string | URLSearchParams | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${service.url}/oidc/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

/** Requests an exchange without the parameters that are undefined. */
export function exchange(
  service: Pick<TestService, 'url'>,
  client: TestClient,
  parameters: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const all = {
    grant_type: exchangeGrantType,
    subject_token_type: accessTokenType,
    ...parameters,
  };
  const authorization = basic(client.id, client.secret);
  return postToken(service, formOf(all), { ...headers, authorization });
}

/** The form of these parameters, without those that are undefined. */
export const formOf = (parameters: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** Claims of an access token from a user's sign-in through an application; the given ones replace them. */
export function userClaims(
  service: Pick<TestService, 'app' | 'clock'>,
  userId: string,
  client: Pick<TestClient, 'id'>,
  claims: Partial<AccessTokenClaims> = {},
): AccessTokenClaims {
  const now = service.clock.now();
  return {
    iss: service.app.services.issuer,
    sub: userId,
    aud: 'https://gateway.example.com/api',
    client_id: client.id,
    scope: '',
    iat: toNumericDate(now),
    exp: toNumericDate(now) + 3600,
    jti: newJti(now),
    ...claims,
  };
}

/** An access token of a user, signed with the service's own key. */
export const userToken = (
  service: Pick<TestService, 'app' | 'clock'>,
  ...of: [userId: string, client: Pick<TestClient, 'id'>, claims?: Partial<AccessTokenClaims>]
): Promise<string> => signAccessToken(service.app.services.keys, userClaims(service, ...of));

/** An id that nobody has. */
export const strangerId = (): string => newId('User');

/** Whether introspection calls a token active (RFC 7662 §2.2). */
export async function isActive(
  at: { readonly url: string },
  client: Pick<TestClient, 'id' | 'secret'>,
  token: unknown,
): Promise<boolean> {
  const response = await fetch(`${at.url}/oidc/token/introspection`, {
    method: 'POST',
    headers: { authorization: basic(client.id, client.secret) },
    body: new URLSearchParams({ token: String(token) }),
  });
  return ((await response.json()) as { active: boolean }).active;
}
