import type { EventEmitter } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeJwt } from 'jose';
import Provider, {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  type SigningAlgorithm,
} from 'oidc-provider';
import { iatOf, lineageClaims, newJti } from '../../auth/access-token.ts';
import { needsNonce, nonceSecret } from '../../auth/dpop/nonce.ts';
import { proofAlgorithms } from '../../auth/dpop/proof.ts';
import { toNumericDate } from '../../clock.ts';
import { signingAlgorithms } from '../../config.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import { kindOfId, newId } from '../../ids.ts';
import { idTokenTtlSeconds } from '../../keys/signing-keys.ts';
import { noteActive } from '../../metrics/active-people.ts';
import { counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { endBrowserSession, sessionTtl } from '../sessions/operations.ts';
import { isAuthenticatedAs } from '../token/authenticated-client.ts';
import { reportGrantError } from '../token/explanation/refused.ts';
import { delegatedGrantTypes } from '../token/grants.ts';
import { claimsByScope, createFindAccount, sessionPolicyOf } from './accounts.ts';
import { acrValuesSupported, stepUpCheck } from './assurance.ts';
import { isWaiting, noteAnswer } from './device/answers.ts';
import { deviceCodeTtlSeconds, pollIntervalSeconds } from './device/grant.ts';
import { askUserCode, confirmUserCode, replaceCodeForm, showConnected } from './device/pages.ts';
import { endingOf } from './ending.ts';
import { recordedResult, registrationResult } from './finish-interaction.ts';
import { isConsentMissing, loadGrant } from './load-grant.ts';
import {
  askSignOut,
  leadOnAfterSignOut,
  showError,
  showSignedOut,
  showUnavailable,
} from './pages.ts';
import { recordSignIn } from './record-sign-in.ts';
import { grantSourceOf, prepareRequest, requestOf } from './requests.ts';
import { findResourceServer, requestedTarget } from './resource-servers.ts';
import { answerByForm, replaceSignOutForm } from './self-submitting.ts';
import { oneTimeTokenCheck, sealOneTimeToken } from './sign-in-parameters.ts';
import { createAdapter, grantReference } from './storage/adapter.ts';
import {
  consentMetadata,
  corsAllowedOrigins,
  isFapi,
  isPublicClient,
  isThirdParty,
  libraryAuthMethods,
  ownId,
  requirePkce,
  securityProfile,
} from './storage/clients.ts';
import {
  grantTtlSeconds,
  interactionTtlSeconds,
  refreshTokenTtlSeconds,
} from './storage/grant-lifetime.ts';
import { fromLibrary } from './storage/library-time.ts';
import { noteUse } from './storage/note-use.ts';

const opaqueTokenTtlSeconds = 3600;
const interactionCookie = 'signet_interaction';

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

  // Every client has authenticated before the library is asked.
  provider.Client.prototype.compareClientSecret = async function compare() {
    return Provider.ctx !== undefined && isAuthenticatedAs(requestOf(Provider.ctx), this.clientId);
  };

  nameClientsAsTheyDo(provider);
  keepTime(services, provider);
  const { destroy } = provider.Session.prototype;
  // The library keeps grants with offline_access after a sign-out. Here a sign-out ends all grants.
  provider.Session.prototype.destroy = async function endWithGrants() {
    const grantIds = Object.values(this.authorizations ?? {}).flatMap(
      ({ grantId }) => grantId ?? [],
    );
    const { uid: id, accountId: userId } = this;
    const { reason, ...caller } = endingOf(userId, this.state?.['clientId'] as string | undefined);
    await endBrowserSession({ ...services, ...caller }, { id, userId, grantIds }, reason);
    await destroy.call(this);
  };

  const unreachable = new WeakMap<KoaContextWithOIDC, unknown>();
  const report = (ctx: KoaContextWithOIDC, error: unknown) => {
    if (isUnreachable(error)) unreachable.set(ctx, error);
    else log.error({ err: error, traceId: requestOf(ctx).id }, 'a sign-in request failed');
  };
  provider.on('server_error', report);
  const tokenRequests = counterOf(services.metrics, 'signet_token_requests_total');
  const countTokenRequest = ({ oidc: { params } }: KoaContextWithOIDC, outcome: string) => {
    const asked = String(params?.['grant_type']);
    tokenRequests.inc({ grant: delegatedGrantTypes.has(asked) ? asked : 'unknown', outcome });
  };
  provider.on('grant.success', (ctx) => {
    countTokenRequest(ctx, 'granted');
    const { account } = ctx.oidc;
    if (account) noteActive(services.metrics, account.accountId);
  });
  provider.on('grant.error', (ctx, error) => {
    countTokenRequest(ctx, error.error);
    noteAnswer(requestOf(ctx), error);
    if (!isWaiting(error)) reportGrantError(services, ctx, error);
  });
  // Koa emits this for faults outside the library's handlers; the library's types omit it.
  (provider as EventEmitter).on('error', (error: unknown, ctx?: KoaContextWithOIDC) =>
    ctx ? report(ctx, error) : log.error({ err: error }, 'a sign-in request failed'),
  );
  provider.on('device_authorization.success', (_ctx, answer) => {
    const address = `${baseUrl}/device`;
    Object.assign(answer, {
      verification_uri: address,
      verification_uri_complete: `${address}?user_code=${answer['user_code']}`,
      interval: pollIntervalSeconds,
    });
  });
  provider.use(async (koa, next) => {
    const ctx = koa as KoaContextWithOIDC;
    try {
      await next();
      await replaceSignOutForm(services, ctx);
      await replaceCodeForm(services, ctx);
      leadOnAfterSignOut(services, ctx);
      answerRevocation(ctx);
      answerTokens(ctx);
      answerIntrospection(services, ctx);
      await noteUse(services, ctx);
      // The library gives nonces where none are asked for, and would refuse them once they are old.
      if (ctx.response.get('DPoP-Nonce') && !(await needsNonce(services))) ctx.remove('DPoP-Nonce');
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

/** Answers a revocation in JSON, as some clients read every answer; the library's is empty. */
function answerRevocation(ctx: KoaContextWithOIDC): void {
  if (ctx.oidc?.route !== 'revocation' || ctx.status !== 200) return;
  ctx.set('cache-control', 'no-store');
  ctx.body = {};
}

/**
 * Names in `scope` all that was granted (RFC 6749 §5.1): the library names the token's scopes, and a token for a
 * resource has the resource's alone.
 */
function answerTokens(ctx: KoaContextWithOIDC): void {
  if (ctx.oidc?.route !== 'token' || ctx.status !== 200) return;
  const { Grant: grant } = ctx.oidc.entities;
  const source = grantSourceOf(ctx);
  if (!grant || !source) return;
  const asked = ctx.oidc.params?.['scope'] ? ctx.oidc.requestParamScopes : source.scopes;
  const answer = ctx.body as { scope?: string };
  const granted = `${grant.getOIDCScopeFiltered(asked)} ${answer.scope ?? ''}`.split(' ');
  answer.scope = [...new Set(granted)].filter(Boolean).join(' ');
}

/** Tells when a token was issued and ends by the service's clock. */
function answerIntrospection({ clock }: Pick<Services, 'clock'>, ctx: KoaContextWithOIDC): void {
  if (ctx.oidc?.route !== 'introspection' || ctx.status !== 200) return;
  ctx.body = fromLibrary(clock, ctx.body as object);
}

/** Makes id tokens name an application by the id that it knows: the URL of its metadata document, if it has one. */
function nameClientsAsTheyDo({ IdToken }: Provider): void {
  const asItself = (client: Client | undefined) =>
    client && typeof client[ownId] === 'string'
      ? (Object.create(client, { clientId: { value: client[ownId] } }) as Client)
      : client;
  // The library's types omit both.
  const own = IdToken as unknown as {
    prototype: { client?: Client | undefined; issue: (...given: unknown[]) => Promise<string> };
    validate: (token: string, client: Client | undefined) => Promise<unknown>;
  };
  const { issue } = own.prototype;
  own.prototype.issue = function issueTo(...given) {
    this.client = asItself(this.client);
    return issue.apply(this, given);
  };
  const { validate } = own;
  own.validate = (token, client) => validate.call(own, token, asItself(client));
}

/** Makes the library measure `max_age`, and issue id tokens, by the service's clock. */
function keepTime({ clock }: Pick<Services, 'clock'>, { IdToken, Session }: Provider): void {
  Session.prototype.past = function past(age) {
    const { loginTs } = this;
    return loginTs === undefined || toNumericDate(clock.now()) - loginTs > Number(age);
  };
  // The library's types omit it.
  const { prototype } = IdToken as unknown as {
    prototype: {
      set: (claim: string, value: unknown) => void;
      issue: (as: { use: string; expiresAt?: number }) => Promise<string>;
    };
  };
  const { issue } = prototype;
  prototype.issue = function issueNow(as) {
    if (as.use !== 'idtoken') return issue.call(this, as);
    const now = clock.now();
    this.set('iat', iatOf(now));
    this.set('jti', newJti(now));
    return issue.call(this, { ...as, expiresAt: toNumericDate(now) + idTokenTtlSeconds });
  };
}

type Client = NonNullable<KoaContextWithOIDC['oidc']['client']>;

/** The library's provider with our page for `form_post`. The library registers its own page, and no other after it. */
const withOwnForm = (services: Services): typeof Provider =>
  class extends Provider {
    override registerResponseMode(...[name, handler]: RegisteredMode): void {
      const ownMode: RegisteredMode[1] = (...request) => answerByForm(services, ...request);
      super.registerResponseMode(name, name === 'form_post' ? ownMode : handler);
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
    clientAuthMethods: [...libraryAuthMethods],
    clientDefaults: { id_token_signed_response_alg: algorithm },
    enabledJWA: {
      idTokenSigningAlgValues: [...signingAlgorithms],
      dPoPSigningAlgValues: [...proofAlgorithms],
    },
    extraClientMetadata: {
      properties: [corsAllowedOrigins, securityProfile, requirePkce, ownId, ...consentMetadata],
    },
    clientBasedCORS: (_ctx, origin, client) =>
      (client[corsAllowedOrigins] as readonly string[]).includes(origin),
    jwks: keys.privateJwks(),
    pkce: { required: (_ctx, client) => client[requirePkce] !== false },
    cookies: {
      keys: cipher.passingKeys('cookies').map((key) => key.toString('base64url')),
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
      audience: assertOneTarget,
      scope(ctx) {
        keepOfflineAccess(ctx);
        assertAsksForSomething(ctx);
      },
      screen_hint: null,
      one_time_token: (ctx) => sealOneTimeToken(services, ctx),
    },
    async loadExistingGrant(ctx) {
      assertRedirectUri(ctx);
      const grant = await loadGrant(services, ctx);
      await recordNewSignIn(services, ctx);
      return grant;
    },
    // Revoking an opaque token revokes its grant, and with it everything that came from the grant.
    revokeGrantPolicy: () => true,
    // FAPI 2.0 §5.3.2.1: their key protects them, and a lost answer must not end a sign-in.
    rotateRefreshToken: ({ oidc: { client } }) => !isFapi(client),
    ttl: lifetimes(services),
    formats: { customizers: { jwt: customizeAccessToken(services) } },
    renderError: (ctx, out, fault) => showError(services, ctx, out, fault),
    features: features(services),
  };
}

/** How long each artefact of the library lives, in seconds. */
const lifetimes = (services: Services): Configuration['ttl'] => ({
  AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? opaqueTokenTtlSeconds,
  DeviceCode: deviceCodeTtlSeconds,
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

/**
 * Makes sure that nobody is sent to an address that the application lost while they were signing in. The library checks
 * it before that alone.
 *
 * @throws {InvalidRedirectUri}
 */
function assertRedirectUri({ oidc: { params, client } }: KoaContextWithOIDC): void {
  const uri = params?.['redirect_uri'];
  if (typeof uri === 'string' && !client?.redirectUriAllowed(uri))
    throw new errors.InvalidRedirectUri();
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
    Object.assign(payload, { jti, exp, iat: iatOf(now), scope: token.scope ?? '' });
    const { organizationId } = requestedTarget(ctx, String(payload['aud']));
    if (organizationId !== undefined) payload['organization_id'] = organizationId;
    if (token.kind !== 'AccessToken') throw new Error('Client credentials are not issued here.');
    Object.assign(payload, authenticationOf(ctx));
    if (!token.grantId) throw new Error('A token is issued under a grant.');
    Object.assign(payload, lineageClaims([grantReference(token.grantId)]));
  };

const features = (services: Services): Configuration['features'] => ({
  devInteractions: { enabled: false },
  // The same proofs are checked before, once and with this service's clock; the library binds what it issues.
  dPoP: { enabled: true, allowReplay: true, nonceSecret: nonceSecret(services) },
  pushedAuthorizationRequests: { enabled: true },
  deviceFlow: {
    enabled: true,
    // Twenty consonants, so that no code is a word.
    charset: 'base-20',
    mask: '****-****',
    deviceInfo: () => ({}),
    userCodeInputSource: (ctx, _form, fault, failure) => askUserCode(services, ctx, fault, failure),
    userCodeConfirmSource: (ctx, _form, { clientId, clientName = clientId }, _info, code) =>
      confirmUserCode(services, ctx, clientName, code),
    successSource: (ctx) => showConnected(services, ctx),
  },
  introspection: {
    enabled: true,
    async allowedPolicy({ oidc }, client, token) {
      if (token.clientId === client.clientId) return true;
      // The library's tokens are for user info alone, and refresh tokens for their own application: no third party
      // asks.
      if (isThirdParty(client)) return false;
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
function authenticationOf(ctx: KoaContextWithOIDC) {
  const { acr, amr, authTime } = grantSourceOf(ctx) ?? {};
  return {
    ...(acr === undefined ? {} : { acr }),
    ...(amr === undefined ? {} : { amr }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
  };
}

function signInPolicy(services: Services): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get('login')?.checks.add(stepUpCheck(services));
  policy.get('login')?.checks.add(oneTimeTokenCheck(services));
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
 * requires that unless "other conditions permitting offline access" are in place. Here they are: the application
 * belongs to the operator, or the person is asked about it like about any other scope.
 */
function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  const asked = askedScope(ctx).split(' ');
  if (!params || !asked.includes('offline_access') || !client?.grantTypeAllowed('refresh_token'))
    return;
  params['scope'] = [...ctx.oidc.requestParamScopes.add('offline_access')].join(' ');
}

/**
 * Refuses a request that nothing could be granted for, before the person signs in.
 *
 * @throws {InvalidScope} when it names no resource and no scope that is known here.
 */
function assertAsksForSomething(ctx: KoaContextWithOIDC): void {
  const { params } = ctx.oidc;
  if (!params?.['resource'] && !params?.['scope'])
    throw new errors.InvalidScope(
      'nothing that is asked for is known here: scope needs openid, or the request a resource',
      askedScope(ctx),
    );
}

/**
 * Makes sure that `audience`, which stands for a missing `resource`, names no other beside it.
 *
 * @throws {InvalidTarget}
 */
function assertOneTarget({ oidc: { params } }: KoaContextWithOIDC, audience: unknown): void {
  if (audience && [params?.['resource']].flat().some((resource) => resource !== audience))
    throw new errors.InvalidTarget("audience is not the resource's indicator");
}

/** The `scope` as the application sent it: in the URL, or when it pushed its request. */
function askedScope(ctx: KoaContextWithOIDC): string {
  const { body, entities } = ctx.oidc;
  const pushed = entities.PushedAuthorizationRequest?.request;
  const sent = pushed === undefined ? { ...ctx.query, ...body } : decodeJwt(pushed);
  return String(sent['scope'] ?? '');
}

async function recordNewSignIn(services: Services, ctx: KoaContextWithOIDC): Promise<void> {
  const { account, client, session, result } = ctx.oidc;
  if (!result?.login || result[recordedResult] || !account || !client || !session) return;
  // The session gets a TypeID here; only later do codes name it.
  const uid = kindOfId(session.uid) === 'Session' ? session.uid : newId('Session');
  session.uid = uid;
  try {
    // Stored before the sign-in is recorded: until then the session counts as ended. If the node dies in between, no
    // session is left that no browser knows.
    await session.save(sessionSeconds(services, ctx, session));
    // The library stores it again with what follows, and sets the cookie, only if it was touched.
    session.uid = uid;
    await recordSignIn(
      { ...services, ...callOf(requestOf(ctx)) },
      {
        userId: account.accountId,
        applicationId: client.clientId,
        sessionId: session.uid,
        interactionUid: ctx.oidc.entities.Interaction?.uid,
        isRegistration: result[registrationResult] === true,
        authenticationMethods: result.login.amr ?? [],
      },
    );
  } catch (error) {
    // The library stores the session even after an error, and no session may begin without its event.
    await session.destroy();
    throw error;
  }
}
