import { type MayActClaim, TokenFault } from '../../../auth/access-token.ts';
import { everything } from '../../../auth/granting/setter-scopes.ts';
import { indicatorNamedBy } from '../../../auth/protected-resource.ts';
import { faultOfOrigin } from '../../../auth/token-state.ts';
import { textForQuery } from '../../../db/sql.ts';
import { readSources, type ScopeSource } from '../../../permissions/sources.ts';
import { type Target, targetOf } from '../../../permissions/target.ts';
import { registeredSpelling } from '../../../resources/spellings.ts';
import type { Services } from '../../../services.ts';
import { setterScopesOfCredentials } from '../client-authentication.ts';
import {
  actorRules,
  clientRules,
  consentRules,
  type ExchangeRule,
  grantedScopes,
  keyRules,
  targetRules,
} from '../exchange-rules.ts';
import { readSubjectState, type SubjectState } from '../grant-state.ts';
import { assertProofSent } from '../keys/token-proof.ts';
import { InvalidClient, InvalidRequest, OAuthError } from '../oauth-errors.ts';
import { accessToken, assertSubjectAudience } from '../subject/access-token.ts';
import {
  agentBounds,
  assertedBounds,
  type Bounds,
  noBounds,
  personalBounds,
  withinConsent,
} from '../subject/bounds.ts';
import { personalAccessToken } from '../subject/personal-access-token.ts';
import { assertUser, type SubjectTokenType } from '../subject/subject.ts';
import { subjectToken } from '../subject/subject-token.ts';
import { assertScopes, keptWithin, parseScope, ttlOfTarget } from '../target.ts';

// Stands in for a subject token that is issued now.
const subjectTypes = {
  ACCESS_TOKEN: { type: accessToken, bounds: noBounds },
  ASSERTED_ACCESS_TOKEN: { type: accessToken, bounds: assertedBounds },
  SUBJECT_TOKEN: { type: subjectToken, bounds: agentBounds },
  // Its own bounds are by what it is for.
  PERSONAL_ACCESS_TOKEN: { type: personalAccessToken, bounds: noBounds },
} as const;

/** The types of subject token, as an explanation is asked about them. */
export type ExplainedTokenType = keyof typeof subjectTypes;

// Stand in for the thumbprints of keys.
const keys = {
  NONE: undefined,
  SUBJECT_KEY: 'subject',
  ACTOR_KEY: 'actor',
  OTHER_KEY: 'other',
} as const;

/** The key that the explained request proves to have. */
export type ProvenKey = keyof typeof keys;

/** The exchange to explain. Nothing that it names has to exist. */
export interface ExplainedRequest {
  readonly applicationId: string;
  readonly userId: string;
  readonly resource: string;
  /** Undefined: every scope of the resource. */
  readonly scopes: readonly string[] | undefined;
  readonly organizationId: string | undefined;
  readonly subjectTokenType: ExplainedTokenType;
  /**
   * The `aud` of the subject token; undefined: not known. Of a personal access token its `resource`; undefined: it has
   * none.
   */
  readonly subjectAudience: string | undefined;
  /**
   * The application that the subject token was issued to, or through which a user created it if it is no access token;
   * absent: one of the operator's own, or none.
   */
  readonly subjectClientId?: string | undefined;
  /** The `organization_id` of the subject token, if it is an access token and has one. */
  readonly subjectOrganizationId: string | undefined;
  /** Whether the subject token, an access token, is bound to a key; absent: it is not. */
  readonly isSubjectBound?: boolean | undefined;
  /** Absent: the request proves none. */
  readonly provenKey?: ProvenKey | undefined;
  /** Who acts by an actor token; absent: the application itself. */
  readonly actor?: ExplainedActor | undefined;
  /** The `may_act` of the subject token; absent: it has none. */
  readonly mayAct?: MayActClaim | undefined;
}

/** The actor token of the explained request. */
interface ExplainedActor {
  readonly sub: string;
  /** The application that it was issued to. */
  readonly clientId: string;
  readonly isBound: boolean;
}

/** The result of one rule. */
export interface ExplainedRule {
  readonly rule: ExchangeRule;
  /** Null if it depends on the subject token. */
  readonly isMet: boolean | null;
  /** What the token endpoint would answer if it is broken. */
  readonly error: string | null;
  readonly errorDescription: string | null;
}

/** The result for one requested scope. */
export interface ExplainedScope {
  readonly name: string;
  readonly outcome: 'GRANTED' | 'UNKNOWN' | 'NOT_HELD' | 'HELD_ELSEWHERE' | 'LIMITED';
  readonly sources: readonly ScopeSource[];
}

/** The explanation of an exchange. */
export interface Explanation {
  readonly rules: readonly ExplainedRule[];
  readonly scopes: readonly ExplainedScope[];
  readonly expiresIn: number | null;
}

/**
 * Explains what an exchange would grant and why, or why not: by the same statement and the same rules as the exchange,
 * with every rule checked rather than up to the first that is broken.
 */
export async function explainExchange(
  services: Pick<Services, 'database' | 'clock' | 'config' | 'baseUrl'>,
  request: ExplainedRequest,
): Promise<Explanation> {
  const { applicationId, userId, subjectAudience, subjectClientId } = request;
  const { database, clock } = services;
  const at = clock.now();
  const { type, ...subject } = subjectTypes[request.subjectTokenType];
  const organizationId = type === accessToken ? request.subjectOrganizationId : undefined;
  const named = indicatorNamedBy(services, request.resource);
  const resource = await registeredSpelling(database.tokens, named);
  const target = keptWithin(targetOf(resource, request.organizationId), organizationId);
  const asked = request.scopes ?? (await readScopeNames(database, target));
  const parsed = parseNames(asked);
  const question = { clientId: applicationId, at, target, scopes: parsed ?? [] };
  const state = await readSubjectState(database.tokens, question, {
    sub: userId,
    client_id: subjectClientId,
  });
  const itsBounds =
    type === personalAccessToken
      ? await boundsOfPersonal(database, subjectAudience)
      : subject.bounds;
  const bounds = { ...withinConsent(itsBounds, state), organizationId };
  const facts = { state, type, target, bounds };
  const subjectKey = type === accessToken && request.isSubjectBound ? keys.SUBJECT_KEY : undefined;
  const keyFacts = { state, subjectKey, provenKey: keys[request.provenKey ?? 'NONE'] };
  const credentials = setterScopesOfCredentials(state);
  const { actor, mayAct } = request;
  const actorFacts = {
    state,
    clientId: applicationId,
    actor: actor && { ...actor, boundTo: actor.isBound ? keys.ACTOR_KEY : undefined },
    mayAct,
    provenKey: keyFacts.provenKey,
  };
  const rules = [
    explain('APPLICATION_SECRET', () => {
      if (credentials.length === 0) throw new InvalidClient();
    }),
    ...clientRules.map(({ name, assert }) => explain(name, () => assert(facts))),
    explain('KEY_PROVEN', () =>
      assertProofSent(state.requireDpop, keyFacts.provenKey !== undefined),
    ),
    ...(subjectClientId === undefined || state.clientsExist ? [] : [explainOrigin(type, state)]),
    // A token that is issued now is younger than every sign-out.
    explain('USER_ACTIVE', () => assertUser({ ...state, tokensValidAfter: null }, at)),
    type === accessToken && subjectAudience === undefined && hasAudiences(state)
      ? { ...met, rule: 'SUBJECT_AUDIENCE' as const, isMet: null }
      : explain('SUBJECT_AUDIENCE', () => {
          if (type === accessToken) assertSubjectAudience(subjectAudience ?? '', state);
        }),
    ...consentRules.map(({ name, assert }) => explain(name, () => assert(facts))),
    ...keyRules.map(({ name, assert }) => explain(name, () => assert(keyFacts))),
    ...actorRules.map(({ name, assert }) => explain(name, () => assert(actorFacts))),
    ...targetRules.map(({ name, assert }) => explain(name, () => assert(facts))),
    explain('SCOPE_GRAMMAR', () => assertScopes(parsed)),
  ];
  const names = parsed ?? [];
  // It is not known by which it authenticates: of several, the one that opens it. Without any, that is refused above.
  const used = credentials.length > 0 ? credentials : [everything];
  const granted = new Set(used.flatMap((scopes) => grantedScopes(names, facts, scopes)));
  const holdings = names.map(
    (scope) => ({ kind: 'user', subjectId: userId, target, scope }) as const,
  );
  const sources = await readSources(database.tokens, holdings, false);
  const scopes = names.map((name, index) => explainScope(name, granted.has(name), sources[index]));
  return { rules, scopes, expiresIn: ttlOfTarget(target, state) };
}

async function boundsOfPersonal(
  { tokens }: Services['database'],
  resource: string | undefined,
): Promise<Bounds> {
  const registered = resource === undefined ? null : await registeredSpelling(tokens, resource);
  return personalBounds({ scope: null, resource: registered });
}

/** Of a token that came through an application that does not exist. */
function explainOrigin(type: SubjectTokenType, state: SubjectState): ExplainedRule {
  // It ended with a third party's, and it is not known whose the application was.
  if (!type.endsWithApplication) return { ...met, rule: 'SUBJECT_TOKEN', isMet: null };
  return explain('SUBJECT_TOKEN', () => {
    const fault = faultOfOrigin(state);
    if (fault !== undefined) throw new TokenFault(fault);
  });
}

/** The names, each once; undefined if one of them breaks the grammar of a scope's name. */
function parseNames(names: readonly string[]): string[] | undefined {
  return names.some((name) => name.includes(' ')) ? undefined : parseScope(names.join(' '));
}

const hasAudiences = ({ exchangeSubjectAudiences }: SubjectState) =>
  (exchangeSubjectAudiences ?? []).length > 0;

const met = { isMet: true, error: null, errorDescription: null };

function explain(rule: ExplainedRule['rule'], assert: () => void): ExplainedRule {
  try {
    assert();
    return { ...met, rule };
  } catch (error) {
    const refusal =
      error instanceof TokenFault
        ? new InvalidRequest(`subject_token is refused: ${error.message}`)
        : error;
    if (!(refusal instanceof OAuthError)) throw error;
    return { rule, isMet: false, error: refusal.code, errorDescription: refusal.message };
  }
}

function explainScope(
  name: string,
  isGranted: boolean,
  sources: readonly ScopeSource[] | undefined,
): ExplainedScope {
  if (isGranted) return { name, outcome: 'GRANTED', sources: sources ?? [] };
  if (!sources) return { name, outcome: 'UNKNOWN', sources: [] };
  if (sources.some(({ counts }) => counts)) return { name, outcome: 'LIMITED', sources };
  return { name, outcome: sources.length > 0 ? 'HELD_ELSEWHERE' : 'NOT_HELD', sources };
}

/** The most scopes that one explanation is about. */
export const maxExplainedScopes = 100;

/** The names of a target's scopes, which an explanation is about if none are named. */
async function readScopeNames(
  { prisma }: Services['database'],
  { indicator, isOrganization }: Target,
): Promise<string[]> {
  const page = {
    select: { name: true },
    orderBy: { name: 'asc' },
    take: maxExplainedScopes,
  } as const;
  const scopes = isOrganization
    ? await prisma.organizationScope.findMany(page)
    : await prisma.scope.findMany({
        ...page,
        where: { resource: { indicator: textForQuery(indicator) ?? '' } },
      });
  return scopes.map(({ name }) => name);
}
