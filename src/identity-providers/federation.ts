import { randomBytes } from 'node:crypto';
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import type { Federation, IdentityProvider } from '../generated/prisma/client.ts';
import { digestOf } from '../keys/digest.ts';
import type { Services } from '../services.ts';
import {
  authorizationUrl,
  FederationFailure,
  type Hints,
  type ProviderClaims,
  readClaims,
} from './authorization.ts';

const ttlMs = 10 * 60 * 1000;

/** Whom a federation is for: an interaction, or a user who links an identity. */
export type FederationOwner =
  | { readonly interactionId: string; readonly userId?: never }
  | { readonly userId: string; readonly clientId?: string; readonly interactionId?: never };

const purposeOf = (state: string) => `federation:${Buffer.from(digestOf(state)).toString('hex')}`;

/**
 * Begins a federation, which works once and for ten minutes.
 *
 * @param options.prefix The first part of `state`, which tells the callback where to go on. No secret.
 * @returns The URL to send the person to.
 * @throws {FederationFailure} when the provider does not answer as one; nothing was written.
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
  const url = await authorizationUrl(services, provider, secrets, hints);
  const now = services.clock.now();
  await services.database.prisma.federation.create({
    data: {
      ...owner,
      digest: digestOf(state),
      identityProviderId: provider.id,
      nonce: secrets.nonce,
      codeVerifier: services.cipher.encrypt(secrets.codeVerifier, purposeOf(state)),
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
 * Ends a federation with what the person came back with. Of concurrent and repeated callbacks, the first one uses it up.
 *
 * @param owner Proved by the request. A callback of another one uses nothing up.
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
  const codeVerifier = cipher.decrypt(begun.codeVerifier, purposeOf(state));
  const secrets = { state, nonce: begun.nonce, codeVerifier };
  const claims = await readClaims(services, provider, response, secrets);
  return { provider, claims, clientId: begun.clientId };
}

/** The federation of a `state`, which is still open; null if there is none. It uses nothing up. */
export const findFederation = (
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  response: URLSearchParams,
): Promise<Pick<Federation, 'interactionId' | 'userId'> | null> =>
  database.prisma.federation.findUnique({
    where: { digest: digestOf(response.get('state') ?? ''), expiresAt: { gt: clock.now() } },
    select: { interactionId: true, userId: true },
  });
