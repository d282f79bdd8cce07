import type { FastifyRequest } from 'fastify';
import {
  type ActClaim,
  lifetime,
  newJti,
  signAccessToken,
  TokenFault,
} from '../../auth/access-token.ts';
import type { Clock } from '../../clock.ts';
import type { Services } from '../../services.ts';
import { readActorToken, type TokenActor, verifyActor } from './actor/actor-token.ts';
import { assertCredentials, type ClientCredentials } from './client-authentication.ts';
import { issueIdJag } from './cross-app/id-jag.ts';
import {
  actorRules,
  clientRules,
  consentRules,
  grantedScopes,
  keyRules,
  targetRules,
} from './exchange-rules.ts';
import type { TokenRequestFacts } from './explanation/refused.ts';
import type { Form } from './form.ts';
import { maxActors, maxLineage, readSubjectState, type SubjectState } from './grant-state.ts';
import { bindingTo, proveKey } from './keys/token-proof.ts';
import { InvalidRequest } from './oauth-errors.ts';
import type { TokenResponse } from './response.ts';
import { accessToken } from './subject/access-token.ts';
import { personalAccessToken } from './subject/personal-access-token.ts';
import { SubjectFault, type SubjectTokenType } from './subject/subject.ts';
import { subjectToken } from './subject/subject-token.ts';
import {
  accessTokenType,
  idJagType,
  personalAccessTokenType,
  subjectTokenType,
} from './subject/token-types.ts';
import {
  asRegistered,
  assertAudience,
  assertResource,
  assertScopes,
  keptWithin,
  readExchangeTarget,
  readScopes,
} from './target.ts';

const subjectTokenTypes: ReadonlyMap<string, SubjectTokenType> = new Map([
  [accessTokenType, accessToken],
  [subjectTokenType, subjectToken],
  [personalAccessTokenType, personalAccessToken],
]);

/**
 * Exchanges a token of a user for an access token for one resource. The new token names the actor: that of the actor
 * token, or the client.
 *
 * @param facts Gets what is found out about the request, in case that it is refused.
 * @throws {OAuthError} in the order of `endpoint.ts`.
 * @see RFC 8693 §2.1 (request), §2.2 (response), §4.1 (`act`)
 */
export async function exchangeToken(
  services: Services,
  form: Form,
  credentials: ClientCredentials,
  facts: TokenRequestFacts,
  request: FastifyRequest,
): Promise<TokenResponse> {
  if (form.find('requested_token_type') === idJagType)
    return issueIdJag(services, form, credentials, facts, request);
  const { keys, issuer, database, clock } = services;
  const at = clock.now();
  const token = form.get('subject_token');
  const type = subjectTokenTypes.get(form.get('subject_token_type'));
  const asked = readExchangeTarget(form);
  facts.resource = asked.indicator;
  const scopes = readScopes(form);
  const { clientId } = credentials;
  // A type that is not supported is refused after the client has authenticated, like all else about the token.
  const presented = await (type ?? accessToken).present(services, token, at);
  const named = keptWithin(asked, presented.claims.organization_id);
  const state = await readSubjectState(
    database.tokens,
    { clientId, at, target: named, scopes: scopes ?? [] },
    presented.claims,
  );
  const target = asRegistered(named, state);
  facts.resource = target.indicator;

  if (state.type !== null) facts.applicationId = clientId;
  // Each rule is noted before it is checked: `Token.Refused` names the last one.
  facts.rule = 'APPLICATION_SECRET';
  const secretScopes = await assertCredentials(services, credentials, state);
  for (const { name, assert } of clientRules) {
    facts.rule = name;
    assert({ state, type });
  }
  facts.rule = 'KEY_PROVEN';
  const provenKey = await proveKey(services, request, '/token', {
    isRequired: state.requireDpop,
    profile: state.securityProfile,
  });
  facts.rule = 'REQUEST';
  assertTokenTypes(form, type);
  const actorToken = readActorToken(form);
  const subject = await refuseFaults(facts, state, () => presented.verify(state, clientId));
  facts.userId = subject.userId;
  for (const { name, assert } of consentRules) {
    facts.rule = name;
    assert({ state });
  }
  for (const { name, assert } of keyRules) {
    facts.rule = name;
    assert({ state, subjectKey: subject.boundTo, provenKey });
  }
  const actor =
    actorToken === undefined
      ? undefined
      : await proveActor(services, facts, actorToken, { at, target, scopes: scopes ?? [] });
  for (const { name, assert } of actorRules) {
    facts.rule = name;
    assert({ state, clientId, actor, mayAct: subject.mayAct, provenKey });
  }
  facts.rule = 'ACT_CHAIN';
  const lineage = [...new Set([...subject.lineage, ...(actor?.lineage ?? [])])];
  assertChain(subject.act, lineage);
  const targetFacts = { state, target, bounds: subject.bounds, actor };
  for (const { name, assert } of targetRules) {
    facts.rule = name;
    assert(targetFacts);
  }
  facts.rule = 'REQUEST';
  assertAudience(form, target);
  facts.rule = 'SCOPE_GRAMMAR';
  assertScopes(scopes);
  await refuseFaults(facts, state, () => presented.use?.(clientId));

  const frozen: Clock = { now: () => at };
  const end = Math.min(subject.exp, actor?.exp ?? subject.exp);
  const { iat, exp, expiresIn } = lifetime(frozen, assertResource(target, state), end);
  const scope = grantedScopes(scopes, targetFacts, secretScopes).join(' ');
  const { claim, tokenType } = bindingTo(provenKey);
  const issued = await signAccessToken(
    keys,
    {
      iss: issuer,
      sub: subject.userId,
      aud: target.indicator,
      client_id: clientId,
      scope,
      iat,
      exp,
      // The subject token's instant: a sign-out during the exchange ends this token too.
      jti: newJti(subject.issuedAt),
      act: {
        ...(actor ? { sub: actor.sub, client_id: actor.clientId } : { sub: clientId }),
        ...(subject.act === undefined ? {} : { act: subject.act }),
      },
      ...(subject.mayAct === undefined ? {} : { may_act: subject.mayAct }),
      lineage,
      ...claim,
      ...(target.organizationId === undefined ? {} : { organization_id: target.organizationId }),
    },
    state,
  );
  return {
    access_token: issued,
    issued_token_type: accessTokenType,
    token_type: tokenType,
    expires_in: expiresIn,
    scope,
  };
}

function assertTokenTypes(form: Form, subjectType: SubjectTokenType | undefined): void {
  if (!subjectType) throw new InvalidRequest('subject_token_type is not supported');
  if ((form.find('requested_token_type') ?? accessTokenType) !== accessTokenType) {
    throw new InvalidRequest('requested_token_type is not supported');
  }
}

async function refuseFaults<T>(
  facts: TokenRequestFacts,
  { userId }: SubjectState,
  work: () => T | Promise<T>,
): Promise<T> {
  facts.rule = 'SUBJECT_TOKEN';
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    if (error instanceof SubjectFault) Object.assign(facts, { rule: error.rule, userId });
    throw new InvalidRequest(`subject_token is refused: ${error.message}`, { cause: error });
  }
}

async function proveActor(
  services: Services,
  facts: TokenRequestFacts,
  ...of: [token: string, question: Parameters<typeof verifyActor>[2]]
): Promise<TokenActor> {
  facts.rule = 'ACTOR_TOKEN';
  try {
    return await verifyActor(services, ...of);
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    throw new InvalidRequest(`actor_token is refused: ${error.message}`, { cause: error });
  }
}

function assertChain(act: ActClaim | undefined, lineage: readonly string[]): void {
  let actors = 1;
  for (let actor = act; actor !== undefined && actors <= maxActors; actor = actor.act) actors += 1;
  if (actors > maxActors) {
    throw new InvalidRequest(`subject_token is refused: more than ${maxActors} would have acted`);
  }
  if (lineage.length > maxLineage)
    throw new InvalidRequest('the tokens come from more others than a token can name');
}
