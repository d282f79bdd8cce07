import { isConfidential } from '../../applications/secret.ts';
import { ownIndicators } from '../../auth/scopes.ts';
import type { SubjectState } from './grant-state.ts';
import { InvalidTarget, UnauthorizedClient } from './oauth-errors.ts';
import type { Bounds } from './subject/bounds.ts';
import type { SubjectTokenType } from './subject/subject.ts';
import { assertOrganization, assertResource, type Target } from './target.ts';

/** One rule of the exchange. The exchange stops at the first that is broken; an explanation reports each. */
interface Rule<Name extends string, Facts> {
  readonly name: Name;
  /** @throws {OAuthError} when it is broken. */
  readonly assert: (facts: Facts) => void;
}

interface ClientFacts {
  readonly state: SubjectState;
  /** Undefined if the type is not supported, which is another rule's to refuse. */
  readonly type: SubjectTokenType | undefined;
}

interface TargetFacts {
  readonly state: SubjectState;
  readonly target: Target;
  readonly bounds: Bounds;
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

/** The rules about the target, for a subject that is proved. */
export const targetRules = [
  { name: 'RESOURCE', assert: ({ target, state }) => void assertResource(target, state) },
  { name: 'ORGANIZATION', assert: ({ target, state }) => assertOrganization(target, state) },
  {
    name: 'RESOURCE_ALLOWED',
    assert({ target: { indicator }, state: { exchangeResources } }) {
      const listed = exchangeResources ?? [];
      // Other APIs belong to the operator. A token for Signet's own APIs would give the client all rights of its user
      // here.
      const isAllowed =
        listed.includes(indicator) || (listed.length === 0 && !ownIndicators.has(indicator));
      if (!isAllowed) {
        throw new InvalidTarget('resource is not one that this application may exchange for');
      }
    },
  },
  {
    name: 'RESOURCE_REACHED',
    assert({ target: { indicator }, bounds }) {
      if (!bounds.reaches(indicator)) {
        throw new InvalidTarget('resource is not one that the subject token may be exchanged for');
      }
    },
  },
] as const satisfies readonly Rule<string, TargetFacts>[];

/** The requested scopes that are granted, in the requested order. */
export function grantedScopes(
  asked: readonly string[],
  { scopes }: Pick<SubjectState, 'scopes'>,
  bounds: Pick<Bounds, 'scopes'>,
): string[] {
  const held = new Set(scopes);
  return asked.filter((name) => held.has(name) && (bounds.scopes?.has(name) ?? true));
}
