import { errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { readSubjectState } from './grant-state.ts';
import {
  idForQuery,
  organizationIndicatorPrefix,
  organizationTokenTtlSeconds,
  type Target,
  targetOf,
  textForQuery,
} from './target.ts';

/**
 * What a sign-in may ask of a registered resource (RFC 8707 §2). At the authorization endpoint that is every scope the
 * resource has, for a user may be given a role later; at the token endpoint it is what the user holds at that moment,
 * in the organization that `organization_id` names, if it names one. An organization is a resource too, under
 * `urn:signet:organization:<id>`.
 *
 * @throws {InvalidTarget} when no resource has that indicator, or the user is no member of the organization.
 */
export async function findResourceServer(
  services: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<ResourceServer> {
  const { ttlSeconds, scopes } =
    ctx.oidc.route === 'token'
      ? await readHeldScopes(services, ctx, indicator)
      : await readDefinedScopes(services, ctx, indicator);
  if (ttlSeconds === null) throw new errors.InvalidTarget();
  const { algorithm, kid } = services.keys.current();
  return {
    scope: scopes.join(' '),
    audience: indicator,
    accessTokenTTL: ttlSeconds,
    accessTokenFormat: 'jwt',
    // The library's type lists the algorithms; ours are among them.
    jwt: { sign: { alg: algorithm as 'ES256', kid } },
  };
}

interface Offer {
  readonly ttlSeconds: number | null;
  readonly scopes: readonly string[];
}

/**
 * What a request at the token endpoint asks a token for.
 *
 * @param indicator The resource that the token is for.
 */
export function requestedTarget({ oidc }: KoaContextWithOIDC, indicator: string): Target {
  const organizationId: unknown = oidc.body?.['organization_id'];
  return targetOf(indicator, typeof organizationId === 'string' ? organizationId : undefined);
}

async function readDefinedScopes(
  { database }: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<Offer> {
  const asked = { in: [...ctx.oidc.requestParamScopes] };
  const target = targetOf(indicator, undefined);
  if (target.isOrganization) {
    const id = idForQuery(target.organizationId, 'Organization') ?? '';
    const [isThere, scopes] = await Promise.all([
      database.prisma.organization.count({ where: { id } }),
      database.prisma.organizationScope.findMany({ where: { name: asked } }),
    ]);
    return {
      ttlSeconds: isThere ? organizationTokenTtlSeconds : null,
      scopes: scopes.map(({ name }) => name),
    };
  }
  const known = textForQuery(indicator);
  const resource =
    known === null
      ? null
      : await database.prisma.resource.findUnique({
          where: { indicator: known },
          select: {
            accessTokenTtlSeconds: true,
            scopes: { where: { name: asked }, select: { name: true } },
          },
        });
  return {
    ttlSeconds: resource?.accessTokenTtlSeconds ?? null,
    scopes: resource?.scopes.map(({ name }) => name) ?? [],
  };
}

async function readHeldScopes(
  { database, clock }: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<Offer> {
  const { AuthorizationCode, RefreshToken, Account, Client } = ctx.oidc.entities;
  const source = AuthorizationCode ?? RefreshToken;
  if (!Account || !Client || !source)
    throw new Error('A token is for a user, from a code or a token.');
  const target = requestedTarget(ctx, indicator);
  const question = {
    clientId: Client.clientId,
    at: clock.now(),
    target,
    scopes: [...source.scopes],
  };
  const state = await readSubjectState(database.tokens, question, { sub: Account.accountId });
  const { organizationId, isOrganization } = target;
  if (isOrganization && indicator !== `${organizationIndicatorPrefix}${organizationId}`) {
    throw new errors.InvalidTarget('resource and organization_id name different organizations');
  }
  if (organizationId !== undefined && !state.isMember) {
    throw new errors.InvalidTarget('the user is not a member of the organization');
  }
  return {
    ttlSeconds: target.isOrganization ? organizationTokenTtlSeconds : state.ttlSeconds,
    scopes: state.scopes,
  };
}
