import type { FastifyInstance } from 'fastify';
import { signingAlgorithms } from '../../config.ts';
import type { Services } from '../../services.ts';
import { delegatedGrantTypes, grants } from '../token/grants.ts';
import { claimsByScope, oidcScopes } from './accounts.ts';
import { acrValuesSupported } from './assurance.ts';
import { clientAuthMethods } from './storage/clients.ts';

// The published keys may be this old: another node signs with its new key at once.
const keysFreshMs = 1_000;
// Caches must not give the old set for long to a verifier that meets a new key.
const maxAgeSeconds = 15;

/** The provider's metadata (OpenID Connect Discovery 1.0 §3, RFC 8414 §2). */
export function providerMetadata({ issuer, keys }: Services) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/session/end`,
    introspection_endpoint: `${issuer}/token/introspection`,
    revocation_endpoint: `${issuer}/token/revocation`,
    scopes_supported: oidcScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    grant_types_supported: [...delegatedGrantTypes, ...grants.keys()],
    acr_values_supported: acrValuesSupported,
    subject_types_supported: ['public'],
    // The default first. An application may choose any other, whose key is made then.
    id_token_signing_alg_values_supported: [
      ...new Set([keys.current().algorithm, ...signingAlgorithms]),
    ],
    token_endpoint_auth_methods_supported: clientAuthMethods,
    introspection_endpoint_auth_methods_supported: clientAuthMethods.filter(
      (method) => method !== 'none',
    ),
    revocation_endpoint_auth_methods_supported: clientAuthMethods,
    code_challenge_methods_supported: ['S256'],
    claim_types_supported: ['normal'],
    claims_supported: [...Object.values(claimsByScope).flat(), 'iss', 'aud', 'exp', 'iat'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Mounts the discovery documents and the key set: public, for scripts of every origin. */
export function mountDiscovery(http: FastifyInstance, services: Services): void {
  const { keys, clock, log } = services;
  let freshUntil = 0;

  for (const path of [
    '/oidc/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/oidc',
  ]) {
    http.get(path, async (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(providerMetadata(services)),
    );
  }

  http.get('/oidc/jwks', async (_request, reply) => {
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
  });
}
