import { TokenFault } from '../../../auth/access-token.ts';
import { faultOfUser } from '../../../auth/token-state.ts';
import { textForQuery } from '../../../db/sql.ts';
import { idForQuery } from '../../../ids.ts';
import type { Services } from '../../../services.ts';
import { clientRules, grantedScopes, targetRules } from '../exchange-rules.ts';
import { organizationScopeSources, resourceScopeSources } from '../grant-scopes.ts';
import { readSubjectState, type SubjectState } from '../grant-state.ts';
import { InvalidClient, InvalidRequest, OAuthError } from '../oauth-errors.ts';
import { accessToken, assertSubjectAudience } from '../subject/access-token.ts';
import { agentBounds, noBounds } from '../subject/bounds.ts';
import { personalAccessToken } from '../subject/personal-access-token.ts';
import { subjectToken } from '../subject/subject-token.ts';
import { assertScopes, parseScope, type Target, targetOf, ttlOfTarget } from '../target.ts';

// Stands for a subject token that was issued now, as far as it can be known without one.
const subjectTypes = {
  ACCESS_TOKEN: { type: accessToken, bounds: noBounds },
  SUBJECT_TOKEN: { type: subjectToken, bounds: agentBounds },
  PERSONAL_ACCESS_TOKEN: { type: personalAccessToken, bounds: noBounds },
} as const;

/** The types of subject token, as an explanation is asked about them. */
export type ExplainedTokenType = keyof typeof subjectTypes;

/** What an exchange would be asked for, and by whom. Nothing in it has to exist. */
export interface ExplainedRequest {
  readonly applicationId: string;
  readonly userId: string;
  readonly resource: string;
  /** Undefined: every scope of the resource. */
  readonly scopes: readonly string[] | undefined;
  readonly organizationId: string | undefined;
  readonly subjectTokenType: ExplainedTokenType;
  /** The `aud` of the subject token; undefined: not known. */
  readonly subjectAudience: string | undefined;
}

/** The rules of an exchange, in the order in which they are checked. */
export const ruleNames = [
  'APPLICATION_SECRET',
  ...clientRules.map(({ name }) => name),
  'USER_ACTIVE',
  'SUBJECT_AUDIENCE',
  ...targetRules.map(({ name }) => name),
  'SCOPE_GRAMMAR',
] as const;

/** What came of one rule. */
export interface ExplainedRule {
  readonly rule: (typeof ruleNames)[number];
  /** Null if it depends on the subject token. */
  readonly isMet: boolean | null;
  /** What the token endpoint would answer if it is broken. */
  readonly error: string | null;
  readonly errorDescription: string | null;
}

/** A role by which the user holds a scope. */
export interface ScopeSource {
  readonly roleId: string | null;
  readonly organizationRoleId: string | null;
  readonly organizationId: string | null;
  /** Whether it counts for the organization that the exchange is limited to. */
  readonly counts: boolean;
}

/** What came of one requested scope. */
export interface ExplainedScope {
  readonly name: string;
  readonly outcome: 'GRANTED' | 'UNKNOWN' | 'NOT_HELD' | 'HELD_ELSEWHERE';
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
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  request: ExplainedRequest,
): Promise<Explanation> {
  const { applicationId, userId, subjectAudience } = request;
  const at = clock.now();
  const target = targetOf(request.resource, request.organizationId);
  const asked = request.scopes ?? (await readScopeNames(database, target));
  const parsed = parseNames(asked);
  const question = { clientId: applicationId, at, target, scopes: parsed ?? [] };
  const state = await readSubjectState(database.tokens, question, { sub: userId });
  const { type, bounds } = subjectTypes[request.subjectTokenType];
  const facts = { state, type, target, bounds };
  const rules = [
    explain('APPLICATION_SECRET', () => {
      if (state.digests.length === 0) throw new InvalidClient();
    }),
    ...clientRules.map(({ name, assert }) => explain(name, () => assert(facts))),
    explain('USER_ACTIVE', () => {
      // A token that is issued now is younger than every sign-out.
      const fault = faultOfUser({ ...state, tokensValidAfter: null }, at);
      if (fault) throw new TokenFault(fault);
    }),
    type === accessToken && subjectAudience === undefined && hasAudiences(state)
      ? { ...met, rule: 'SUBJECT_AUDIENCE' as const, isMet: null }
      : explain('SUBJECT_AUDIENCE', () => {
          if (type === accessToken) assertSubjectAudience(subjectAudience ?? '', state);
        }),
    ...targetRules.map(({ name, assert }) => explain(name, () => assert(facts))),
    explain('SCOPE_GRAMMAR', () => assertScopes(parsed)),
  ];
  const granted = new Set(grantedScopes(parsed ?? [], state, bounds));
  const sources = await readSources(database, userId, target, parsed ?? []);
  const scopes = (parsed ?? []).map((name) =>
    explainScope(name, granted.has(name), sources.get(name)),
  );
  return { rules, scopes, expiresIn: ttlOfTarget(target, state) };
}

/** The names, each once; undefined if one of them breaks the grammar of a scope's name. */
function parseNames(names: readonly string[]): string[] | undefined {
  if (names.some((name) => name.includes(' '))) return undefined;
  return names.length === 0 ? [] : parseScope(names.join(' '));
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

interface FoundSources {
  readonly name: string;
  readonly roleIds: readonly string[];
  readonly organizationRoles: readonly Omit<ScopeSource, 'roleId'>[];
}

async function readSources(
  { tokens }: Services['database'],
  userId: string,
  { indicator, organizationId, isOrganization }: Target,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, readonly ScopeSource[]>> {
  const rows = await tokens.query<FoundSources>(
    isOrganization ? 'organization-scope-sources' : 'resource-scope-sources',
    isOrganization ? organizationScopeSources : resourceScopeSources,
    [
      [idForQuery(userId, 'User')],
      [textForQuery(indicator)],
      [organizationId === undefined ? null : (idForQuery(organizationId, 'Organization') ?? '')],
      [scopes.join(' ')],
    ],
  );
  return new Map(
    rows.map(({ name, roleIds, organizationRoles }) => [
      name,
      [
        ...roleIds.map((roleId) => ({
          roleId,
          organizationRoleId: null,
          organizationId: null,
          counts: true,
        })),
        ...organizationRoles.map((source) => ({ roleId: null, ...source })),
      ],
    ]),
  );
}
