import { randomBytes } from 'node:crypto';
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import type { Federation, IdentityProvider } from '../generated/prisma/client.ts';
import { digestOf } from '../keys/digest.ts';
import { purposeOf } from '../keys/sealed-columns.ts';
import type { Services } from '../services.ts';
import {
  authorizationUrl,
  FederationFailure,
  type Hints,
  type ProviderClaims,
  readClaims,
} from './authorization.ts';
import { noteRedirectUri, redirectUriOf, sharedRedirectUriOf } from './redirect-uri.ts';

const ttlMs = 10 * 60 * 1000;

/** Whom a federation is for: an interaction, or a user who links an identity. */
export type FederationOwner =
  | { readonly interactionId: string; readonly userId?: never }
  | { readonly userId: string; readonly clientId?: string; readonly interactionId?: never };

const verifierPurpose = (state: string) =>
  purposeOf('federation', Buffer.from(digestOf(state)).toString('hex'));

/**
 * Begins a federation, which works once and for ten minutes.
 *
 * @param options.prefix The first part of `state`, which tells the callback where to go on. No secret.
 * @returns The URL to send the person to.
 * @throws {FederationFailure} when the provider does not answer, or answers wrongly; nothing was written.
 */
export async function beginFederation(
  services: Services,
  provider: IdentityProvider,
  owner: FederationOwner,
  options: { readonly prefix: string } & Hints,
): Promise<string> {
  const { prefix, ...hints } = options;
  const state = `${prefix}.${randomBytes(32).toString('base64url')}`;
  const secrets = { state, nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
  const { url, redirectUri } = await authorizationUrl(services, provider, secrets, hints);
  if (provider.redirectUriState === 'SHARED' && redirectUri !== sharedRedirectUriOf(services))
    await noteRedirectUri(services, provider.id, 'TO_REGISTER');
  const now = services.clock.now();
  await services.database.prisma.federation.create({
    data: {
      ...owner,
      digest: digestOf(state),
      identityProviderId: provider.id,
      redirectUri,
      nonce: secrets.nonce,
      codeVerifier: services.cipher.encrypt(secrets.codeVerifier, verifierPurpose(state)),
      createdAt: now,
      expiresAt: new Date(now.getTime() + ttlMs),
    },
  });
  return url;
}

/** A federation whose person has come back. */
export interface Returned {
  readonly provider: IdentityProvider;
  readonly claims: ProviderClaims;
  /** The application through which a user asked for it; null in a sign-in. */
  readonly clientId: string | null;
}

/**
 * Ends a federation with the answer that the person brought back. Of concurrent or repeated callbacks, only the first
 * counts.
 *
 * @param owner The owner that the request proves. A callback for another owner uses nothing up.
 * @returns Null for a `state` that is unknown, expired or used.
 * @throws {FederationFailure} when the provider did not sign the person in.
 */
export async function endFederation(
  services: Services,
  owner: FederationOwner,
  response: URLSearchParams,
): Promise<Returned | null> {
  const { database, clock, cipher } = services;
  const state = response.get('state') ?? '';
  const [begun] = await database.prisma.$queryRaw<Federation[]>`
    DELETE FROM "Federation"
     WHERE "digest" = ${digestOf(state)}::bytea
       AND "expiresAt" > ${clock.now()}::timestamptz
       AND "interactionId" IS NOT DISTINCT FROM ${owner.interactionId ?? null}::text
       AND "userId" IS NOT DISTINCT FROM ${owner.userId ?? null}::text
    RETURNING *`;
  if (!begun) return null;
  const provider = await database.prisma.identityProvider.findUnique({
    where: { id: begun.identityProviderId, enabled: true },
  });
  if (!provider) throw new FederationFailure('the identity provider is disabled');
  const codeVerifier = cipher.decrypt(begun.codeVerifier, verifierPurpose(state));
  const secrets = { state, nonce: begun.nonce, codeVerifier };
  const redirectUri = redirectUriUsed(services, begun);
  const claims = await readClaims(services, provider, redirectUri, response, secrets);
  // The provider has just accepted its own redirect URI.
  if (provider.redirectUriState !== 'OWN' && redirectUri === redirectUriOf(services, provider.id))
    await noteRedirectUri(services, provider.id, 'OWN');
  return { provider, claims, clientId: begun.clientId };
}

/** Finds the open federation of a `state`, without using it up; null if there is none. */
export const findFederation = (
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  response: URLSearchParams,
): Promise<Federation | null> =>
  database.prisma.federation.findUnique({
    where: { digest: digestOf(response.get('state') ?? ''), expiresAt: { gt: clock.now() } },
  });

/** The redirect URI to which a federation's request sent the answer. */
const redirectUriUsed = (
  services: Pick<Services, 'baseUrl'>,
  { redirectUri }: Pick<Federation, 'redirectUri'>,
): string => redirectUri ?? sharedRedirectUriOf(services);

/**
 * Whether an answer arrived where its request sent it. An answer that arrives elsewhere may come from an honest
 * provider that a dishonest one sent the person to. The dishonest one must not get it (RFC 9700 §4.4).
 *
 * @param callbackOf The provider in the path; undefined at the shared redirect URI.
 */
export const hasArrived = (
  services: Pick<Services, 'baseUrl'>,
  begun: Federation,
  callbackOf: string | undefined,
): boolean =>
  redirectUriUsed(services, begun) ===
  (callbackOf === undefined ? sharedRedirectUriOf(services) : redirectUriOf(services, callbackOf));
