import { accountIndicator } from '../../auth/scopes.ts';

const subjects = {
  user: {
    id: 'userId',
    roles: 'UserRole',
    organizationRoles: 'OrganizationUserRole',
    memberships: 'OrganizationUser',
    // Every person holds the scopes of their own account, by no role.
    ownResource: `r."indicator" = '${accountIndicator}'`,
  },
  application: {
    id: 'applicationId',
    roles: 'ApplicationRole',
    organizationRoles: 'OrganizationApplicationRole',
    memberships: 'OrganizationApplication',
    ownResource: 'false',
  },
} as const;

type Subject = (typeof subjects)[keyof typeof subjects];

/** Who holds the scopes of a grant. */
export type SubjectKind = keyof typeof subjects;

// The pieces below are for a statement with a row `q` for each request: its subject, organization and scopes. What
// decides and what explains are made of the same pieces.

// How a subject holds a scope `s` of a resource.
const throughRole = ({ id, roles }: Subject) => `
  FROM "${roles}" h JOIN "RoleScope" g ON g."roleId" = h."roleId"
 WHERE h."${id}" = q.subject AND g."scopeId" = s."id"`;
const throughOrganizationRole = ({ id, organizationRoles }: Subject) => `
  FROM "${organizationRoles}" h JOIN "OrganizationRoleResourceScope" g
    ON g."organizationRoleId" = h."organizationRoleId"
 WHERE h."${id}" = q.subject AND g."scopeId" = s."id"`;
// With an organization, its roles count beside the global ones; without, the roles of every organization count.
const counts = '(q.organization IS NULL OR h."organizationId" = q.organization)';

// How a subject holds an organization scope `s`.
const inOrganization = ({ id, organizationRoles }: Subject) => `
  "${organizationRoles}" h JOIN "OrganizationRoleScope" g
    ON g."organizationRoleId" = h."organizationRoleId"
    AND h."${id}" = q.subject`;

const asked = `s."name" = ANY (string_to_array(q.scopes, ' '))`;

/** The column `isMember`. */
export const membership = (kind: SubjectKind) => {
  const { id, memberships } = subjects[kind];
  return `
  q.organization IS NOT NULL AND EXISTS (
    SELECT 1 FROM "${memberships}" m
     WHERE m."organizationId" = q.organization AND m."${id}" = q.subject) AS "isMember"`;
};

/** The column `scopes`: those of the resource `r` that are asked for and held. */
export const resourceScopes = (kind: SubjectKind) => `
  ARRAY(SELECT s."name" FROM "Scope" s
         WHERE s."resourceId" = r."id" AND ${asked}
           AND (${subjects[kind].ownResource}
             OR EXISTS (SELECT 1 ${throughRole(subjects[kind])})
             OR EXISTS (SELECT 1 ${throughOrganizationRole(subjects[kind])} AND ${counts}))) AS "scopes"`;

/** The same for an organization itself. */
export const organizationScopes = (kind: SubjectKind) => `
  ARRAY(SELECT DISTINCT s."name" FROM ${inOrganization(subjects[kind])}
          JOIN "OrganizationScope" s ON s."id" = g."organizationScopeId"
         WHERE h."organizationId" = q.organization AND ${asked}) AS "scopes"`;

// A user may have a role in thousands of organizations.
const maxSources = 20;

const organizationRoles = (from: string, condition: string) => `
  (SELECT coalesce(jsonb_agg(to_jsonb(o)), '[]')
     FROM (SELECT h."organizationRoleId", h."organizationId", ${condition} AS "counts" ${from}
            ORDER BY 3 DESC, 2, 1 LIMIT ${maxSources}) o) AS "organizationRoles"`;

/** Selects, for each scope asked for that the resource has, roles by which a user holds it: those that count first. */
export const resourceScopeSources = `
  SELECT s."name", ARRAY(SELECT h."roleId" ${throughRole(subjects.user)} ORDER BY 1 LIMIT ${maxSources}) AS "roleIds",
         ${organizationRoles(throughOrganizationRole(subjects.user), counts)}
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS q(subject, indicator, organization, scopes)
    JOIN "Resource" r ON r."indicator" = q.indicator
    JOIN "Scope" s ON s."resourceId" = r."id" AND ${asked}`;

/** The same for an organization itself. */
export const organizationScopeSources = `
  SELECT s."name", '{}'::text[] AS "roleIds",
         ${organizationRoles(
           `FROM ${inOrganization(subjects.user)} WHERE g."organizationScopeId" = s."id"`,
           'h."organizationId" = q.organization',
         )}
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS q(subject, indicator, organization, scopes)
    JOIN "OrganizationScope" s ON ${asked}`;
