import { isConfidential } from '../../applications/secret.ts';
import type { MayActClaim } from '../../auth/access-token.ts';
import { covers, everything, type SetterScopes } from '../../auth/granting/setter-scopes.ts';
import { listsIndicator } from '../../auth/indicators.ts';
import { ownIndicators } from '../../auth/scopes.ts';
import type { Target } from '../../permissions/target.ts';
import type { TokenActor } from './actor/actor-token.ts';
import type { SubjectState } from './grant-state.ts';
import { InvalidRequest, InvalidTarget, UnauthorizedClient } from './oauth-errors.ts';
import type { Bounds } from './subject/bounds.ts';
import { type SubjectTokenType, subjectRules } from './subject/subject.ts';
import { assertOrganization, assertResource } from './target.ts';

/** One rule of the exchange. The exchange stops at the first that is broken; an explanation reports each. */
interface Rule<Name extends string, Facts> {
  readonly name: Name;
  /** @throws {OAuthError} when it is broken. */
  readonly assert: (facts: Facts) => void;
}

interface ClientFacts {
  readonly state: SubjectState;
  /** Undefined if the type is not supported; another rule refuses that. */
  readonly type: SubjectTokenType | undefined;
}

interface TargetFacts {
  readonly state: SubjectState;
  readonly target: Target;
  readonly bounds: Bounds;
  /** Who acts by an actor token; absent: the client itself. */
  readonly actor?: Pick<TokenActor, 'reaches' | 'mayHave'> | undefined;
}

/** The rules about the application. */
export const clientRules = [
  {
    name: 'EXCHANGE_ALLOWED',
    assert({ state: { allowTokenExchange, type } }) {
      if (!allowTokenExchange || type === null || !isConfidential(type)) {
        throw new UnauthorizedClient('token exchange is not allowed for this application');
      }
    },
  },
  {
    name: 'SUBJECT_TOKEN_TYPE_ALLOWED',
    assert({ state, type }) {
      if (type && !type.isAllowed(state)) {
        throw new UnauthorizedClient('subject_token_type is not allowed for this application');
      }
    },
  },
] as const satisfies readonly Rule<string, ClientFacts>[];

interface ConsentFacts {
  readonly state: Pick<SubjectState, 'exchangeThirdPartySubjectTokens' | 'thirdParties'>;
}

/** The rules about what the user was asked, for a subject that is proved. */
export const consentRules = [
  {
    name: 'SUBJECT_CONSENT',
    // The user allowed the third party what its token holds. An exchange would give all that the user holds, at any
    // distance from that token: so whoever is anywhere in the chain counts, by what they are now.
    assert({ state: { exchangeThirdPartySubjectTokens, thirdParties } }) {
      if (thirdParties.length > 0 && !exchangeThirdPartySubjectTokens) {
        throw new InvalidRequest('subject_token is refused: issued to a third-party application');
      }
    },
  },
] as const satisfies readonly Rule<string, ConsentFacts>[];

interface KeyFacts {
  readonly state: Pick<SubjectState, 'mayRebindTokens'>;
  /** The thumbprint of the key that the subject token is bound to; undefined for a bearer token. */
  readonly subjectKey: string | undefined;
  /** The thumbprint of the key that the request proves, which the new token is bound to; undefined without a proof. */
  readonly provenKey: string | undefined;
}

/** The rules about keys, for a subject that is proved. */
export const keyRules = [
  {
    name: 'SUBJECT_KEY_PROVEN',
    assert({ state: { mayRebindTokens }, subjectKey, provenKey }) {
      if (subjectKey !== undefined && subjectKey !== provenKey && !mayRebindTokens) {
        throw new InvalidRequest('subject_token is bound to a key that the request does not prove');
      }
    },
  },
  {
    name: 'BINDING_KEPT',
    // Whatever the application may do: no way leads from a bound token to a bearer token.
    assert({ subjectKey, provenKey }) {
      if (subjectKey !== undefined && provenKey === undefined) {
        throw new InvalidRequest('subject_token is bound to a key, and the new token would not be');
      }
    },
  },
] as const satisfies readonly Rule<string, KeyFacts>[];

interface ActorFacts {
  readonly state: Pick<SubjectState, 'mayActFor'>;
  readonly clientId: string;
  /** Who acts by an actor token; undefined: the client itself. */
  readonly actor: Pick<TokenActor, 'sub' | 'clientId' | 'boundTo'> | undefined;
  /** The subject token's `may_act`. */
  readonly mayAct: MayActClaim | undefined;
  readonly provenKey: string | undefined;
}

/** The rules about who acts, for a subject and an actor that are proved. */
export const actorRules = [
  {
    name: 'ACTOR_ALLOWED',
    assert({ state: { mayActFor }, clientId, actor }) {
      const isOwn = actor === undefined || actor.clientId === clientId;
      if (!isOwn && !mayActFor?.includes(actor.clientId)) {
        throw new InvalidRequest('actor_token is not of an application that this one may act for');
      }
    },
  },
  {
    name: 'ACTOR_KEY_PROVEN',
    assert({ actor, provenKey }) {
      if (actor?.boundTo !== undefined && actor.boundTo !== provenKey) {
        throw new InvalidRequest('actor_token is bound to a key that the request does not prove');
      }
    },
  },
  {
    name: 'MAY_ACT',
    assert({ mayAct, actor, clientId }) {
      if (mayAct === undefined) return;
      const acting: Readonly<Record<string, unknown>> = {
        sub: actor?.sub ?? clientId,
        client_id: actor?.clientId ?? clientId,
      };
      // A claim that is not known here identifies nobody.
      const claims = Object.entries(mayAct);
      const isMeant =
        claims.length > 0 && claims.every(([claim, value]) => acting[claim] === value);
      if (!isMeant) throw new InvalidRequest('subject_token allows another actor only (may_act)');
    },
  },
] as const satisfies readonly Rule<string, ActorFacts>[];

/** The rules about the target, for a subject that is proved. */
export const targetRules = [
  { name: 'RESOURCE', assert: ({ target, state }) => void assertResource(target, state) },
  {
    name: 'ORGANIZATION',
    assert({ target, state, bounds: { organizationId } }) {
      if (organizationId !== undefined && target.organizationId !== organizationId) {
        throw new InvalidTarget('the subject token is limited to another organization');
      }
      assertOrganization(target, state);
    },
  },
  {
    name: 'RESOURCE_ALLOWED',
    assert({ target: { indicator }, state: { exchangeResources } }) {
      const listed = exchangeResources ?? [];
      // Other APIs belong to the operator. A token for Signet's own APIs would give the client all rights of its user
      // here.
      const isAllowed =
        listsIndicator(listed, indicator) || (listed.length === 0 && !ownIndicators.has(indicator));
      if (!isAllowed) {
        throw new InvalidTarget('resource is not one that this application may exchange for');
      }
    },
  },
  {
    name: 'RESOURCE_REACHED',
    assert({ target: { indicator }, bounds, actor }) {
      if (!bounds.reaches(indicator)) {
        throw new InvalidTarget('resource is not one that the subject token may be exchanged for');
      }
      if (actor && !actor.reaches(indicator)) {
        throw new InvalidTarget('resource is not one that the actor token may be used for');
      }
    },
  },
] as const satisfies readonly Rule<string, TargetFacts>[];

/** The rules of an exchange, in the order in which they are first checked. */
export const ruleNames = [
  'REQUEST',
  'APPLICATION_SECRET',
  ...clientRules.map(({ name }) => name),
  'KEY_PROVEN',
  'SUBJECT_TOKEN',
  ...subjectRules,
  ...consentRules.map(({ name }) => name),
  ...keyRules.map(({ name }) => name),
  'ACTOR_TOKEN',
  ...actorRules.map(({ name }) => name),
  'ACT_CHAIN',
  ...targetRules.map(({ name }) => name),
  'SCOPE_GRAMMAR',
] as const;

/** A rule of an exchange. */
export type ExchangeRule = (typeof ruleNames)[number];

/**
 * The requested scopes that are granted, in the requested order. Of Signet's own APIs, no more than whoever set up the
 * client held, its secret, or an application that the subject token came through: people were not asked there. Nor more
 * than the actor's token allows.
 *
 * @param secretScopes What the creator of the client's secret held.
 */
export function grantedScopes(
  asked: readonly string[],
  { target: { indicator }, state, bounds, actor }: TargetFacts,
  secretScopes: SetterScopes = everything,
): string[] {
  const held = new Set(state.scopes);
  const passed = state.subjectSetters.map((setterScopes) => setterScopes.split(' '));
  const setters = [state.setterScopes ?? [], secretScopes, ...passed];
  const opened = (name: string) =>
    !ownIndicators.has(indicator) || setters.every((setterScopes) => covers(setterScopes, [name]));
  return asked.filter(
    (name) =>
      held.has(name) &&
      (bounds.scopes?.has(name) ?? true) &&
      (actor?.mayHave(name) ?? true) &&
      opened(name),
  );
}
