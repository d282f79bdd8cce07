import { errors, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { readSubjectState } from './grant-state.ts';
import { textForQuery } from './target.ts';

/**
 * What a sign-in may ask of a registered resource (RFC 8707 §2). At the authorization endpoint that is every scope the
 * resource has, for a user may be given a role later; at the token endpoint it is what the user holds at that moment.
 *
 * @throws {InvalidTarget} when no resource has that indicator.
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

async function readDefinedScopes(
  { database }: Services,
  ctx: KoaContextWithOIDC,
  indicator: string,
): Promise<Offer> {
  const known = textForQuery(indicator);
  const resource =
    known === null
      ? null
      : await database.prisma.resource.findUnique({
          where: { indicator: known },
          select: {
            accessTokenTtlSeconds: true,
            scopes: {
              where: { name: { in: [...ctx.oidc.requestParamScopes] } },
              select: { name: true },
            },
          },
        });
  return {
    ttlSeconds: resource?.accessTokenTtlSeconds ?? null,
    scopes: resource?.scopes.map(({ name }) => name) ?? [],
  };
}

function readHeldScopes(
  { database, clock }: Services,
  { oidc }: KoaContextWithOIDC,
  indicator: string,
): Promise<Offer> {
  const { AuthorizationCode, RefreshToken, Account, Client } = oidc.entities;
  const source = AuthorizationCode ?? RefreshToken;
  if (!Account || !Client || !source)
    throw new Error('A token is for a user, from a code or a token.');
  const question = {
    clientId: Client.clientId,
    at: clock.now(),
    target: { indicator, organizationId: undefined, isOrganization: false },
    scopes: [...source.scopes],
  };
  return readSubjectState(database.tokens, question, { sub: Account.accountId });
}
