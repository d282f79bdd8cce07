import { timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Provider, {
  type Configuration,
  interactionPolicy,
  type KoaContextWithOIDC,
  type SigningAlgorithm,
} from 'oidc-provider';
import { digestSecret } from '../applications/secret.ts';
import { newJti } from '../auth/access-token.ts';
import type { Services } from '../auth/context.ts';
import { toNumericDate } from '../clock.ts';
import { signingAlgorithms } from '../config.ts';
import { idTokenTtlSeconds } from '../keys/signing-keys.ts';
import { claimsByScope, createFindAccount } from './accounts.ts';
import { createAdapter, rememberJwt } from './adapter.ts';
import { corsAllowedOrigins, readLiveDigests } from './clients.ts';
import { grantTtlSeconds, loadGrant, refreshTokenTtlSeconds } from './grants.ts';
import { askSignOut, showError, showSignedOut } from './pages.ts';
import { recordSignIn } from './record-sign-in.ts';
import { prepareRequest, requestOf } from './requests.ts';
import { findResourceServer, requestedTarget } from './resource-servers.ts';

const opaqueTokenTtlSeconds = 3600;

// Keyed by the keys: they are what a provider is built of, and the one part of the services that changes.
const providers = new WeakMap<Services['keys'], { provider: Provider; version: number }>();

/** The OpenID provider (OpenID Connect Core), made anew when the signing keys have changed. */
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
 * Has oidc-provider answer a request, and leaves the reply to it.
 *
 * @param rawBody The body where it was read already.
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
  // From here on it answers whatever happens.
  reply.hijack();
  await answer(prepared, reply.raw);
}

function createProvider(services: Services): Provider {
  const { issuer, baseUrl, log } = services;
  const provider = new Provider(issuer, configure(services));

  const { protocol, host } = new URL(baseUrl);
  // Links, redirects and the cookies' `Secure` follow BASE_URL and not the headers of whoever asks.
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });

  provider.Client.prototype.compareClientSecret = async function compare(actual: string) {
    const digest = digestSecret(actual);
    const digests = await readLiveDigests(services, this.clientId);
    return digests.filter((live) => timingSafeEqual(digest, Buffer.from(live, 'hex'))).length > 0;
  };

  const report = (ctx: KoaContextWithOIDC, error: unknown) =>
    log.error({ err: error, traceId: requestOf(ctx).id }, 'a sign-in request failed');
  provider.on('server_error', report);
  // Koa's own event, for what breaks outside the library's handlers; the library's types leave it out.
  (provider as EventEmitter).on('error', (error: unknown, ctx?: KoaContextWithOIDC) =>
    ctx ? report(ctx, error) : log.error({ err: error }, 'a sign-in request failed'),
  );
  return provider;
}

function configure(services: Services): Configuration {
  const { keys, cipher, baseUrl } = services;
  // A key of ours is for one algorithm, and all of ours are the library's too.
  const algorithm = keys.current().algorithm as SigningAlgorithm;
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;

  return {
    adapter: createAdapter(services),
    findAccount: createFindAccount(services),
    claims: claimsByScope,
    scopes: ['openid', 'offline_access'],
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { id_token_signed_response_alg: algorithm },
    enabledJWA: { idTokenSigningAlgValues: [...signingAlgorithms] },
    extraClientMetadata: { properties: [corsAllowedOrigins] },
    clientBasedCORS: (_ctx, origin, client) =>
      (client[corsAllowedOrigins] as readonly string[]).includes(origin),
    jwks: keys.privateJwks(),
    pkce: { required: () => true },
    cookies: {
      keys: [cipher.deriveKey('cookies').toString('base64url')],
      names: {
        session: 'signet_session',
        interaction: 'signet_interaction',
        resume: 'signet_resume',
      },
      long: cookie,
      short: cookie,
    },
    interactions: {
      policy: signInPolicy(),
      url: (_ctx, interaction) => `${baseUrl}/sign-in/${interaction.uid}`,
    },
    extraParams: { scope: keepOfflineAccess },
    async loadExistingGrant(ctx) {
      const grant = await loadGrant(ctx);
      await recordNewSignIn(services, ctx);
      return grant;
    },
    rotateRefreshToken: true,
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? opaqueTokenTtlSeconds,
      Grant: grantTtlSeconds,
      IdToken: idTokenTtlSeconds,
      Interaction: 3600,
      RefreshToken(ctx, _token, client) {
        const rotated = ctx.oidc.entities.RotatedRefreshToken;
        // One that lives in a browser is not prolonged by being used.
        return rotated && client.applicationType === 'web' && client.clientAuthMethod === 'none'
          ? Math.max(rotated.remainingTTL, 1)
          : refreshTokenTtlSeconds;
      },
      Session: 14 * 24 * 60 * 60,
    },
    formats: {
      customizers: {
        async jwt(ctx, token, { payload }) {
          const now = services.clock.now();
          const exp = toNumericDate(now) + token.expiration;
          const jti = newJti(now);
          Object.assign(payload, { jti, exp, iat: toNumericDate(now), scope: token.scope ?? '' });
          const { organizationId } = requestedTarget(ctx, String(payload['aud']));
          if (organizationId !== undefined) payload['organization_id'] = organizationId;
          if (token.kind !== 'AccessToken')
            throw new Error('Client credentials are not issued here.');
          const { grantId, accountId, clientId } = token;
          if (!grantId || !clientId)
            throw new Error('A token is issued to a client, under a grant.');
          await rememberJwt(services, {
            jti,
            grantId,
            accountId,
            clientId,
            expiresAt: new Date(exp * 1000),
          });
        },
      },
    },
    renderError: (ctx, out) => showError(ctx, out),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      introspection: {
        enabled: true,
        async allowedPolicy({ oidc }, client, token) {
          if (token.clientId === client.clientId) return true;
          // The library reads the token's client next and takes for granted that there is one.
          const exists =
            token.clientId !== undefined && (await oidc.provider.Client.find(token.clientId));
          return client.clientAuthMethod !== 'none' && Boolean(exists);
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (ctx, indicator) => findResourceServer(services, ctx, indicator),
        // A token request that names no resource gets a token for the one that was authorized (RFC 8707 §2.2).
        useGrantedResource: () => true,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: askSignOut,
        postLogoutSuccessSource: showSignedOut,
      },
    },
  };
}

function signInPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check(
        'account_unavailable',
        'the account cannot be used',
        ({ oidc }) => oidc.session?.accountId !== undefined && oidc.account === undefined,
      ),
    );
  // Applications are the operator's own: `prompt=consent` is understood, and there is nothing to ask.
  policy.get('consent')?.checks.clear();
  return policy;
}

/**
 * Puts `offline_access` back, which the library takes out of a request without `prompt=consent`. OpenID Connect Core
 * §11 wants that unless "other conditions permitting offline access" are in place: here, that applications are the
 * operator's own.
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
  if (!result?.login || !account || !client || !session) return;
  const request = requestOf(ctx);
  try {
    await recordSignIn(
      { ...services, traceId: request.id },
      {
        userId: account.accountId,
        applicationId: client.clientId,
        sessionId: session.uid,
        ip: request.ip,
        userAgent: request.headers['user-agent'] ?? null,
      },
    );
  } catch (error) {
    // The library stores the session whatever happens, and none is to begin without its event.
    await session.destroy();
    throw error;
  }
}
