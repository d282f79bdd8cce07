import { canonicalIndicator } from '../auth/indicators.ts';
import { textForQuery } from '../db/sql.ts';
import { idForQuery } from '../ids.ts';
import type { Services } from '../services.ts';
import { isImpossible } from './granted.ts';
import {
  isBoundBy,
  isIssued,
  joinResource,
  type Known,
  type SubjectKind,
  scopesOf,
  subjects,
  type TargetKind,
  type Way,
  waysTo,
} from './held.ts';
import { kindOfTarget, type Target } from './target.ts';

/** Who is granted a scope at a target. */
export interface HoldersQuestion {
  readonly target: Target;
  readonly scope: string;
  /** The kinds of subjects to list; both by default. */
  readonly kinds?: readonly SubjectKind[];
}

/** A page of a list that is ordered by id. */
export interface HoldersPage {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
  /** Whether the last ones are read, from the end. */
  readonly isBackward?: boolean;
}

const resourceOf = (target: TargetKind) => (target === 'resource' ? joinResource() : '');

const askedScope = (target: TargetKind) => `
  FROM q ${resourceOf(target)}
  JOIN ${scopesOf[target].table} ON ${scopesOf[target].isOfTarget} AND s."name" = q.scope`;

// `$1` is now, and the others are of `q`.
const askedOnce = `WITH q AS (
  SELECT $1::timestamptz AS at, $2::text AS indicator, $3::text AS canonical, $4::text AS organization, $5::text AS scope)`;

/** A role that gives the scope of a question. */
interface Giving {
  readonly role: Way['role'];
  readonly id: string;
}

/** The roles that give the scope, whoever has them. */
async function readGiving(
  { sql }: Services['database'],
  target: TargetKind,
  values: readonly unknown[],
): Promise<Giving[]> {
  const selections = waysTo(subjects.user, target).map(
    ({ role, grants, grantsScope }) =>
      `SELECT '${role}' AS "role", g."${role}" AS "id" ${askedScope(target)} JOIN ${grants} ON ${grantsScope}`,
  );
  return sql.query<Giving>(
    `roles-of-scope-${target}`,
    `${askedOnce} ${selections.join(' UNION ALL ')}`,
    values,
  );
}

/** How much of the holders of each role is read. */
interface Extent {
  /** The condition that an id is in the page. */
  readonly isIn: (id: string) => string;
  /** The order and the size of the page. */
  readonly tail: (id: string) => string;
  /** Whether all are read, and not a page in the order of their ids. */
  readonly isWhole: boolean;
}

// More are looked for together, and then sorted.
const maxBranches = 20;

/**
 * The selections of the `id`s of one kind of subject that a question finds. Each role is a value of the statement, so
 * that the database knows how many have it: it reads few and sorts them, and many in their order.
 */
function branchesOf(
  kind: SubjectKind,
  target: TargetKind,
  known: Known,
  giving: readonly Giving[],
  { isIn, tail, isWhole }: Extent,
  bind: (value: unknown) => string,
): string[] {
  const subject = subjects[kind];
  const { table, row, id } = subject;
  const selected = (from: string) =>
    `SELECT y."id" ${askedScope(target)} CROSS JOIN LATERAL (${from}) y`;
  const mayHold = `${isIssued(kind, target, known)} AND ${isBoundBy(subject, target)}`;
  const byRoles = waysTo(subject, target, known).flatMap((way) => {
    // Within an organization, it may be better to begin with the members. Elsewhere that is never so for a page.
    const holders =
      known === 'one' || isWhole
        ? `JOIN "${table}" ${row} ON ${row}."id" = h."${id}" WHERE ${mayHold} AND ${isIn(`${row}."id"`)}`
        : `WHERE EXISTS (SELECT 1 FROM "${table}" ${row} WHERE ${row}."id" = h."${id}" AND ${mayHold} OFFSET 0)`;
    const roles = giving.filter(({ role }) => role === way.role).map((one) => one.id);
    const conditions =
      roles.length > maxBranches
        ? [`= ANY (${bind(roles)}::text[])`]
        : roles.map((role) => `= ${bind(role)}`);
    return conditions.map((condition) =>
      selected(`
        SELECT h."${id}" AS "id" FROM ${way.holders} ${holders}
           AND h."${way.role}" ${condition} AND ${way.counts} AND ${way.gives} AND ${isIn(`h."${id}"`)}
         ${tail(`h."${id}"`)}`),
    );
  });
  if (subject.own === 'false' || target === 'organization') return byRoles;
  const everybody = `
    SELECT ${row}."id" FROM "${table}" ${row}
     WHERE ${subject.own} AND ${isIssued(kind, target, known)} AND ${isIn(`${row}."id"`)} ${tail(`${row}."id"`)}`;
  return [...byRoles, selected(everybody)];
}

/** Makes the selection of the ids that a question finds, with its values; undefined if nobody can have the scope. */
async function select(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { target, scope, kinds = ['application', 'user'] }: HoldersQuestion,
  more: readonly unknown[],
  extent: Extent,
): Promise<{ ids: string; values: readonly unknown[] } | undefined> {
  const { indicator, organizationId } = target;
  const known = organizationId === undefined ? 'none' : 'one';
  const asked = [
    clock.now().toISOString(),
    textForQuery(indicator),
    canonicalIndicator(indicator),
    organizationId === undefined ? null : idForQuery(organizationId, 'Organization'),
    textForQuery(scope),
  ];
  const giving = await readGiving(database, kindOfTarget(target), asked);
  const values: unknown[] = [...asked, ...more];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const branches = kinds.flatMap((kind) =>
    branchesOf(kind, kindOfTarget(target), known, giving, extent, bind),
  );
  if (branches.length === 0) return undefined;
  return { ids: branches.map((one) => `(${one})`).join(' UNION '), values };
}

/**
 * Reads who would get a scope in a token for a target, one page in the order of their ids: applications, then users.
 * Both come from the same conditions as the scopes of a token.
 */
export async function readHolders(
  services: Pick<Services, 'database' | 'clock'>,
  question: HoldersQuestion,
  { after, before, limit, isBackward = false }: HoldersPage,
): Promise<string[]> {
  if (isImpossible(question.target)) return [];
  const order = isBackward ? 'DESC' : 'ASC';
  const selected = await select(services, question, [after ?? '', before ?? null, limit], {
    isIn: (id) => `${id} > $6 AND ($7::text IS NULL OR ${id} < $7)`,
    tail: (id) => `ORDER BY ${id} ${order} LIMIT $8`,
    isWhole: false,
  });
  if (!selected) return [];
  const rows = await services.database.sql.query<{ id: string }>(
    '',
    `${askedOnce} SELECT "id" FROM (${selected.ids}) x ORDER BY "id" ${order} LIMIT $8`,
    selected.values,
  );
  return rows.map(({ id }) => id);
}

/** Counts who would get a scope in a token for a target. */
export async function countHolders(
  services: Pick<Services, 'database' | 'clock'>,
  question: HoldersQuestion,
): Promise<number> {
  if (isImpossible(question.target)) return 0;
  const selected = await select(services, question, [], {
    isIn: () => 'true',
    tail: () => 'OFFSET 0',
    isWhole: true,
  });
  if (!selected) return 0;
  const [row] = await services.database.sql.query<{ count: number }>(
    '',
    `${askedOnce} SELECT count(*)::int AS "count" FROM (${selected.ids}) x`,
    selected.values,
  );
  return row?.count ?? 0;
}
