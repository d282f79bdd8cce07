import {
  type ActClaim,
  lifetime,
  newJti,
  signAccessToken,
  TokenFault,
} from '../../auth/access-token.ts';
import type { Clock } from '../../clock.ts';
import type { Services } from '../../services.ts';
import { assertSecret, type ClientCredentials } from './client-authentication.ts';
import { clientRules, grantedScopes, targetRules } from './exchange-rules.ts';
import type { Form } from './form.ts';
import { maxActors, readSubjectState } from './grant-state.ts';
import { InvalidRequest } from './oauth-errors.ts';
import type { TokenResponse } from './response.ts';
import { accessToken } from './subject/access-token.ts';
import { personalAccessToken } from './subject/personal-access-token.ts';
import type { SubjectTokenType } from './subject/subject.ts';
import { subjectToken } from './subject/subject-token.ts';
import {
  accessTokenType,
  personalAccessTokenType,
  subjectTokenType,
} from './subject/token-types.ts';
import {
  assertAudience,
  assertResource,
  assertScopes,
  readExchangeTarget,
  readScopes,
} from './target.ts';

const subjectTokenTypes: ReadonlyMap<string, SubjectTokenType> = new Map([
  [accessTokenType, accessToken],
  [subjectTokenType, subjectToken],
  [personalAccessTokenType, personalAccessToken],
]);

/**
 * Exchanges a token of a user for an access token for one resource. The new token names the client as the actor.
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
  const token = form.get('subject_token');
  const type = subjectTokenTypes.get(form.get('subject_token_type'));
  const target = readExchangeTarget(form);
  const asked = readScopes(form);
  const { clientId } = credentials;
  // A type that is not supported is refused after the client has authenticated, like all else about the token.
  const presented = await (type ?? accessToken).present(services, token, at);
  const state = await readSubjectState(
    database.tokens,
    { clientId, at, target, scopes: asked ?? [] },
    presented.claims,
  );

  assertSecret(credentials, state.digests);
  for (const { assert } of clientRules) assert({ state, type });
  assertTokenTypes(form, type);
  const subject = await refuseFaults(() => presented.verify(state, clientId));
  assertChain(subject.act);
  for (const { assert } of targetRules) assert({ state, target, bounds: subject.bounds });
  assertAudience(form, target);
  assertScopes(asked);
  await refuseFaults(() => presented.use?.(clientId));

  const frozen: Clock = { now: () => at };
  const { iat, exp, expiresIn } = lifetime(frozen, assertResource(target, state), subject.exp);
  const scope = grantedScopes(asked, state, subject.bounds).join(' ');
  const issued = await signAccessToken(keys, {
    iss: issuer,
    sub: subject.userId,
    aud: target.indicator,
    client_id: clientId,
    scope,
    iat,
    exp,
    // The subject token's instant: a sign-out during the exchange ends this token too.
    jti: newJti(subject.issuedAt),
    act: { sub: clientId, ...(subject.act === undefined ? {} : { act: subject.act }) },
    lineage: subject.lineage,
    ...(target.organizationId === undefined ? {} : { organization_id: target.organizationId }),
  });
  return {
    access_token: issued,
    issued_token_type: accessTokenType,
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
  };
}

function assertTokenTypes(form: Form, subjectType: SubjectTokenType | undefined): void {
  if (!subjectType) throw new InvalidRequest('subject_token_type is not supported');
  if ((form.find('requested_token_type') ?? accessTokenType) !== accessTokenType) {
    throw new InvalidRequest('requested_token_type is not supported');
  }
  if (form.find('actor_token') !== undefined || form.find('actor_token_type') !== undefined) {
    // Ignoring it would issue a token that names another actor than the one requested.
    throw new InvalidRequest('actor_token is not supported');
  }
}

async function refuseFaults<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
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
