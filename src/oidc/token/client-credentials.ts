import type { FastifyRequest } from 'fastify';
import { lifetime, newJti, signAccessToken } from '../../auth/access-token.ts';
import { covers } from '../../auth/granting/setter-scopes.ts';
import { ownIndicators } from '../../auth/scopes.ts';
import type { Services } from '../../services.ts';
import { assertCredentials, type ClientCredentials } from './client-authentication.ts';
import type { TokenRequestFacts } from './explanation/refused.ts';
import type { Form } from './form.ts';
import { readClientState } from './grant-state.ts';
import { bindingTo, proveKey } from './keys/token-proof.ts';
import { UnauthorizedClient } from './oauth-errors.ts';
import type { TokenResponse } from './response.ts';
import { asRegistered, assertScopes, assertTarget, readScopes, readTarget } from './target.ts';

/**
 * Issues an access token to a machine-to-machine application itself, for one resource.
 *
 * @throws {OAuthError} in the order of `endpoint.ts`.
 * @see RFC 6749 §4.4, RFC 8707 §2, RFC 9068 §2.2
 */
export async function issueClientCredentials(
  services: Services,
  form: Form,
  credentials: ClientCredentials,
  facts: TokenRequestFacts,
  request: FastifyRequest,
): Promise<TokenResponse> {
  const { keys, issuer, database, clock } = services;
  const at = clock.now();
  const named = readTarget(form);
  const asked = readScopes(form);
  const { clientId } = credentials;
  const state = await readClientState(database.tokens, {
    clientId,
    at,
    target: named,
    scopes: asked ?? [],
  });
  const target = asRegistered(named, state);
  facts.resource = target.indicator;
  if (state.type !== null) facts.applicationId = clientId;

  const secretScopes = await assertCredentials(services, credentials, state);
  if (state.type !== 'MACHINE_TO_MACHINE') {
    throw new UnauthorizedClient('client credentials are not allowed for this application');
  }
  const key = await proveKey(services, request, '/token', {
    isRequired: state.requireDpop,
    profile: state.securityProfile,
  });
  const ttlSeconds = assertTarget(target, state);
  assertScopes(asked);

  const { iat, exp, expiresIn } = lifetime({ now: () => at }, ttlSeconds);
  const held = new Set(state.scopes);
  const opened = (name: string) =>
    !ownIndicators.has(target.indicator) || covers(secretScopes, [name]);
  const scope = asked.filter((name) => held.has(name) && opened(name)).join(' ');
  const { claim, tokenType } = bindingTo(key);
  const accessToken = await signAccessToken(
    keys,
    {
      iss: issuer,
      sub: clientId,
      aud: target.indicator,
      client_id: clientId,
      scope,
      iat,
      exp,
      jti: newJti(at),
      ...claim,
      ...(target.organizationId === undefined ? {} : { organization_id: target.organizationId }),
    },
    state,
  );
  return { access_token: accessToken, token_type: tokenType, expires_in: expiresIn, scope };
}
