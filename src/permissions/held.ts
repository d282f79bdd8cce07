import { coversInSql } from '../auth/granting/setter-scopes.ts';
import { accountIndicator, managementIndicator, ownIndicators } from '../auth/scopes.ts';
import { namedResource } from '../resources/spellings.ts';

// Who holds which scopes, as pieces of SQL. The token endpoint grants by them, and whatever is asked about rights is
// answered by them, so that the answers are the same. A statement has a row `q` for each question, with `subject`,
// `organization` and more, the row of the subject as `u` or `a`, a scope `s`, and the resource `r` that defines it.

/** The pieces of SQL that are about one kind of subject. */
interface Subject {
  /** Its table, and the name of its row. */
  readonly table: string;
  readonly row: string;
  /** The column of its id in other tables. */
  readonly id: string;
  readonly roles: string;
  readonly organizationRoles: string;
  readonly memberships: string;
  /** The condition that everybody of that kind holds the scopes of the resource, without a role. */
  readonly own: string;
  /** The condition on its row under which it holds a scope of the management API. */
  readonly bound: string;
}

/** Each kind of subject that holds scopes. */
export const subjects = {
  user: {
    table: 'User',
    row: 'u',
    id: 'userId',
    roles: 'UserRole',
    organizationRoles: 'OrganizationUserRole',
    memberships: 'OrganizationUser',
    // Everybody holds the scopes of their own account, without a role.
    own: `r."indicator" = '${accountIndicator}'`,
    bound: coversInSql('u."setterScopes"', 's."name"'),
  },
  application: {
    table: 'Application',
    row: 'a',
    id: 'applicationId',
    roles: 'ApplicationRole',
    organizationRoles: 'OrganizationApplicationRole',
    memberships: 'OrganizationApplication',
    own: 'false',
    bound: 'true',
  },
} as const satisfies Record<string, Subject>;

/** Who holds scopes. */
export type SubjectKind = keyof typeof subjects;

/** What a scope is of: a resource, or an organization itself. */
export type TargetKind = 'resource' | 'organization';

/** What is known of the organization of a question when its statement is written: nothing, that it names one, or none. */
export type Known = 'nothing' | 'one' | 'none';

/** What counts only in the organization of the question, if it names one. */
const inIt = (known: Known, condition: string): string =>
  known === 'nothing'
    ? `(q.organization IS NULL OR ${condition})`
    : known === 'one'
      ? condition
      : 'true';

const isManagement = `r."indicator" = '${managementIndicator}'`;
// A role gives no more of the management API than its giver held.
const given = `(NOT ${isManagement} OR ${coversInSql('h."setterScopes"', 's."name"')})`;

/** A way in which subjects hold a scope `s`: by the role of an assignment `h`, to which a row `g` gives the scope. */
export interface Way {
  readonly grants: string;
  /** The condition on `g`. */
  readonly grantsScope: string;
  readonly holders: string;
  /** The column of the role, in both. */
  readonly role: 'roleId' | 'organizationRoleId';
  /** The condition that the assignment counts for the organization of the question. */
  readonly counts: string;
  /** The condition that it gives the scope. */
  readonly gives: string;
}

/** The ways in which a kind of subject holds a scope of a kind of target. */
export function waysTo(
  { roles, organizationRoles }: Subject,
  target: TargetKind,
  known: Known = 'nothing',
): readonly Way[] {
  const isInIt = 'h."organizationId" = q.organization';
  const memberRole = {
    holders: `"${organizationRoles}" h`,
    role: 'organizationRoleId',
  } as const;
  if (target === 'organization') {
    const grants = '"OrganizationRoleScope" g';
    const grantsScope = 'g."organizationScopeId" = s."id"';
    return [{ ...memberRole, grants, grantsScope, counts: isInIt, gives: 'true' }];
  }
  const grantsScope = 'g."scopeId" = s."id"';
  return [
    {
      grants: '"RoleScope" g',
      grantsScope,
      holders: `"${roles}" h`,
      role: 'roleId',
      counts: 'true',
      gives: given,
    },
    {
      ...memberRole,
      grants: '"OrganizationRoleResourceScope" g',
      grantsScope,
      // With an organization, its roles count beside the global ones; without, the roles of every organization count.
      counts: inIt(known, isInIt),
      gives: given,
    },
  ];
}

/** The rest of a subquery for what a subject has by one way. */
export const byWay = ({ holders, grants, grantsScope, role }: Way, id: string): string => `
  FROM ${holders} JOIN ${grants} ON h."${role}" = g."${role}" WHERE h."${id}" = q.subject AND ${grantsScope}`;

/** The condition on the subject itself under which it holds a scope. */
export const isBoundBy = ({ bound }: Subject, target: TargetKind): string =>
  target === 'resource' ? `(NOT ${isManagement} OR ${bound})` : 'true';

/** The condition that the subject of a question holds a scope `s`. */
export function holds(kind: SubjectKind, target: TargetKind, known?: Known): string {
  const subject = subjects[kind];
  const ways = waysTo(subject, target, known).map(
    (way) => `EXISTS (SELECT 1 ${byWay(way, subject.id)} AND ${way.counts} AND ${way.gives})`,
  );
  const own = target === 'resource' ? [subject.own] : [];
  return `${isBoundBy(subject, target)} AND (${[...own, ...ways].join(' OR ')})`;
}

/** Joins the resource `r` that a question `q` names by `indicator`, whose `canonical` form it has too. */
export const joinResource = (join: 'JOIN' | 'LEFT JOIN' = 'JOIN'): string =>
  `${join} "Resource" r ON r."id" = ${namedResource('q.indicator', 'q.canonical')}`;

/** The scopes of a target, and the condition on them. */
export const scopesOf = {
  resource: { table: '"Scope" s', isOfTarget: 's."resourceId" = r."id"' },
  organization: { table: '"OrganizationScope" s', isOfTarget: 'true' },
} as const satisfies Record<TargetKind, object>;

/** The column `scopes` of a token request: those of the target that are asked for and held. */
export const heldScopes = (kind: SubjectKind, target: TargetKind): string => `
  ARRAY(SELECT s."name" FROM ${scopesOf[target].table}
         WHERE ${scopesOf[target].isOfTarget} AND s."name" = ANY (string_to_array(q.scopes, ' '))
           AND ${holds(kind, target)}) AS "scopes"`;

const isMemberOf = ({ memberships, id }: Subject, subject: string): string => `EXISTS (
  SELECT 1 FROM "${memberships}" m WHERE m."organizationId" = q.organization AND m."${id}" = ${subject})`;

/** The column `isMember` of a token request. */
export const membership = (kind: SubjectKind): string =>
  `q.organization IS NOT NULL AND ${isMemberOf(subjects[kind], 'q.subject')} AS "isMember"`;

/** The live secrets of an application's row, as `x`, at the time `$1`. */
export const liveSecrets = (application: string): string => `
  FROM "ApplicationSecret" x
 WHERE x."applicationId" = ${application}."id" AND ${application}."allowSecrets"
   AND (x."expiresAt" IS NULL OR x."expiresAt" > $1::timestamptz)`;

// Of Signet's own APIs, a token reaches what whoever made the client's secret or set its keys held.
const isOpenedBy = (setterScopes: string) => `(
  r."indicator" NOT IN (${[...ownIndicators].map((one) => `'${one}'`)}) OR ${coversInSql(setterScopes, 's."name"')})`;
const hasKeys = '(a."jwks" IS NOT NULL OR a."jwksUri" IS NOT NULL)';

const mayHaveToken = (kind: SubjectKind, target: TargetKind): string =>
  kind === 'user'
    ? 'NOT u."isSuspended"'
    : `a."type" = 'MACHINE_TO_MACHINE' AND (
        EXISTS (SELECT 1 ${liveSecrets('a')} AND ${target === 'resource' ? isOpenedBy('x."setterScopes"') : 'true'})
        OR ${hasKeys} AND ${target === 'resource' ? isOpenedBy('a."keySetterScopes"') : 'true'})`;

/**
 * The condition that tokens with a scope `s` are issued for the subject that a row stands for, if it holds the scope:
 * it exists and is not suspended, can authenticate, and is a member of the organization of the question.
 */
export function isIssued(kind: SubjectKind, target: TargetKind, known?: Known): string {
  const isMember = isMemberOf(subjects[kind], `${subjects[kind].row}."id"`);
  // An organization is itself the one that its tokens are limited to.
  return `${mayHaveToken(kind, target)} AND ${inIt(target === 'organization' ? 'one' : (known ?? 'nothing'), isMember)}`;
}
