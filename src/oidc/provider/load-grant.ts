import type { KoaContextWithOIDC } from 'oidc-provider';
import { needsConsent } from '../../auth/granting/consent.ts';
import type { Services } from '../../services.ts';
import { type Asked, type ConsentRequest, isEmpty, readAsked } from '../consent/asked.ts';
import { isStillAllowed } from '../consent/operations.ts';
import { endGrants } from './storage/adapter.ts';
import { applicationOf } from './storage/clients.ts';
import { familyTtlSeconds, prolonged, refreshTokenTtlSeconds } from './storage/grant-lifetime.ts';
import { libraryNow } from './storage/library-time.ts';

type Grant = InstanceType<KoaContextWithOIDC['oidc']['provider']['Grant']>;

const askedOf = new WeakMap<KoaContextWithOIDC, Asked>();

/**
 * Whether the person has to be asked before this request gets an answer. Known after {@link loadGrant}.
 */
export function isConsentMissing(ctx: KoaContextWithOIDC): boolean {
  const asked = askedOf.get(ctx);
  if (!asked) return false;
  const hasConsented = ctx.oidc.result?.consent !== undefined;
  return !isEmpty(asked.missing) || asked.isIntroduced || (asked.isAskedAgain && !hasConsented);
}

/**
 * Grants an application the requested scopes: all of them to an application of the operator, and to a third party's
 * those that the person has allowed. The user's scopes are checked later, when a token is issued.
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
  grant.exp = prolonged(grant) ?? grant.exp;
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
  // The consent may have been taken back meanwhile, by a request that did not see this grant.
  const isOfPerson = asked && (!isEmpty(asked.all) || request.scopes.length === 0);
  if (isOfPerson && !(await isStillAllowed(services, request))) {
    await endGrants(services, [grant.jti]);
    askedOf.set(ctx, { ...asked, missing: asked.all });
    return undefined;
  }
  if (request.scopes.length === 0) acceptWithoutScopes(grant);
  return grant;
}

/** The library takes a grant without scopes for a refusal, and asks once. A request for none gets a token with none. */
function acceptWithoutScopes(grant: Grant): void {
  Object.defineProperty(grant, 'getOIDCScopeFiltered', {
    configurable: true,
    value(this: { getOIDCScopeFiltered?: unknown }) {
      delete this.getOIDCScopeFiltered;
      return 'none';
    },
  });
}

function consentRequestOf({ oidc }: KoaContextWithOIDC, userId: string): ConsentRequest {
  if (!oidc.client) throw new Error('A request is an application’s.');
  return {
    userId,
    application: applicationOf(oidc.client),
    oidcScopes: [...oidc.requestParamOIDCScopes],
    scopes: [...oidc.requestParamScopes],
    resources: Object.keys(oidc.resourceServers ?? {}),
    redirectUri: String(oidc.params?.['redirect_uri'] ?? ''),
    redirectUris: oidc.client.redirectUris ?? [],
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
    (grant.iat ?? 0) + familyTtlSeconds - libraryNow() > refreshTokenTtlSeconds;
  return isFit ? grant : undefined;
}
