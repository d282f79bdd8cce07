import { organizationPrefix } from '../auth/scopes.ts';
import { createSharedStatement } from '../db/batch.ts';
import { askedTogether, type Sql, textForQuery } from '../db/sql.ts';
import type { Services } from '../services.ts';
import {
  holds,
  isIssued,
  joinResource,
  type SubjectKind,
  scopesOf,
  subjects,
  type TargetKind,
} from './held.ts';
import { questionOf } from './sources.ts';
import { faultOfIndicator, faultOfNames, kindOfTarget, type Target } from './target.ts';

/** A subject, and what it would have a token for. */
export interface Asked {
  readonly kind: SubjectKind;
  readonly subjectId: string;
  readonly target: Target;
}

/** Where a page of names begins, and how long it may be. */
export interface NamesPage {
  readonly after: string;
  readonly limit: number;
}

/** A scope that a subject is granted. */
export interface GrantedScope {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

type Readers = Pick<Services, 'database' | 'clock'>;

const values = ({ kind, subjectId, target }: Asked, at: Date) => [
  at.toISOString(),
  ...questionOf(subjectId, kind, target),
];

const rowOf = (kind: SubjectKind, join = 'JOIN') => {
  const { table, row } = subjects[kind];
  return `${join} "${table}" ${row} ON ${row}."id" = q.subject`;
};

const resourceOf = (target: TargetKind, join: 'JOIN' | 'LEFT JOIN' = 'JOIN') =>
  target === 'resource' ? joinResource(join) : '';

const isGranted = (kind: SubjectKind, target: TargetKind) =>
  `${isIssued(kind, target)} AND ${holds(kind, target)}`;

/** Whether no token is issued for a target, whoever asks and whatever is registered. */
export const isImpossible = (target: Target): boolean =>
  (faultOfIndicator(target.indicator) ?? faultOfNames(target)) !== undefined;

/**
 * Reads the scopes that a subject would get in a token for a target if it asked for all of them, by name. None where no
 * token would be issued.
 */
export async function readGrantedScopes(
  { database, clock }: Readers,
  asked: Asked,
  page?: NamesPage,
): Promise<GrantedScope[]> {
  const { kind } = asked;
  if (isImpossible(asked.target)) return [];
  const target = kindOfTarget(asked.target);
  const { after = '', limit = null } = page ?? {};
  return database.sql.query<GrantedScope>(
    `granted-scopes-${kind}-${target}`,
    `SELECT s."id", s."name", s."description"
       FROM (SELECT $1::timestamptz AS at, $2::text AS subject, $3::text AS indicator, $4::text AS canonical,
                    $5::text AS organization) q
       ${rowOf(kind)} ${resourceOf(target)} JOIN ${scopesOf[target].table} ON ${scopesOf[target].isOfTarget}
      WHERE s."name" > $6 AND ${isGranted(kind, target)}
      ORDER BY s."name" LIMIT $7`,
    [...values(asked, clock.now()), textForQuery(after), limit],
  );
}

/** Whether a subject is granted one scope. */
export interface Evaluation extends Asked {
  readonly scope: string;
}

const evaluationStatement = (kind: SubjectKind, target: TargetKind) => `
  SELECT EXISTS (
           SELECT 1 FROM ${scopesOf[target].table}
            WHERE ${scopesOf[target].isOfTarget} AND s."name" = q.scope AND ${isGranted(kind, target)}
         ) AS "isGranted"
    FROM ${askedTogether(['subject', 'indicator', 'canonical', 'organization', 'scope'], 2)}
    CROSS JOIN (SELECT $1::timestamptz AS at) now
    ${rowOf(kind, 'LEFT JOIN')} ${resourceOf(target, 'LEFT JOIN')}
   ORDER BY q.n`;

type Evaluating = Evaluation & { readonly at: Date };

// Of their own: no exchange waits for them.
const evaluators = new Map<
  string,
  (sql: Sql, question: Evaluating) => Promise<{ isGranted: boolean }>
>();

function evaluatorOf(kind: SubjectKind, target: TargetKind) {
  const name = `evaluation-${kind}-${target}`;
  const known = evaluators.get(name);
  if (known) return known;
  const statement = evaluationStatement(kind, target);
  const evaluator = createSharedStatement((sql, questions: readonly Evaluating[]) => {
    const at = questions.at(-1)?.at.toISOString();
    const rows = questions.map((one) => [
      ...questionOf(one.subjectId, kind, one.target),
      textForQuery(one.scope),
    ]);
    const columns = [0, 1, 2, 3, 4].map((column) => rows.map((row) => row[column]));
    return sql.query<{ isGranted: boolean }>(name, statement, [at, ...columns]);
  });
  evaluators.set(name, evaluator);
  return evaluator;
}

/** Whether a token for the target that is issued now would have the scope, if the subject asked for it. */
export async function evaluate(
  { database, clock }: Readers,
  question: Evaluation,
): Promise<boolean> {
  if (isImpossible(question.target)) return false;
  const ask = evaluatorOf(question.kind, kindOfTarget(question.target));
  return (await ask(database.tokens, { ...question, at: clock.now() })).isGranted;
}

// A subject is granted scopes of an organization itself in those that it is a member of, or in the one that is named.
const indicatorsStatement = (kind: SubjectKind) => {
  const { memberships, id } = subjects[kind];
  return `
    SELECT x."indicator" FROM (
      SELECT r."indicator"
        FROM (SELECT $1::timestamptz AS at, $2::text AS subject, $3::text AS organization) q
        ${rowOf(kind)} JOIN "Scope" s ON s."name" = $4 JOIN "Resource" r ON r."id" = s."resourceId"
       WHERE ${isGranted(kind, 'resource')}
      UNION ALL
      SELECT '${organizationPrefix}' || q.organization
        FROM (SELECT m."${id}" AS subject, m."organizationId" AS organization FROM "${memberships}" m
               WHERE m."${id}" = $2 AND ($3::text IS NULL OR m."organizationId" = $3)) q
        ${rowOf(kind)} JOIN "OrganizationScope" s ON s."name" = $4
       WHERE ${isGranted(kind, 'organization')}
    ) x WHERE x."indicator" > $5 ORDER BY x."indicator" LIMIT $6`;
};

/** What a subject would have a token for, with one scope. */
export interface AskedEverywhere extends Omit<Asked, 'target'> {
  readonly organizationId: string | undefined;
  readonly scope: string;
}

/** Reads the indicators of the targets at which a subject is granted a scope, in their order. */
export async function readIndicators(
  { database, clock }: Readers,
  { kind, subjectId, organizationId, scope }: AskedEverywhere,
  { after, limit }: NamesPage,
): Promise<string[]> {
  const [subject, , , organization] = questionOf(subjectId, kind, {
    indicator: '',
    organizationId,
    isOrganization: false,
  });
  const rows = await database.sql.query<{ indicator: string }>(
    `indicators-${kind}`,
    indicatorsStatement(kind),
    [
      clock.now().toISOString(),
      subject,
      organization,
      textForQuery(scope),
      textForQuery(after),
      limit,
    ],
  );
  return rows.map(({ indicator }) => indicator);
}
