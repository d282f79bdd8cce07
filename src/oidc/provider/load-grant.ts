import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Services } from '../../services.ts';
import {
  type Asked,
  type ConsentRequest,
  isEmpty,
  needsConsent,
  readAsked,
} from '../consent/asked.ts';
import { isStillAllowed } from '../consent/operations.ts';
import { endGrants } from './storage/adapter.ts';
import { applicationOf } from './storage/clients.ts';

type Grant = InstanceType<KoaContextWithOIDC['oidc']['provider']['Grant']>;

/** How long a refresh token can be used, in seconds. */
export const refreshTokenTtlSeconds = 14 * 24 * 60 * 60;

/** How long a family of refresh tokens can go on, in seconds. */
export const grantTtlSeconds = 365 * 24 * 60 * 60;

const askedOf = new WeakMap<KoaContextWithOIDC, Asked>();

/**
 * Whether the person has to be asked before this request gets an answer. Known after {@link loadGrant}.
 */
export function isConsentMissing(ctx: KoaContextWithOIDC): boolean {
  const asked = askedOf.get(ctx);
  if (!asked) return false;
  const hasConsented = ctx.oidc.result?.consent !== undefined;
  return !isEmpty(asked.missing) || (asked.isAskedAgain && !hasConsented);
}

/**
 * Grants an application the requested scopes: to an application of the operator all, to another those that the person
 * has allowed. The user's scopes are checked later, when a token is issued.
 *
 * @returns Undefined if the person has to be asked first.
 */
export async function loadGrant(
  services: Services,
  ctx: KoaContextWithOIDC,
): Promise<Grant | undefined> {
  const { account, client, session, provider } = ctx.oidc;
  if (!account || !client || !session) return undefined;
  const request = consentRequestOf(ctx, account.accountId);
  const asked = await readAsked(services.database.prisma, request);
  if (asked) askedOf.set(ctx, asked);
  if (isConsentMissing(ctx)) return undefined;
  const owner = { accountId: account.accountId, clientId: client.clientId };
  const grant = (await findGrant(ctx, owner)) ?? new provider.Grant(owner);
  const before = JSON.stringify(grant);
  grant.addOIDCScope([...ctx.oidc.requestParamOIDCScopes].join(' '));
  for (const [indicator, { scopes }] of Object.entries(ctx.oidc.resourceServers ?? {})) {
    const grantable = needsConsent(request.application, indicator)
      ? new Set(
          asked?.all.resources
            .find((one) => one.indicator === indicator)
            ?.scopes.map(({ name }) => name),
        )
      : scopes;
    const given = [...ctx.oidc.requestParamScopes].filter((scope) => grantable.has(scope));
    grant.addResourceScope(indicator, given.join(' '));
  }
  if (!grant.jti || JSON.stringify(grant) !== before) await grant.save();
  // The consent may have been taken back meanwhile, and the one who did so did not see this grant.
  if (asked && !isEmpty(asked.all) && !(await isStillAllowed(services, request))) {
    await endGrants(services, [grant.jti]);
    askedOf.set(ctx, { ...asked, missing: asked.all });
    return undefined;
  }
  return grant;
}

function consentRequestOf({ oidc }: KoaContextWithOIDC, userId: string): ConsentRequest {
  if (!oidc.client) throw new Error('A request is an application’s.');
  return {
    userId,
    application: applicationOf(oidc.client),
    oidcScopes: [...oidc.requestParamOIDCScopes],
    scopes: [...oidc.requestParamScopes],
    resources: Object.keys(oidc.resourceServers ?? {}),
    redirectUri: String(oidc.params?.['redirect_uri']),
    prompts: [...oidc.prompts],
  };
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
