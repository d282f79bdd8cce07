import type { Sql } from '../db/sql.ts';
import type { ApplicationType } from '../generated/prisma/client.ts';
import { idForQuery, type Target, textForQuery } from './target.ts';

/** What the database knows about a client, a target, and what a subject may do there. */
export interface GrantState {
  /** Null where there is no such client. */
  readonly type: ApplicationType | null;
  readonly allowTokenExchange: boolean | null;
  readonly exchangeSubjectAudiences: readonly string[] | null;
  readonly exchangeResources: readonly string[] | null;
  /** SHA-256 of each of the client's live secrets, in hexadecimal. */
  readonly digests: readonly string[];
  /** Lifetime of the resource's access tokens; null where no such resource is registered. */
  readonly ttlSeconds: number | null;
  /** Whether the subject belongs to the organization named. */
  readonly isMember: boolean;
  /** Of the scopes asked for, those that the subject holds. */
  readonly scopes: readonly string[];
}

/** What the database knows about a subject token beside that. */
export interface SubjectState extends GrantState {
  readonly subjectClientExists: boolean;
  readonly isRevoked: boolean;
  /** Null where there is no such user, and then the next two are null too. */
  readonly userId: string | null;
  readonly isSuspended: boolean | null;
  readonly tokensValidAfter: Date | null;
}

/** What a grant asks the database. Nothing in it has to be true, or even well-formed. */
export interface GrantQuestion {
  readonly clientId: string;
  readonly at: Date;
  readonly target: Target;
  readonly scopes: readonly string[];
}

const subjects = {
  user: {
    id: 'userId',
    roles: 'UserRole',
    organizationRoles: 'OrganizationUserRole',
    memberships: 'OrganizationUser',
  },
  application: {
    id: 'applicationId',
    roles: 'ApplicationRole',
    organizationRoles: 'OrganizationApplicationRole',
    memberships: 'OrganizationApplication',
  },
} as const;

type Subject = (typeof subjects)[keyof typeof subjects];

// $1 client, $2 now, $3 indicator, $4 organization, $5 scopes asked for, $6 subject. Each part is one look into an
// index, and the scopes are looked up from the names asked for: a user with thousands of rights costs no more.
const clientAndTarget = `
  a."type", a."allowTokenExchange", a."exchangeSubjectAudiences", a."exchangeResources",
  ARRAY(SELECT encode(x."digest", 'hex') FROM "ApplicationSecret" x
         WHERE x."applicationId" = $1 AND (x."expiresAt" IS NULL OR x."expiresAt" > $2::timestamptz)) AS "digests",
  r."accessTokenTtlSeconds" AS "ttlSeconds"`;

const membership = ({ id, memberships }: Subject) => `
  EXISTS (SELECT 1 FROM "${memberships}" m
           WHERE m."organizationId" = $4::text AND m."${id}" = $6::text) AS "isMember"`;

// With an organization its roles alone count beside the global ones; without, those of every organization.
const resourceScopes = ({ id, roles, organizationRoles }: Subject) => `
  ARRAY(SELECT s."name" FROM "Scope" s
         WHERE s."resourceId" = r."id" AND s."name" = ANY ($5::text[])
           AND (EXISTS (SELECT 1 FROM "${roles}" h JOIN "RoleScope" g ON g."roleId" = h."roleId"
                         WHERE h."${id}" = $6::text AND g."scopeId" = s."id")
             OR EXISTS (SELECT 1 FROM "${organizationRoles}" h
                          JOIN "OrganizationRoleResourceScope" g ON g."organizationRoleId" = h."organizationRoleId"
                         WHERE h."${id}" = $6::text AND g."scopeId" = s."id"
                           AND ($4::text IS NULL OR h."organizationId" = $4::text)))) AS "scopes"`;

const organizationScopes = ({ id, organizationRoles }: Subject) => `
  ARRAY(SELECT DISTINCT s."name" FROM "${organizationRoles}" h
          JOIN "OrganizationRoleScope" g ON g."organizationRoleId" = h."organizationRoleId"
          JOIN "OrganizationScope" s ON s."id" = g."organizationScopeId"
         WHERE h."organizationId" = $4::text AND h."${id}" = $6::text
           AND s."name" = ANY ($5::text[])) AS "scopes"`;

const from = `
  FROM (SELECT 1) AS one
  LEFT JOIN "Application" a ON a."id" = $1
  LEFT JOIN "Resource" r ON r."indicator" = $3::text`;

const clientStatement = (scopes: (subject: Subject) => string) =>
  `SELECT ${clientAndTarget}, ${membership(subjects.application)}, ${scopes(subjects.application)} ${from}`;

// $7 the subject token's client, $8 its jti.
const subjectStatement = (scopes: (subject: Subject) => string) =>
  `SELECT ${clientAndTarget}, ${membership(subjects.user)}, ${scopes(subjects.user)},
  EXISTS (SELECT 1 FROM "Application" i WHERE i."id" = $7::text) AS "subjectClientExists",
  EXISTS (SELECT 1 FROM "RevokedToken" t WHERE t."jti" = $8::text) AS "isRevoked",
  u."id" AS "userId", u."isSuspended", u."tokensValidAfter" ${from}
  LEFT JOIN "User" u ON u."id" = $6::text`;

const statements = {
  client: clientStatement(resourceScopes),
  clientInOrganization: clientStatement(organizationScopes),
  subject: subjectStatement(resourceScopes),
  subjectInOrganization: subjectStatement(organizationScopes),
};

function valuesOf({ clientId, at, target, scopes }: GrantQuestion) {
  return [
    idForQuery(clientId, 'Application'),
    at.toISOString(),
    target.isOrganization ? null : textForQuery(target.indicator),
    // An organization that cannot exist is not the same as none: it must not widen what counts.
    target.organizationId === undefined
      ? null
      : (idForQuery(target.organizationId, 'Organization') ?? ''),
    scopes,
  ];
}

async function readRow<Row>(sql: Sql, name: keyof typeof statements, values: readonly unknown[]) {
  const [row] = await sql.query<Row>(`grant-${name}`, statements[name], values);
  if (!row) throw new Error('A statement that always gives a row gave none.');
  return row;
}

/** Reads, in one statement, what a client may have for itself. */
export function readClientState(sql: Sql, question: GrantQuestion): Promise<GrantState> {
  const name = question.target.isOrganization ? 'clientInOrganization' : 'client';
  const values = valuesOf(question);
  return readRow(sql, name, [...values, values[0]]);
}

/**
 * Reads, in one statement, what a client may have in a user's place.
 *
 * @param claims The subject token's, of which nothing has been proved yet.
 */
export function readSubjectState(
  sql: Sql,
  question: GrantQuestion,
  claims: { readonly sub?: unknown; readonly client_id?: unknown; readonly jti?: unknown },
): Promise<SubjectState> {
  const name = question.target.isOrganization ? 'subjectInOrganization' : 'subject';
  return readRow(sql, name, [
    ...valuesOf(question),
    idForQuery(claims.sub, 'User'),
    idForQuery(claims.client_id, 'Application'),
    textForQuery(claims.jti),
  ]);
}
