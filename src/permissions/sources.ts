import { canonicalIndicator } from '../auth/indicators.ts';
import { askedTogether, type Sql, textForQuery } from '../db/sql.ts';
import { idForQuery, kindOfId } from '../ids.ts';
import {
  byWay,
  joinResource,
  type SubjectKind,
  scopesOf,
  subjects,
  type TargetKind,
  type Way,
  waysTo,
} from './held.ts';
import { kindOfTarget, type Target } from './target.ts';

/** A role by which a subject holds a scope. */
export interface ScopeSource {
  readonly roleId: string | null;
  readonly organizationRoleId: string | null;
  /** The organization in which it has the organization role. */
  readonly organizationId: string | null;
  /** Whether it counts for the organization of the question. */
  readonly counts: boolean;
}

/** What a source is asked for: who, what for, and the scope's name. */
export interface Holding {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  readonly target: Target;
  readonly scope: string;
}

/** The most sources of each kind that an answer names: a subject may have a role in thousands of organizations. */
export const maxSources = 20;

// As JSON, since there may be two kinds of roles, one, or none.
const sourcesBy = (way: Way, id: string, isEffective: boolean): string => {
  const isRole = way.role === 'roleId';
  const columns = isRole
    ? `h."roleId", NULL AS "organizationRoleId", NULL AS "organizationId"`
    : `NULL AS "roleId", h."organizationRoleId", h."organizationId"`;
  return `(SELECT coalesce(jsonb_agg(to_jsonb(o)), '[]') FROM (
    SELECT ${columns}, ${way.counts} AS "counts" ${byWay(way, id)}
      ${isEffective ? `AND ${way.counts} AND ${way.gives}` : ''}
     ORDER BY 4 DESC, 3, 2, 1 LIMIT ${maxSources}) o)`;
};

const sourcesStatement = (kind: SubjectKind, target: TargetKind, isEffective: boolean): string => {
  const subject = subjects[kind];
  const sources = waysTo(subject, target).map((way) => sourcesBy(way, subject.id, isEffective));
  const resource = target === 'resource' ? joinResource() : '';
  return `
    SELECT q.n::int AS "n", ${sources.join(' || ')} AS "sources"
      FROM ${askedTogether(['subject', 'indicator', 'canonical', 'organization', 'scope'])}
      ${resource}
      JOIN ${scopesOf[target].table} ON ${scopesOf[target].isOfTarget} AND s."name" = q.scope`;
};

/** The values of questions for their row `q`: subject, indicator and its canonical form, organization. */
export const questionOf = (
  subjectId: string,
  kind: SubjectKind,
  { indicator, organizationId }: Target,
): readonly (string | null)[] => [
  idForQuery(subjectId, kind === 'user' ? 'User' : 'Application'),
  textForQuery(indicator),
  canonicalIndicator(indicator),
  // An impossible organization is not the same as none: it must not widen the answer.
  organizationId === undefined ? null : (idForQuery(organizationId, 'Organization') ?? ''),
];

/** The kind of a subject by its id; undefined if it is no subject. */
export function kindOfSubject(id: string): SubjectKind | undefined {
  const kind = kindOfId(id);
  return kind === 'User' ? 'user' : kind === 'Application' ? 'application' : undefined;
}

/**
 * Reads the roles by which subjects hold scopes, those that count first: for each holding at most {@link maxSources} of
 * their own, and as many in organizations. Undefined where there is no such scope.
 *
 * @param isEffective Leaves out those that do not count for the organization, or do not give the scope.
 */
export async function readSources(
  sql: Sql,
  holdings: readonly Holding[],
  isEffective: boolean,
): Promise<readonly (readonly ScopeSource[] | undefined)[]> {
  const answers: (readonly ScopeSource[] | undefined)[] = holdings.map(() => undefined);
  const groups = Map.groupBy(holdings.keys(), (index) => {
    const { kind, target } = holdings[index] as Holding;
    return `${kind} ${kindOfTarget(target)}`;
  });
  for (const indexes of groups.values()) {
    const group = indexes.map((index) => holdings[index] as Holding);
    const { kind, target: ofKind } = group[0] as Holding;
    const rows = group.map(({ subjectId, target, scope }) => [
      ...questionOf(subjectId, kind, target),
      textForQuery(scope),
    ]);
    const target = kindOfTarget(ofKind);
    const found = await sql.query<{ n: number; sources: readonly ScopeSource[] }>(
      `sources-${kind}-${target}-${isEffective}`,
      sourcesStatement(kind, target, isEffective),
      [0, 1, 2, 3, 4].map((column) => rows.map((row) => row[column])),
    );
    for (const { n, sources } of found) answers[indexes[n - 1] as number] = sources;
  }
  return answers;
}
