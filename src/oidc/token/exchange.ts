import { decodeJwt, type JWTPayload } from 'jose';
import { isConfidential } from '../../applications/secret.ts';
import {
  type AccessTokenClaims,
  type ActClaim,
  issuedAt,
  lifetime,
  newJti,
  signAccessToken,
  TokenFault,
  verifyAccessToken,
} from '../../auth/access-token.ts';
import { ownIndicators } from '../../auth/scopes.ts';
import { faultOfState } from '../../auth/token-state.ts';
import type { Clock } from '../../clock.ts';
import { kindOfId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { assertSecret, type ClientCredentials } from './client-authentication.ts';
import type { Form } from './form.ts';
import { maxActors, readSubjectState, type SubjectState } from './grant-state.ts';
import { InvalidRequest, InvalidTarget, UnauthorizedClient } from './oauth-errors.ts';
import type { TokenResponse } from './response.ts';
import {
  assertAudience,
  assertScopes,
  assertTarget,
  readExchangeTarget,
  readScopes,
  type Target,
} from './target.ts';

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

/**
 * Exchanges the access token of a user's call for one for another resource. The new token names the client as the
 * actor.
 *
 * @throws {OAuthError} in the order of `endpoint.ts`.
 * @see RFC 8693 §2.1 (request), §2.2 (response), §4.1 (`act`)
 */
export async function exchangeToken(
  services: Services,
  form: Form,
  credentials: ClientCredentials,
): Promise<TokenResponse> {
  const { keys, issuer, database, clock } = services;
  const at = clock.now();
  const subjectToken = form.get('subject_token');
  const subjectTokenType = form.get('subject_token_type');
  const target = readExchangeTarget(form);
  const asked = readScopes(form);
  const { clientId } = credentials;
  const state = await readSubjectState(
    database.tokens,
    { clientId, at, target, scopes: asked ?? [] },
    readUnproved(subjectToken),
  );

  assertSecret(credentials, state.digests);
  assertMayExchange(state);
  assertTokenTypes(form, subjectTokenType);
  const frozen: Clock = { now: () => at };
  const subject = await verifySubjectToken({ keys, issuer, clock: frozen }, subjectToken, state);
  assertChain(subject.act);
  const ttlSeconds = assertTarget(target, state);
  assertAudience(form, target);
  assertExchangeResource(target, state);
  assertScopes(asked);

  const { iat, exp, expiresIn } = lifetime(frozen, ttlSeconds, subject.exp);
  const held = new Set(state.scopes);
  const scope = asked.filter((name) => held.has(name)).join(' ');
  const accessToken = await signAccessToken(keys, {
    iss: issuer,
    sub: subject.sub,
    aud: target.indicator,
    client_id: clientId,
    scope,
    iat,
    exp,
    // The subject token's instant: a sign-out during the exchange ends this token too.
    jti: newJti(issuedAt(subject)),
    act: { sub: clientId, ...(subject.act === undefined ? {} : { act: subject.act }) },
    lineage: [...(subject.lineage ?? []), subject.jti],
    ...(target.organizationId === undefined ? {} : { organization_id: target.organizationId }),
  });
  return {
    access_token: accessToken,
    issued_token_type: accessTokenType,
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
  };
}

// Enough to query the database; the signature is checked after the client has authenticated.
function readUnproved(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

function assertMayExchange({ type, allowTokenExchange }: SubjectState): void {
  if (!allowTokenExchange || type === null || !isConfidential(type)) {
    throw new UnauthorizedClient('token exchange is not allowed for this application');
  }
}

function assertTokenTypes(form: Form, subjectTokenType: string): void {
  if (subjectTokenType !== accessTokenType) {
    throw new InvalidRequest('subject_token_type is not supported');
  }
  if ((form.find('requested_token_type') ?? accessTokenType) !== accessTokenType) {
    throw new InvalidRequest('requested_token_type is not supported');
  }
  if (form.find('actor_token') !== undefined || form.find('actor_token_type') !== undefined) {
    // Ignoring it would issue a token that names another actor than the one requested.
    throw new InvalidRequest('actor_token is not supported');
  }
}

async function verifySubjectToken(
  verifier: Parameters<typeof verifyAccessToken>[0],
  token: string,
  state: SubjectState,
): Promise<AccessTokenClaims> {
  try {
    const claims = await verifyAccessToken(verifier, token);
    if (kindOfId(claims.sub) !== 'User') throw new TokenFault('not a token of a user');
    const fault = faultOfState(claims, state);
    if (fault) throw new TokenFault(fault);
    const audiences = state.exchangeSubjectAudiences ?? [];
    if (audiences.length > 0 && !audiences.includes(claims.aud)) {
      throw new TokenFault('not a token for an audience that this application may exchange');
    }
    return claims;
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    throw new InvalidRequest(`subject_token is refused: ${error.message}`, { cause: error });
  }
}

function assertChain(act: ActClaim | undefined): void {
  let actors = 1;
  for (let actor = act; actor !== undefined && actors <= maxActors; actor = actor.act) actors += 1;
  if (actors > maxActors) {
    throw new InvalidRequest(`subject_token is refused: more than ${maxActors} would have acted`);
  }
}

function assertExchangeResource({ indicator }: Target, { exchangeResources }: SubjectState): void {
  const listed = exchangeResources ?? [];
  // Other APIs belong to the operator. A token for Signet's own APIs would give the client all rights of its user here.
  const isAllowed =
    listed.includes(indicator) || (listed.length === 0 && !ownIndicators.has(indicator));
  if (!isAllowed) {
    throw new InvalidTarget('resource is not one that this application may exchange for');
  }
}
