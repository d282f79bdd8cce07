import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  type IDToken,
  type UserInfoResponse,
} from 'openid-client';
import type { z } from 'zod';
import { toNumericDate } from '../clock.ts';
import { InvalidInputError } from '../errors.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import { AddressedInput, name, webUrl } from '../input.ts';
import { type Asker, parseAddressed } from '../messages/senders/non-ascii-addresses.ts';
import type { Services } from '../services.ts';
import { clientOf, withProvider } from './client.ts';
import { redirectUriOf, sharedRedirectUriOf, tellsIssuer } from './redirect-uri.ts';

// The clocks of two servers differ a little; the library allows as much for the other times.
const clockToleranceSeconds = 30;
const maxSubjectLength = 255;

/** The random values of one authorization request. */
export interface RequestSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** How recently a person must have signed in at a provider (OpenID Connect Core §3.1.2.1). */
export interface Freshness {
  /** Whether the person must sign in again, even if they are signed in there. */
  readonly isFresh?: boolean;
  /** The greatest age of the sign-in there. */
  readonly maxAgeSeconds?: number;
}

/** What an authorization request asks of a provider. */
export interface Hints extends Freshness {
  readonly loginHint?: string | undefined;
  readonly language?: string | undefined;
}

/** A person, as an identity provider describes them. */
export interface ProviderClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says that it has verified the address. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  readonly avatar: string | null;
  /** When the person signed in there; null if the provider does not say. */
  readonly authenticatedAt: Date | null;
}

/** The identity provider did not sign the person in. */
export class FederationFailure extends Error {
  override readonly name = 'FederationFailure';
  /** Whether the person refused, or the provider's rules did. */
  readonly isDenied: boolean;

  constructor(
    message: string,
    { isDenied = false, cause }: ErrorOptions & { isDenied?: boolean } = {},
  ) {
    super(message, { cause });
    this.isDenied = isDenied;
  }
}

/**
 * The URL that sends a person to an identity provider (OpenID Connect Core §3.1.2.1), with PKCE (RFC 7636).
 *
 * @param options.loginHint What the person typed here.
 * @returns The URL, and the redirect URI at which the answer must arrive.
 * @throws {FederationFailure} when the provider does not answer, or answers wrongly.
 */
export async function authorizationUrl(
  services: Services,
  provider: IdentityProvider,
  { state, nonce, codeVerifier }: RequestSecrets,
  { loginHint, language, isFresh = false, maxAgeSeconds }: Hints = {},
): Promise<{ url: string; redirectUri: string }> {
  const parameters = {
    response_type: 'code',
    scope: provider.scopes.join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(language === undefined ? {} : { ui_locales: language }),
    ...(isFresh ? { prompt: 'login' } : {}),
    ...(maxAgeSeconds === undefined ? {} : { max_age: String(maxAgeSeconds) }),
  };
  return talkTo(services, provider, async (configuration) => {
    const isShared = provider.redirectUriState === 'SHARED' && tellsIssuer(configuration);
    const redirectUri = isShared
      ? sharedRedirectUriOf(services)
      : redirectUriOf(services, provider.id);
    const { protocol, href } = buildAuthorizationUrl(configuration, {
      ...parameters,
      redirect_uri: redirectUri,
    });
    const isWeb = protocol === 'https:' || (protocol === 'http:' && allowsHttp(services));
    if (!isWeb) throw new FederationFailure('the authorization endpoint is no https URL');
    return { url: href, redirectUri };
  });
}

const allowsHttp = ({ config }: Pick<Services, 'config'>) => config.allowPrivateWebhooks;

/**
 * Exchanges the code that a person brought back, and checks the ID token (OpenID Connect Core §3.1.3.7) and the
 * response's `iss` (RFC 9207).
 *
 * @param redirectUri Where the response arrived: where the request sent it.
 * @param response The parameters of the redirect URI.
 * @throws {FederationFailure}
 */
export async function readClaims(
  services: Services,
  provider: IdentityProvider,
  redirectUri: string,
  response: URLSearchParams,
  { state, nonce, codeVerifier }: RequestSecrets,
): Promise<ProviderClaims> {
  const url = new URL(redirectUri);
  url.search = response.toString();
  return talkTo(services, provider, async (configuration) => {
    // At a shared redirect URI, only `iss` says which provider has answered (RFC 9700 §4.4.2.1).
    if (redirectUri !== redirectUriOf(services, provider.id) && !tellsIssuer(configuration))
      throw new FederationFailure('the shared redirect URI needs answers with iss (RFC 9207)');
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new FederationFailure('there is no ID token');
    assertForUs(services, provider, claims);
    // Many providers give the address at the userinfo endpoint only (OpenID Connect Core §5.4).
    const { userinfo_endpoint: userInfo } = configuration.serverMetadata();
    const isTold = claims['email'] !== undefined || userInfo === undefined;
    return claimsOf(
      services,
      claims,
      isTold ? {} : await fetchUserInfo(configuration, tokens.access_token, claims.sub),
    );
  });
}

/** Checks what the library does not. */
function assertForUs(
  { clock }: Services,
  { clientId }: IdentityProvider,
  { azp, iat, sub }: IDToken,
): void {
  if (azp !== undefined && azp !== clientId)
    throw new FederationFailure('the ID token is for another party (azp)');
  if (iat > toNumericDate(clock.now()) + clockToleranceSeconds)
    throw new FederationFailure('the ID token was issued in the future (iat)');
  // OpenID Connect Core §2: at most 255 ASCII characters.
  if (sub.length > maxSubjectLength || !/^[\x20-\x7e]+$/.test(sub))
    throw new FederationFailure('the ID token names nobody (sub)');
}

async function claimsOf(
  services: Asker,
  { iss, sub, auth_time, ...claims }: IDToken,
  { sub: _same, ...told }: Partial<UserInfoResponse>,
): Promise<ProviderClaims> {
  // An address and its verification must come from one place.
  const source = claims['email'] === undefined ? told : claims;
  const both: Record<string, unknown> = { ...told, ...claims };
  const email = await readEmail(services, source['email']);
  return {
    issuer: iss,
    subject: sub,
    email,
    // Only the JSON boolean (OpenID Connect Core §5.1).
    isEmailVerified: email !== null && source['email_verified'] === true,
    name: readAs(name(), both['name']),
    avatar: readAs(webUrl, both['picture']),
    authenticatedAt: auth_time === undefined ? null : new Date(auth_time * 1000),
  };
}

const emailClaim = new AddressedInput((emailAddress) => emailAddress);

/** The address, if it can be stored, which is as if the person had typed it; otherwise null. */
async function readEmail(services: Asker, value: unknown): Promise<string | null> {
  try {
    return await parseAddressed(services, emailClaim, value);
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}

/** The claim, if it can be stored; otherwise null. */
const readAs = (schema: z.ZodType<string>, value: unknown): string | null =>
  schema.safeParse(typeof value === 'string' ? value.trim() : undefined).data ?? null;

async function talkTo<T>(
  services: Services,
  provider: IdentityProvider,
  work: (configuration: Configuration) => Promise<T>,
): Promise<T> {
  try {
    return await withProvider(services, clientOf(services.cipher, provider), work);
  } catch (error) {
    if (error instanceof FederationFailure) throw error;
    const isDenied = error instanceof AuthorizationResponseError && error.error === 'access_denied';
    throw new FederationFailure(reasonOf(error), { isDenied });
  }
}

/** A text for the log. The error itself is not logged: its causes hold tokens. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  const { code } = error as Error & { readonly code?: unknown };
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${inner}${typeof code === 'string' ? ` (${code})` : ''}`;
}
