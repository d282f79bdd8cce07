import {
  actingReference,
  applicationsOf,
  revocableIds,
  TokenFault,
  verifyAccessToken,
} from '../../../auth/access-token.ts';
import { covers } from '../../../auth/granting/setter-scopes.ts';
import { ownIndicators } from '../../../auth/scopes.ts';
import { faultOfState } from '../../../auth/token-state.ts';
import { kindOfId } from '../../../ids.ts';
import type { Services } from '../../../services.ts';
import type { Form } from '../form.ts';
import { type GrantQuestion, readClientState, readSubjectState } from '../grant-state.ts';
import { InvalidRequest } from '../oauth-errors.ts';
import { boundsOf, readInheritedBounds } from '../subject/bounds.ts';
import { accessTokenType } from '../subject/token-types.ts';

/** Who acts, proved by an actor token (RFC 8693 §2.1). */
export interface TokenActor {
  readonly sub: string;
  /** The application that the token was issued to. */
  readonly clientId: string;
  /** The thumbprint of the key that the token is bound to; undefined: it is a bearer token. */
  readonly boundTo: string | undefined;
  /** When the token expires, in seconds since the epoch. */
  readonly exp: number;
  /** What ends the issued token too. */
  readonly lineage: readonly string[];
  /** Whether there may be a token for this resource. */
  readonly reaches: (indicator: string) => boolean;
  /** Whether the actor may have the scope of the target that was asked about. */
  readonly mayHave: (scope: string) => boolean;
}

/**
 * The `actor_token` of a request; undefined without one.
 *
 * @throws {InvalidRequest} when it stands without its type or the other way round, or is of another type.
 */
export function readActorToken(form: Form): string | undefined {
  const token = form.find('actor_token');
  const type = form.find('actor_token_type');
  if ((token === undefined) !== (type === undefined))
    throw new InvalidRequest('actor_token and actor_token_type must be given together');
  if (type !== undefined && type !== accessTokenType)
    throw new InvalidRequest('actor_token_type is not supported');
  return token;
}

/**
 * Verifies an actor token: an access token that is good, of a user or of an application itself.
 *
 * @param question What the exchange asks for.
 * @throws {TokenFault} with the class of fault.
 */
export async function verifyActor(
  { keys, issuer, database }: Pick<Services, 'keys' | 'issuer' | 'database'>,
  token: string,
  question: Omit<GrantQuestion, 'clientId'>,
): Promise<TokenActor> {
  const { at, target } = question;
  const claims = await verifyAccessToken({ keys, issuer, clock: { now: () => at } }, token);
  const { sub, client_id: clientId, cnf, exp } = claims;
  const isOwnApi = ownIndicators.has(target.indicator);
  const [state, inherited, own] = await Promise.all([
    readSubjectState(database.tokens, { ...question, clientId }, claims),
    readInheritedBounds(database.tokens, claims.lineage),
    isOwnApi && kindOfId(sub) !== 'User'
      ? readClientState(database.tokens, { ...question, clientId: sub })
      : undefined,
  ]);
  const fault = faultOfState(claims, state) ?? (inherited ? undefined : 'token revoked');
  if (!inherited || fault !== undefined) throw new TokenFault(fault);
  const bounds = boundsOf(claims, inherited, state);
  const held = new Set((own ?? state).scopes);
  const setters = state.subjectSetters.map((setterScopes) => setterScopes.split(' '));
  return {
    sub,
    clientId,
    boundTo: cnf?.jkt,
    exp,
    lineage: [
      ...revocableIds(claims),
      ...(claims.act ? applicationsOf(claims) : []),
      ...(state.userId === null ? [] : [actingReference(state.userId, state.tokensValidAfter)]),
    ],
    reaches: bounds.reaches,
    // Of Signet's own APIs, nobody gets through an actor what the actor does not hold.
    mayHave: (scope) =>
      (bounds.scopes?.has(scope) ?? true) &&
      (!isOwnApi ||
        (held.has(scope) && setters.every((setterScopes) => covers(setterScopes, [scope])))),
  };
}
