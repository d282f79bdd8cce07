import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { allows, type ManagementScope, managementIndicator } from './scopes.ts';

/**
 * Nobody can give rights that they do not hold. Every operation that gives rights, or a way to act as someone who has
 * them, calls one of these functions before it writes. Rights are the scopes of the management API. A caller may give
 * the scopes of its token. These rules do not bind Signet itself, at startup or during a sign-in.
 */
type Granter = Pick<Context, 'caller' | 'clock'>;

/** The ids of the records whose scopes are given. */
interface Given {
  readonly scopeIds?: readonly string[];
  readonly roleIds?: readonly string[];
  readonly organizationRoleIds?: readonly string[];
  /** Users and applications that the caller could act as. */
  readonly subjectIds?: readonly string[];
}

/**
 * Checks that a caller holds the rights that it gives. Call it in the transaction that gives them, after locking the
 * given records against changes of their scopes.
 *
 * @throws {NotAllowedError} when it would give a scope of the management API that the caller's token does not allow.
 */
export async function assertMayGive(
  tx: Transaction,
  granter: Granter,
  given: Given,
): Promise<void> {
  if (!isBound(granter)) return;
  const { scopeIds = [], roleIds = [], organizationRoleIds = [], subjectIds = [] } = given;
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (
      SELECT unnest(${[...scopeIds]}::text[]) AS "scopeId"
      UNION ALL
      SELECT "scopeId" FROM "RoleScope" WHERE "roleId" = ANY(${[...roleIds]}::text[])
      UNION ALL
      SELECT "scopeId" FROM "OrganizationRoleResourceScope"
       WHERE "organizationRoleId" = ANY(${[...organizationRoleIds]}::text[])
      UNION ALL
      SELECT "scopeId" FROM (${holdings(subjectIds)}) h
    ) g ${managementScope}`;
  assertHeld(granter, rows);
}

/**
 * Checks that a caller holds the rights that every new user gets.
 *
 * @throws {NotAllowedError}
 */
export async function assertMayCreateUsers(tx: Transaction, granter: Granter): Promise<void> {
  if (!isBound(granter)) return;
  const roles = await tx.role.findMany({
    where: { isDefault: true, type: 'USER' },
    select: { id: true },
  });
  await assertMayGive(tx, granter, { roleIds: roles.map(({ id }) => id) });
}

/**
 * Checks that a caller may choose how people prove who they are: how messages are sent, whose codes let a reader sign
 * in as anyone, or which identity providers are believed.
 *
 * @throws {NotAllowedError} when someone holds rights that the caller does not.
 */
export async function assertMayProveWho(tx: Transaction, granter: Granter): Promise<void> {
  if (!isBound(granter)) return;
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (
      SELECT c."scopeId" FROM "RoleScope" c
       WHERE EXISTS (SELECT 1 FROM "UserRole" h WHERE h."roleId" = c."roleId")
      UNION ALL
      SELECT c."scopeId" FROM "OrganizationRoleResourceScope" c
       WHERE EXISTS (SELECT 1 FROM "OrganizationUserRole" h WHERE h."organizationRoleId" = c."organizationRoleId")
    ) g ${managementScope}`;
  assertHeld(granter, rows);
}

/**
 * Finds the e-mail addresses that a caller may not give to a user. The owner of such an address gets more rights than
 * the caller holds, by a pending invitation or by an organization's e-mail domain.
 */
export async function findReservedAddresses(
  tx: Transaction,
  granter: Granter,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!isBound(granter) || addresses.length === 0) return new Set();
  const rows = await tx.$queryRaw<{ address: string; name: string }[]>`
    SELECT DISTINCT g."address", s."name" FROM (
      SELECT a."address", c."scopeId" FROM unnest(${[...addresses]}::text[]) AS a ("address")
        JOIN "OrganizationInvitation" i
          ON lower(i."invitee") = lower(a."address") AND i."status" = 'PENDING'
         AND i."expiresAt" > ${granter.clock.now()}::timestamptz
        JOIN "OrganizationInvitationRole" r ON r."invitationId" = i."id"
        JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = r."organizationRoleId"
      UNION ALL
      SELECT a."address", c."scopeId" FROM unnest(${[...addresses]}::text[]) AS a ("address")
        JOIN "OrganizationEmailDomain" d ON d."domain" = lower(substring(a."address" FROM '[^@]*$'))
        JOIN "OrganizationJitRole" r ON r."organizationId" = d."organizationId"
        JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = r."organizationRoleId"
    ) g ${managementScope}`;
  return new Set(rows.filter((row) => !isHeld(granter, row)).map(({ address }) => address));
}

/**
 * Checks that a caller may give a user an e-mail address.
 *
 * @throws {NotAllowedError}
 */
export async function assertMayGiveAddress(
  tx: Transaction,
  granter: Granter,
  address: string | null | undefined,
): Promise<void> {
  if (address == null) return;
  if ((await findReservedAddresses(tx, granter, [address])).size > 0) throw tooMuch();
}

/**
 * Checks that a caller may let an application exchange tokens for the management API. The application could use the
 * token of anyone who calls it, and so have their rights.
 *
 * @throws {NotAllowedError}
 */
export function assertMayOpenManagement(
  granter: Granter,
  application: {
    readonly allowTokenExchange?: boolean | null | undefined;
    readonly exchangeResources?: readonly string[] | null | undefined;
  },
): void {
  if (!isBound(granter) || !application.allowTokenExchange) return;
  if (!application.exchangeResources?.includes(managementIndicator)) return;
  assertHeld(granter, [{ name: 'all' }]);
}

/** The management scopes that users and applications hold now, by id; none for those deleted or suspended. */
export async function readHoldings(
  prisma: PrismaClient,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (subjectIds.length === 0) return new Map();
  const rows = await prisma.$queryRaw<{ id: string; scopes: string[] }[]>`
    SELECT g."id", array_agg(DISTINCT s."name") AS "scopes"
      FROM (${holdings(subjectIds)}) g ${managementScope}
     WHERE NOT EXISTS (SELECT 1 FROM "User" u WHERE u."id" = g."id" AND u."isSuspended")
     GROUP BY g."id"`;
  return new Map(rows.map(({ id, scopes }) => [id, new Set(scopes)]));
}

// Scopes of the management API.
const managementScope = Prisma.sql`
  JOIN "Scope" s ON s."id" = g."scopeId"
  JOIN "Resource" r ON r."id" = s."resourceId" AND r."indicator" = ${managementIndicator}`;

// Counted as the token endpoint does: without an organization, the roles of every organization count.
const holdings = (ids: readonly string[]) => Prisma.sql`
  SELECT h."userId" AS "id", c."scopeId" FROM "UserRole" h JOIN "RoleScope" c ON c."roleId" = h."roleId"
   WHERE h."userId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."applicationId", c."scopeId" FROM "ApplicationRole" h JOIN "RoleScope" c ON c."roleId" = h."roleId"
   WHERE h."applicationId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."userId", c."scopeId" FROM "OrganizationUserRole" h
    JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = h."organizationRoleId"
   WHERE h."userId" = ANY(${[...ids]}::text[])
  UNION ALL
  SELECT h."applicationId", c."scopeId" FROM "OrganizationApplicationRole" h
    JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = h."organizationRoleId"
   WHERE h."applicationId" = ANY(${[...ids]}::text[])`;

/** Whether nothing bounds the rights that a caller can give: it holds `all`, or is Signet itself. */
export const mayDoEverything = (granter: Granter): boolean => !isBound(granter);

const isBound = ({ caller }: Granter): boolean => caller != null && !caller.scopes.has('all');

const isHeld = ({ caller }: Granter, { name }: { readonly name: string }): boolean =>
  caller == null || allows(caller.scopes, name as ManagementScope);

function assertHeld(granter: Granter, given: readonly { readonly name: string }[]): void {
  if (!given.every((scope) => isHeld(granter, scope))) throw tooMuch();
}

// The message names no scopes: not everyone may know them.
const tooMuch = () =>
  new NotAllowedError('That would give rights that the access token does not have itself.');
