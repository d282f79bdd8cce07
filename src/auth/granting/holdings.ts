import type { Transaction } from '../../db/transaction.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { managementIndicator } from '../scopes.ts';
import { coversInSql } from './setter-scopes.ts';

/** Joins the scopes `s` of the management API to rows `g` with a `scopeId`. */
export const managementScope = Prisma.sql`
  JOIN "Scope" s ON s."id" = g."scopeId"
  JOIN "Resource" r ON r."id" = s."resourceId" AND r."indicator" = ${managementIndicator}`;

// Counted as the token endpoint does: without an organization, the roles of every organization count.
const given = (ids: readonly string[]) => Prisma.sql`
  SELECT h."userId" AS "id", c."scopeId", h."setterScopes"
    FROM "UserRole" h JOIN "RoleScope" c ON c."roleId" = h."roleId"
   WHERE h."userId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."applicationId", c."scopeId", h."setterScopes"
    FROM "ApplicationRole" h JOIN "RoleScope" c ON c."roleId" = h."roleId"
   WHERE h."applicationId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."userId", c."scopeId", h."setterScopes" FROM "OrganizationUserRole" h
    JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = h."organizationRoleId"
   WHERE h."userId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."applicationId", c."scopeId", h."setterScopes" FROM "OrganizationApplicationRole" h
    JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = h."organizationRoleId"
   WHERE h."applicationId" = ANY(${[...ids]}::text[])`;

/**
 * The management scopes that users and applications hold now, by id; none for those deleted or suspended. A scope
 * counts only within the setter scopes of the assignment that gives it, and of the user or application.
 */
export async function readHoldings(
  client: PrismaClient | Transaction,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (subjectIds.length === 0) return new Map();
  const rows = await client.$queryRaw<{ id: string; scopes: string[] }[]>`
    SELECT g."id", array_agg(DISTINCT s."name") AS "scopes"
      FROM (${given(subjectIds)}) g ${managementScope} LEFT JOIN "User" u ON u."id" = g."id"
     WHERE ${Prisma.raw(coversInSql('g."setterScopes"', 's."name"'))}
       AND (u."id" IS NULL
         OR (NOT u."isSuspended" AND ${Prisma.raw(coversInSql('u."setterScopes"', 's."name"'))}))
     GROUP BY g."id"`;
  return new Map(rows.map(({ id, scopes }) => [id, new Set(scopes)]));
}

/**
 * The management scopes of the roles of users and applications, ignoring what bounds them: the bound may be lifted, and
 * whoever could act as them would then hold everything.
 */
export async function readRightsOf(
  client: PrismaClient | Transaction,
  subjectIds: readonly string[],
): Promise<string[]> {
  if (subjectIds.length === 0) return [];
  const rows = await client.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (${given(subjectIds)}) g ${managementScope}`;
  return rows.map(({ name }) => name);
}
