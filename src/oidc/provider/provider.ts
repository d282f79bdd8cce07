import { timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Provider, {
  type Configuration,
  interactionPolicy,
  type KoaContextWithOIDC,
  type SigningAlgorithm,
} from 'oidc-provider';
import { newJti } from '../../auth/access-token.ts';
import { toNumericDate } from '../../clock.ts';
import { signingAlgorithms } from '../../config.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import { kindOfId, newId } from '../../ids.ts';
import { digestOf } from '../../keys/digest.ts';
import { idTokenTtlSeconds } from '../../keys/signing-keys.ts';
import type { Services } from '../../services.ts';
import { sessionTtl } from '../sessions/operations.ts';
import { claimsByScope, createFindAccount, sessionPolicyOf } from './accounts.ts';
import { acrValuesSupported, stepUpCheck } from './assurance.ts';
import { recordedResult, registrationResult } from './finish-interaction.ts';
import {
  grantTtlSeconds,
  isConsentMissing,
  loadGrant,
  refreshTokenTtlSeconds,
} from './load-grant.ts';
import {
  askSignOut,
  leadOnAfterSignOut,
  showError,
  showSignedOut,
  showUnavailable,
} from './pages.ts';
import { recordSignIn } from './record-sign-in.ts';
import { prepareRequest, requestOf } from './requests.ts';
import { findResourceServer, requestedTarget } from './resource-servers.ts';
import { answerByForm, replaceSignOutForm } from './self-submitting.ts';
import { sealOneTimeToken } from './sign-in-parameters.ts';
import { createAdapter, endGrants, grantReference } from './storage/adapter.ts';
import {
  clientAuthMethods,
  consentMetadata,
  corsAllowedOrigins,
  isPublicClient,
  readLiveDigests,
} from './storage/clients.ts';

const opaqueTokenTtlSeconds = 3600;
const interactionCookie = 'signet_interaction';

/** How long a sign-in may take, in seconds. */
export const interactionTtlSeconds = 3600;

const experiencePathOf = (baseUrl: string) =>
  `${new URL(baseUrl).pathname.replace(/\/$/, '')}/experience`;

// Keyed by the signing keys: a provider is built from them, and they are the only service that changes.
const providers = new WeakMap<Services['keys'], { provider: Provider; version: number }>();

/** The OpenID provider (OpenID Connect Core), rebuilt when the signing keys have changed. */
export function getProvider(services: Services): Provider {
  const { keys } = services;
  const known = providers.get(keys);
  if (known?.version === keys.version) return known.provider;
  const { version } = keys;
  const provider = createProvider(services);
  providers.set(keys, { provider, version });
  return provider;
}

/**
 * Lets oidc-provider answer a request and send the reply.
 *
 * @param rawBody The body, if it was already read.
 */
export async function answerByProvider(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  rawBody?: string,
): Promise<void> {
  const basePath = new URL(services.baseUrl).pathname.replace(/\/$/, '');
  const answer = getProvider(services).callback();
  const prepared = prepareRequest(request, basePath, rawBody);
  // From here on oidc-provider sends the reply in every case.
  reply.hijack();
  await answer(prepared, reply.raw);
}

function createProvider(services: Services): Provider {
  const { issuer, baseUrl, log } = services;
  const provider = new (withOwnForm(services))(issuer, configure(services));

  const { protocol, host } = new URL(baseUrl);
  // Links, redirects and the cookies' `Secure` follow BASE_URL, not the headers of the request.
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });

  provider.Client.prototype.compareClientSecret = async function compare(actual: string) {
    const digest = digestOf(actual);
    const digests = await readLiveDigests(services, this.clientId);
    return digests.filter((live) => timingSafeEqual(digest, Buffer.from(live, 'hex'))).length > 0;
  };

  const { destroy } = provider.Session.prototype;
  // The library keeps grants with offline_access after a sign-out. Here a sign-out ends all grants.
  provider.Session.prototype.destroy = async function endWithGrants() {
    const grantIds = Object.values(this.authorizations ?? {}).flatMap(
      ({ grantId }) => grantId ?? [],
    );
    await endGrants(services, grantIds);
    await services.database.prisma.session.deleteMany({ where: { id: this.uid } });
    await destroy.call(this);
  };

  const unreachable = new WeakMap<KoaContextWithOIDC, unknown>();
  const report = (ctx: KoaContextWithOIDC, error: unknown) => {
    if (isUnreachable(error)) unreachable.set(ctx, error);
    else log.error({ err: error, traceId: requestOf(ctx).id }, 'a sign-in request failed');
  };
  provider.on('server_error', report);
  // Koa emits this for faults outside the library's handlers; the library's types omit it.
  (provider as EventEmitter).on('error', (error: unknown, ctx?: KoaContextWithOIDC) =>
    ctx ? report(ctx, error) : log.error({ err: error }, 'a sign-in request failed'),
  );
  provider.use(async (koa, next) => {
    const ctx = koa as KoaContextWithOIDC;
    try {
      await next();
      await replaceSignOutForm(services, ctx);
      leadOnAfterSignOut(services, ctx);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      unreachable.set(ctx, error);
    }
    if (!unreachable.has(ctx)) return;
    const err = unreachable.get(ctx);
    log.warn({ err, traceId: requestOf(ctx).id }, 'the database cannot be reached');
    showUnavailable(ctx, ctx.method === 'GET' ? `${issuer}${ctx.originalUrl}` : undefined);
  });
  return provider;
}

/** The library's provider with the page that answers by a form. It registers its own, and takes no other after that. */
const withOwnForm = (services: Services): typeof Provider =>
  class extends Provider {
    override registerResponseMode(...[name, handler]: RegisteredMode): void {
      const own: RegisteredMode[1] = (...request) => answerByForm(services, ...request);
      super.registerResponseMode(name, name === 'form_post' ? own : handler);
    }
  };

type RegisteredMode = Parameters<Provider['registerResponseMode']>;

function configure(services: Services): Configuration {
  const { keys, cipher, baseUrl } = services;
  // Each key here has one algorithm, and the library supports all of them.
  const algorithm = keys.current().algorithm as SigningAlgorithm;
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;

  return {
    adapter: createAdapter(services),
    findAccount: createFindAccount(services),
    claims: claimsByScope,
    acrValues: [...acrValuesSupported],
    // Client libraries look for the name in the id token and never call user info.
    conformIdTokenClaims: false,
    scopes: ['openid', 'offline_access'],
    responseTypes: ['code'],
    clientAuthMethods: [...clientAuthMethods],
    clientDefaults: { id_token_signed_response_alg: algorithm },
    enabledJWA: { idTokenSigningAlgValues: [...signingAlgorithms] },
    extraClientMetadata: { properties: [corsAllowedOrigins, ...consentMetadata] },
    clientBasedCORS: (_ctx, origin, client) =>
      (client[corsAllowedOrigins] as readonly string[]).includes(origin),
    jwks: keys.privateJwks(),
    pkce: { required: () => true },
    cookies: {
      keys: [cipher.deriveKey('cookies').toString('base64url')],
      names: {
        session: 'signet_session',
        interaction: interactionCookie,
        resume: 'signet_resume',
      },
      long: cookie,
      short: cookie,
    },
    interactions: {
      policy: signInPolicy(services),
      url(ctx, { uid }) {
        // The library's cookie reaches only the page's path; the Experience API needs it too.
        ctx.cookies.set(interactionCookie, uid, {
          ...cookie,
          path: experiencePathOf(baseUrl),
          maxAge: interactionTtlSeconds * 1000,
        });
        return `${baseUrl}/sign-in/${uid}`;
      },
    },
    extraParams: {
      scope: keepOfflineAccess,
      screen_hint: null,
      one_time_token: (ctx) => sealOneTimeToken(services, ctx),
    },
    async loadExistingGrant(ctx) {
      const grant = await loadGrant(services, ctx);
      await recordNewSignIn(services, ctx);
      return grant;
    },
    // Revoking an opaque token revokes its grant, and with it everything that came from the grant.
    revokeGrantPolicy: () => true,
    rotateRefreshToken: true,
    ttl: lifetimes(services),
    formats: { customizers: { jwt: customizeAccessToken(services) } },
    renderError: (ctx, out, fault) => showError(services, ctx, out, fault),
    features: features(services),
  };
}

/** How long each artefact of the library lives, in seconds. */
const lifetimes = (services: Services): Configuration['ttl'] => ({
  AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? opaqueTokenTtlSeconds,
  Grant: grantTtlSeconds,
  IdToken: idTokenTtlSeconds,
  Interaction: interactionTtlSeconds,
  RefreshToken(ctx, _token, client) {
    const rotated = ctx.oidc.entities.RotatedRefreshToken;
    // Using a refresh token that lives in a browser does not prolong it.
    return rotated && client.applicationType === 'web' && isPublicClient(client)
      ? Math.max(rotated.remainingTTL, 1)
      : refreshTokenTtlSeconds;
  },
  Session: (ctx, session) => sessionSeconds(services, ctx, session),
});

function sessionSeconds(
  { clock }: Pick<Services, 'clock'>,
  ctx: KoaContextWithOIDC,
  { accountId, loginTs }: { readonly accountId?: string; readonly loginTs?: number | undefined },
): number {
  const now = toNumericDate(clock.now());
  // A session without a user holds only the data of the sign-out page.
  return accountId ? sessionTtl(sessionPolicyOf(ctx), { signedInAt: loginTs ?? now, now }) : 3600;
}

type JwtCustomizer = NonNullable<
  NonNullable<NonNullable<Configuration['formats']>['customizers']>['jwt']
>;

/** Makes the library's access tokens the same as those of the token endpoint. */
const customizeAccessToken =
  (services: Services): JwtCustomizer =>
  async (ctx, token, { payload }) => {
    const now = services.clock.now();
    const exp = toNumericDate(now) + token.expiration;
    const jti = newJti(now);
    Object.assign(payload, { jti, exp, iat: toNumericDate(now), scope: token.scope ?? '' });
    const { organizationId } = requestedTarget(ctx, String(payload['aud']));
    if (organizationId !== undefined) payload['organization_id'] = organizationId;
    if (token.kind !== 'AccessToken') throw new Error('Client credentials are not issued here.');
    Object.assign(payload, authenticationOf(ctx));
    if (!token.grantId) throw new Error('A token is issued under a grant.');
    payload['lineage'] = [grantReference(token.grantId)];
  };

const features = (services: Services): Configuration['features'] => ({
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  introspection: {
    enabled: true,
    async allowedPolicy({ oidc }, client, token) {
      if (token.clientId === client.clientId) return true;
      // The library reads the token's client next and assumes that it exists.
      const exists =
        token.clientId !== undefined && (await oidc.provider.Client.find(token.clientId));
      return !isPublicClient(client) && Boolean(exists);
    },
  },
  revocation: {
    enabled: true,
    allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
  },
  resourceIndicators: {
    enabled: true,
    getResourceServerInfo: (ctx, indicator) => findResourceServer(services, ctx, indicator),
    // A token request without a resource gets a token for the authorized one (RFC 8707 §2.2).
    useGrantedResource: () => true,
  },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (ctx, form) => askSignOut(services, ctx, form),
    postLogoutSuccessSource: (ctx) => showSignedOut(services, ctx),
  },
});

/** How and when the token's user signed in (RFC 9068 §2.2.1). */
function authenticationOf({ oidc }: KoaContextWithOIDC) {
  const { acr, amr, authTime } =
    oidc.entities.AuthorizationCode ?? oidc.entities.RefreshToken ?? {};
  return {
    ...(acr === undefined ? {} : { acr }),
    ...(amr === undefined ? {} : { amr }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
  };
}

function signInPolicy(services: Services): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get('login')?.checks.add(stepUpCheck(services));
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check(
        'account_unavailable',
        'the account cannot be used',
        ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
      ),
    );
  // An application of the operator may send `prompt=consent`, but there is nothing to ask.
  const consent = policy.get('consent');
  consent?.checks.clear();
  consent?.checks.add(
    new interactionPolicy.Check(
      'consent_missing',
      'the person has not allowed this',
      'consent_required',
      isConsentMissing,
    ),
  );
  return policy;
}

/**
 * Restores `offline_access`, which the library removes from a request without `prompt=consent`. OpenID Connect Core §11
 * requires that unless "other conditions permitting offline access" are in place. Here they are: the application belongs
 * to the operator, or the person is asked about it like about any other scope.
 */
function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  const asked = String(ctx.query['scope'] ?? '').split(' ');
  if (!params || !asked.includes('offline_access') || !client?.grantTypeAllowed('refresh_token'))
    return;
  params['scope'] = [...ctx.oidc.requestParamScopes.add('offline_access')].join(' ');
}

async function recordNewSignIn(services: Services, ctx: KoaContextWithOIDC): Promise<void> {
  const { account, client, session, result } = ctx.oidc;
  if (!result?.login || result[recordedResult] || !account || !client || !session) return;
  const request = requestOf(ctx);
  // The session gets a TypeID here; only later do codes name it.
  const uid = kindOfId(session.uid) === 'Session' ? session.uid : newId('Session');
  session.uid = uid;
  try {
    // Before the sign-in is recorded: until then it counts as ended, and a node that dies in between leaves no session
    // that no browser has.
    await session.save(sessionSeconds(services, ctx, session));
    // The library stores it again with what follows, and sets the cookie, only if it was touched.
    session.uid = uid;
    await recordSignIn(
      { ...services, traceId: request.id },
      {
        userId: account.accountId,
        applicationId: client.clientId,
        sessionId: session.uid,
        interactionUid: ctx.oidc.entities.Interaction?.uid,
        ip: request.ip,
        userAgent: request.headers['user-agent'] ?? null,
        isRegistration: result[registrationResult] === true,
        authenticationMethods: result.login.amr ?? [],
      },
    );
  } catch (error) {
    // The library stores the session in every case, and no session may begin without its event.
    await session.destroy();
    throw error;
  }
}
