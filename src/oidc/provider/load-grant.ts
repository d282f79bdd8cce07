import type { KoaContextWithOIDC } from 'oidc-provider';

type Grant = InstanceType<KoaContextWithOIDC['oidc']['provider']['Grant']>;

/** How long a refresh token can be used, in seconds. */
export const refreshTokenTtlSeconds = 14 * 24 * 60 * 60;

/** How long a family of refresh tokens can go on, in seconds. */
export const grantTtlSeconds = 365 * 24 * 60 * 60;

/**
 * Grants an application the requested scopes. Applications belong to the operator, so nobody is asked for consent. The
 * user's scopes are checked later, when a token is issued.
 */
export async function loadGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { account, client, session, provider } = ctx.oidc;
  if (!account || !client || !session) return undefined;
  const owner = { accountId: account.accountId, clientId: client.clientId };
  const grant = (await findGrant(ctx, owner)) ?? new provider.Grant(owner);
  const before = JSON.stringify(grant);
  grant.addOIDCScope([...ctx.oidc.requestParamOIDCScopes].join(' '));
  for (const [indicator, { scopes }] of Object.entries(ctx.oidc.resourceServers ?? {})) {
    const asked = [...ctx.oidc.requestParamScopes].filter((scope) => scopes.has(scope));
    grant.addResourceScope(indicator, asked.join(' '));
  }
  if (!grant.jti || JSON.stringify(grant) !== before) await grant.save();
  return grant;
}

async function findGrant(
  { oidc: { session, provider } }: KoaContextWithOIDC,
  owner: { accountId: string; clientId: string },
): Promise<Grant | undefined> {
  const grantId = session?.grantIdFor(owner.clientId);
  const grant = grantId ? await provider.Grant.find(grantId) : undefined;
  // A refresh token must not outlive its grant.
  const isFit =
    grant?.accountId === owner.accountId &&
    grant.clientId === owner.clientId &&
    grant.remainingTTL > refreshTokenTtlSeconds;
  return isFit ? grant : undefined;
}
