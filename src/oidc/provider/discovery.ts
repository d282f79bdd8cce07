import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { proofAlgorithms } from '../../auth/dpop/proof.ts';
import { signingAlgorithms } from '../../config.ts';
import { clientAlgorithms } from '../../keys/public-keys.ts';
import {
  readServiceSettings,
  type ServiceSettings,
  withDefaults,
} from '../../service-settings/settings.ts';
import type { Services } from '../../services.ts';
import { delegatedGrantTypes, grants } from '../token/grants.ts';
import { idJagType } from '../token/subject/token-types.ts';
import { claimsByScope, oidcScopes } from './accounts.ts';
import { acrValuesSupported } from './assurance.ts';
import { clientAuthMethods } from './storage/clients.ts';

// The published keys may be this old: another node signs with its new key at once.
const keysFreshMs = 1_000;
// Caches must not give the old set for long to a verifier that meets a new key.
const maxAgeSeconds = 15;

/** The provider's metadata (OpenID Connect Discovery 1.0 §3, RFC 8414 §2). */
function providerMetadata(
  { issuer, keys }: Pick<Services, 'issuer' | 'keys'>,
  { clientRegistration }: Pick<ServiceSettings, 'clientRegistration'>,
) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    pushed_authorization_request_endpoint: `${issuer}/request`,
    require_pushed_authorization_requests: false,
    device_authorization_endpoint: `${issuer}/device/auth`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/session/end`,
    introspection_endpoint: `${issuer}/token/introspection`,
    revocation_endpoint: `${issuer}/token/revocation`,
    scopes_supported: oidcScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    grant_types_supported: [...delegatedGrantTypes, ...grants.keys()],
    // draft-ietf-oauth-identity-chaining, draft-ietf-oauth-identity-assertion-authz-grant: it gives them, and takes them.
    identity_chaining_requested_token_types_supported: [idJagType],
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    acr_values_supported: acrValuesSupported,
    subject_types_supported: ['public'],
    // The default first. An application may choose any other, whose key is made then.
    id_token_signing_alg_values_supported: [
      ...new Set([keys.current().algorithm, ...signingAlgorithms]),
    ],
    token_endpoint_auth_methods_supported: clientAuthMethods,
    token_endpoint_auth_signing_alg_values_supported: clientAlgorithms,
    introspection_endpoint_auth_methods_supported: clientAuthMethods.filter(
      (method) => method !== 'none',
    ),
    introspection_endpoint_auth_signing_alg_values_supported: clientAlgorithms,
    revocation_endpoint_auth_methods_supported: clientAuthMethods,
    revocation_endpoint_auth_signing_alg_values_supported: clientAlgorithms,
    dpop_signing_alg_values_supported: proofAlgorithms,
    code_challenge_methods_supported: ['S256'],
    claim_types_supported: ['normal'],
    claims_supported: [...Object.values(claimsByScope).flat(), 'iss', 'aud', 'exp', 'iat'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ...(clientRegistration.dynamic === 'OFF'
      ? {}
      : { registration_endpoint: `${issuer}/register` }),
    ...(clientRegistration.metadataDocuments === 'OFF'
      ? {}
      : { client_id_metadata_document_supported: true }),
  };
}

/** Mounts the discovery documents and the key set: public, for scripts of every origin. */
export function mountDiscovery(http: FastifyInstance, services: Services): void {
  const { keys, clock, database, log } = services;
  let freshUntil = 0;
  let settings = withDefaults({});

  async function readSettings(): Promise<ServiceSettings> {
    try {
      settings = await readServiceSettings(database.prisma);
    } catch (error) {
      log.warn({ err: error }, 'the settings could not be read again');
    }
    return settings;
  }

  for (const path of [
    '/oidc/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/oidc',
    '/.well-known/openid-configuration/oidc',
  ]) {
    http.get(path, { config: { turn: 'none' } }, async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .send(providerMetadata(services, await readSettings())),
    );
  }

  const sendKeys = async (_request: FastifyRequest, reply: FastifyReply) => {
    const now = clock.now().getTime();
    if (now >= freshUntil) {
      freshUntil = now + keysFreshMs;
      try {
        await keys.reload();
      } catch (error) {
        log.warn({ err: error }, 'the signing keys could not be read again');
      }
    }
    return reply
      .header('access-control-allow-origin', '*')
      .header('cache-control', `public, max-age=${maxAgeSeconds}`)
      .type('application/jwk-set+json')
      .send(JSON.stringify(keys.jwks()));
  };
  // The second is where many gateways look without asking.
  for (const path of ['/oidc/jwks', '/oidc/.well-known/jwks.json'])
    http.get(path, { config: { turn: 'none' } }, sendKeys);
}
