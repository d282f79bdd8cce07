import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { decodeJwt } from 'jose';
import { isConfidential } from '../../../applications/secret.ts';
import { lifetime, TokenFault } from '../../../auth/access-token.ts';
import { toNumericDate } from '../../../clock.ts';
import { type Sql, textForQuery } from '../../../db/sql.ts';
import { idForQuery } from '../../../ids.ts';
import { signCompact } from '../../../keys/compact-jws.ts';
import { faultOfIndicator, targetOf } from '../../../permissions/target.ts';
import type { Services } from '../../../services.ts';
import { assertCredentials, type ClientCredentials } from '../client-authentication.ts';
import type { TokenRequestFacts } from '../explanation/refused.ts';
import type { Form } from '../form.ts';
import { readSubjectState } from '../grant-state.ts';
import { bindingTo, proveKey } from '../keys/token-proof.ts';
import { InvalidRequest, InvalidTarget, UnauthorizedClient } from '../oauth-errors.ts';
import type { TokenResponse } from '../response.ts';
import { verifyIdToken } from '../subject/id-token.ts';
import { assertUser, SubjectFault } from '../subject/subject.ts';
import { idJagType, idTokenType } from '../subject/token-types.ts';
import { assertScopes, readScopes } from '../target.ts';

/** The `typ` of an identity assertion. */
export const idJagTyp = 'oauth-id-jag+jwt';

/** How long an identity assertion is good, in seconds. */
const idJagTtlSeconds = 300;

interface Connection {
  readonly clientId: string;
  readonly scopes: readonly string[];
}

const connectionStatement = `
  SELECT c."clientId", c."scopes" FROM "CrossAppConnection" c JOIN "Application" a ON a."id" = c."applicationId"
   WHERE c."applicationId" = $1 AND c."issuer" = $2 AND NOT a."isThirdParty"`;

async function findConnection(
  sql: Sql,
  applicationId: string,
  issuer: string,
): Promise<Connection | undefined> {
  const values = [idForQuery(applicationId, 'Application'), textForQuery(issuer)];
  const [found] = await sql.query<Connection>('cross-app-connection', connectionStatement, values);
  return found;
}

/**
 * Exchanges an ID token of the client for an identity assertion, which another authorization server takes for an access
 * token of the same person: along a connection that an administrator has set up.
 *
 * @throws {OAuthError} in the order of `endpoint.ts`.
 * @see draft-ietf-oauth-identity-assertion-authz-grant §4.3
 */
export async function issueIdJag(
  services: Services,
  form: Form,
  credentials: ClientCredentials,
  facts: TokenRequestFacts,
  request: FastifyRequest,
): Promise<TokenResponse> {
  const { keys, issuer, database, clock } = services;
  const at = clock.now();
  const token = form.get('subject_token');
  const type = form.get('subject_token_type');
  const audience = form.get('audience');
  const resource = form.find('resource') === undefined ? undefined : form.getResource();
  const asked = readScopes(form);
  facts.resource = resource ?? audience;
  const { clientId } = credentials;
  // Nothing of this service's own is asked for: the target is the other one's.
  const target = targetOf('', undefined);
  const [state, connection] = await Promise.all([
    readSubjectState(
      database.tokens,
      { clientId, at, target, scopes: [] },
      { sub: unprovedSubject(token), client_id: clientId },
    ),
    findConnection(database.tokens, clientId, audience),
  ]);
  if (state.type !== null) facts.applicationId = clientId;
  facts.rule = 'APPLICATION_SECRET';
  await assertCredentials(services, credentials, state);
  facts.rule = 'EXCHANGE_ALLOWED';
  if (state.type === null || !isConfidential(state.type))
    throw new UnauthorizedClient('identity assertions are not for this application');
  facts.rule = 'KEY_PROVEN';
  const key = await proveKey(services, request, '/token', {
    isRequired: state.requireDpop,
    profile: state.securityProfile,
  });
  facts.rule = 'REQUEST';
  if (type !== idTokenType) throw new InvalidRequest('subject_token_type is not supported');
  if (form.find('actor_token') !== undefined || form.find('actor_token_type') !== undefined)
    throw new InvalidRequest('actor_token is not supported');
  facts.rule = 'SUBJECT_TOKEN';
  let subject: Awaited<ReturnType<typeof verifyIdToken>>;
  try {
    subject = await verifyIdToken(services, token, { clientId, at });
    assertUser(state, subject.issuedAt);
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error;
    if (error instanceof SubjectFault)
      Object.assign(facts, { rule: error.rule, userId: state.userId });
    throw new InvalidRequest(`subject_token is refused: ${error.message}`, { cause: error });
  }
  facts.userId = subject.userId;
  facts.rule = 'RESOURCE_ALLOWED';
  if (!connection) throw new InvalidTarget('audience is not one that this application may go to');
  facts.rule = 'RESOURCE';
  const fault = resource === undefined ? undefined : faultOfIndicator(resource);
  if (fault !== undefined) throw new InvalidTarget(fault);
  facts.rule = 'SCOPE_GRAMMAR';
  assertScopes(asked);

  const scope = asked.filter((name) => connection.scopes.includes(name)).join(' ');
  const { exp, expiresIn } = lifetime({ now: () => at }, idJagTtlSeconds);
  const { algorithm, kid, privateKey } = keys.current();
  const issued = await signCompact(
    { algorithm, key: privateKey },
    { alg: algorithm, typ: idJagTyp, kid },
    {
      ...subject.authentication,
      iss: issuer,
      sub: subject.userId,
      aud: audience,
      client_id: connection.clientId,
      ...(resource === undefined ? {} : { resource }),
      // Without it, the other one would choose.
      scope,
      // No access token: who takes it compares this with sign-outs, and knows no better instant.
      iat: toNumericDate(at),
      exp,
      jti: randomUUID(),
      ...bindingTo(key).claim,
    },
  );
  return {
    access_token: issued,
    issued_token_type: idJagType,
    token_type: 'N_A',
    expires_in: expiresIn,
    scope,
  };
}

// Enough to query the database.
function unprovedSubject(token: string): unknown {
  try {
    return decodeJwt(token).sub;
  } catch {
    return undefined;
  }
}
