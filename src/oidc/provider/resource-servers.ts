import { errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import { accountIndicator } from '../../auth/scopes.ts';
import { textForQuery } from '../../db/sql.ts';
import { idForQuery } from '../../ids.ts';
import type { ResourceAlgorithms } from '../../keys/signing-keys.ts';
import { type Target, targetOf } from '../../permissions/target.ts';
import type { Services } from '../../services.ts';
import { withoutUnallowed } from '../consent/asked.ts';
import { readSubjectState } from '../token/grant-state.ts';
import {
  asRegistered,
  faultOfOrganization,
  organizationTokenTtlSeconds,
  ttlOfTarget,
} from '../token/target.ts';
import { grantSourceOf } from './requests.ts';
import { applicationOf } from './storage/clients.ts';

/**
 * The scopes that a sign-in may ask of a registered resource (RFC 8707 §2). At the authorization endpoint these are all
 * scopes of the resource, because the user may get a role later. At the token endpoint they are the scopes that the
 * user holds at that moment, in the organization that `organization_id` names, if any, and has allowed if the
 * application needs that. An organization is a resource too: `urn:signet:organization:<id>`.
 *
 * @throws {InvalidTarget} when no resource has that indicator, the user is not a member of the organization, or a
 *   third-party application asks for the account API.
 */
export async function findResourceServer(
  services: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<ResourceServer> {
  if (
    indicator === accountIndicator &&
    ctx.oidc.client &&
    applicationOf(ctx.oidc.client).isThirdParty
  )
    throw new errors.InvalidTarget();
  const {
    indicator: registered,
    ttlSeconds,
    scopes,
    ...algorithms
  } = ctx.oidc.route === 'token'
    ? await readHeldScopes(services, ctx, indicator)
    : await readDefinedScopes(services, [...ctx.oidc.requestParamScopes], indicator);
  if (ttlSeconds === null) throw new errors.InvalidTarget();
  const { algorithm, kid } = services.keys.signerFor(algorithms);
  return {
    scope: scopes.join(' '),
    audience: registered,
    accessTokenTTL: ttlSeconds,
    accessTokenFormat: 'jwt',
    // The library's type lists its algorithms, ours among them.
    jwt: { sign: { alg: algorithm as 'ES256', kid } },
  };
}

/** The scopes of a resource, and the lifetime and the algorithm of its tokens. */
export interface Offer extends ResourceAlgorithms {
  /** Its registered indicator: another than was asked for, if the resource of the sign-in is now another of its spellings. */
  readonly indicator: string;
  /** The lifetime of a token for it; null if there is no such resource. */
  readonly ttlSeconds: number | null;
  readonly scopes: readonly string[];
}

const asTheServiceSigns: ResourceAlgorithms = { signingAlg: null, signingAlgBefore: null };

/**
 * The target of a request at the token endpoint.
 *
 * @param indicator The resource that the token is for.
 */
export function requestedTarget({ oidc }: KoaContextWithOIDC, indicator: string): Target {
  const organizationId: unknown = oidc.body?.['organization_id'];
  return targetOf(indicator, typeof organizationId === 'string' ? organizationId : undefined);
}

/** The requested scopes that a resource defines, whoever may hold them. */
export async function readDefinedScopes(
  { database }: Pick<Services, 'database'>,
  scopes: readonly string[],
  indicator: string,
): Promise<Offer> {
  const asked = { in: [...scopes] };
  const target = targetOf(indicator, undefined);
  if (target.isOrganization) {
    const id = idForQuery(target.organizationId, 'Organization') ?? '';
    const [isThere, defined] = await Promise.all([
      database.prisma.organization.count({ where: { id } }),
      database.prisma.organizationScope.findMany({ where: { name: asked } }),
    ]);
    return {
      indicator,
      ...asTheServiceSigns,
      ttlSeconds: isThere ? organizationTokenTtlSeconds : null,
      scopes: defined.map(({ name }) => name),
    };
  }
  const known = textForQuery(indicator);
  const resource =
    known === null
      ? null
      : await database.prisma.resource.findUnique({
          where: { indicator: known },
          select: {
            ...{ accessTokenTtlSeconds: true, signingAlg: true, signingAlgBefore: true },
            scopes: { where: { name: asked }, select: { name: true } },
          },
        });
  const { signingAlg, signingAlgBefore } = resource ?? asTheServiceSigns;
  return {
    indicator,
    ...{ signingAlg, signingAlgBefore },
    ttlSeconds: ttlOfTarget(target, { ttlSeconds: resource?.accessTokenTtlSeconds ?? null }),
    scopes: resource?.scopes.map(({ name }) => name) ?? [],
  };
}

async function readHeldScopes(
  { database, clock }: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<Offer> {
  const { Account, Client } = ctx.oidc.entities;
  const source = grantSourceOf(ctx);
  if (!Account || !Client || !source)
    throw new Error('A token is for a user, from a code or a token.');
  const named = requestedTarget(ctx, indicator);
  const question = {
    clientId: Client.clientId,
    at: clock.now(),
    target: named,
    scopes: [...source.scopes],
  };
  const userId = Account.accountId;
  const state = await readSubjectState(database.tokens, question, { sub: userId });
  const target = asRegistered(named, state);
  const fault = faultOfOrganization(target, state);
  if (fault) throw new errors.InvalidTarget(fault);
  const request = { userId, application: applicationOf(Client) };
  const scopes = await withoutUnallowed(database.tokens, request, target.indicator, state.scopes);
  const { signingAlg, signingAlgBefore } = state;
  return {
    ...{ indicator: target.indicator, ttlSeconds: ttlOfTarget(target, state), scopes },
    ...{ signingAlg, signingAlgBefore },
  };
}
