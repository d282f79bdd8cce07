import { folded } from '../../db/sql.ts';
import type { Transaction } from '../../db/transaction.ts';
import { NotAllowedError } from '../../errors.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Context } from '../../services.ts';
import { ownIndicators } from '../scopes.ts';
import { noteAsked } from './asked.ts';
import { managementScope, readRightsOf } from './holdings.ts';
import { covers, heldBy, mayDoEverything } from './setter-scopes.ts';

// One function for each opening of `openings.ts`. Rights are the scopes of the management API. These rules do not bind
// Signet itself, at startup or during a sign-in.

type Granter = Pick<Context, 'caller' | 'clock'>;

/** The ids of the records whose scopes are given. */
interface Given {
  readonly scopeIds?: readonly string[];
  readonly roleIds?: readonly string[];
  readonly organizationRoleIds?: readonly string[];
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
  { scopeIds = [], roleIds = [], organizationRoleIds = [] }: Given,
): Promise<void> {
  noteAsked('RIGHTS');
  const isNothing = scopeIds.length + roleIds.length + organizationRoleIds.length === 0;
  if (isNothing || mayDoEverything(granter)) return;
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (
      SELECT unnest(${[...scopeIds]}::text[]) AS "scopeId"
      UNION ALL
      SELECT "scopeId" FROM "RoleScope" WHERE "roleId" = ANY(${[...roleIds]}::text[])
      UNION ALL
      SELECT "scopeId" FROM "OrganizationRoleResourceScope"
       WHERE "organizationRoleId" = ANY(${[...organizationRoleIds]}::text[])
    ) g ${managementScope}`;
  assertHeld(granter, namesOf(rows));
}

/**
 * Checks that a caller holds what the users hold that it could act as, or whose sign-in it makes easier.
 *
 * @throws {NotAllowedError}
 */
export async function assertMayBe(
  tx: Transaction,
  granter: Granter,
  userIds: readonly string[],
): Promise<void> {
  noteAsked('PERSON');
  if (userIds.length > 0 && !mayDoEverything(granter))
    assertHeld(granter, await readRightsOf(tx, userIds));
}

/**
 * As {@link assertMayBe}, of everybody who has an identity of a provider, however many they are.
 *
 * @throws {NotAllowedError}
 */
export async function assertMayBeLinked(
  tx: Transaction,
  granter: Granter,
  identityProviderId: string,
): Promise<void> {
  noteAsked('PERSON');
  if (mayDoEverything(granter)) return;
  const linked = Prisma.sql`SELECT "userId" FROM "UserIdentity" WHERE "identityProviderId" = ${identityProviderId}`;
  assertHeld(granter, await readRightsAmong(tx, linked));
}

/**
 * Checks that a caller holds what an application holds that it could act as.
 *
 * @throws {NotAllowedError}
 */
export const assertMayBeApplication = (
  tx: Transaction,
  granter: Granter,
  applicationId: string,
): Promise<void> => assertMayBeApplications(tx, granter, [applicationId]);

/** As {@link assertMayBeApplication}, of several. */
export async function assertMayBeApplications(
  tx: Transaction,
  granter: Granter,
  applicationIds: readonly string[],
): Promise<void> {
  noteAsked('APPLICATION');
  if (applicationIds.length > 0 && !mayDoEverything(granter))
    assertHeld(granter, await readRightsOf(tx, applicationIds));
}

/**
 * Checks that a caller holds the rights that every new user gets.
 *
 * @param isAsked False if no new people can get in.
 * @throws {NotAllowedError}
 */
export async function assertMayLetIn(
  tx: Transaction,
  granter: Granter,
  isAsked = true,
): Promise<void> {
  noteAsked('NEWCOMERS');
  if (mayDoEverything(granter) || !isAsked) return;
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name"
      FROM (SELECT c."scopeId" FROM "RoleScope" c JOIN "Role" d ON d."id" = c."roleId"
             WHERE d."isDefault" AND d."type" = 'USER') g ${managementScope}`;
  assertHeld(granter, namesOf(rows));
}

/**
 * Checks that a caller may choose how people prove who they are: how messages are sent, whose codes let a reader sign
 * in as anyone, which identity providers are believed, or how hard it is to guess.
 *
 * @param isAsked False if it becomes no easier to sign in as somebody.
 * @throws {NotAllowedError} when someone holds rights that the caller does not.
 */
export async function assertMayBeAnybody(
  tx: Transaction,
  granter: Granter,
  isAsked = true,
): Promise<void> {
  noteAsked('EVERYBODY');
  if (mayDoEverything(granter) || !isAsked) return;
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (
      SELECT c."scopeId" FROM "RoleScope" c
       WHERE EXISTS (SELECT 1 FROM "UserRole" h WHERE h."roleId" = c."roleId")
      UNION ALL
      SELECT c."scopeId" FROM "OrganizationRoleResourceScope" c
       WHERE EXISTS (SELECT 1 FROM "OrganizationUserRole" h WHERE h."organizationRoleId" = c."organizationRoleId")
    ) g ${managementScope}`;
  assertHeld(granter, namesOf(rows));
}

/** The members who leave an organization, or those who stay. */
export type Leaving =
  | { readonly leaving: readonly string[] }
  | { readonly staying: readonly string[] };

/**
 * Checks that a caller may end the requirement of a second factor that an organization makes of its members.
 *
 * @param organizationId The organization, if its requirement ends for somebody; null if it had none, or keeps it.
 * @param leaving The members who leave: the roles that they have there go with them. Absent: all members are meant.
 * @throws {NotAllowedError} when one of them holds more than the caller.
 */
export async function assertMayEase(
  tx: Transaction,
  granter: Granter,
  organizationId: string | null,
  leaving?: Leaving,
): Promise<void> {
  noteAsked('MEMBERS');
  if (mayDoEverything(granter) || organizationId === null) return;
  const whom =
    leaving === undefined
      ? Prisma.empty
      : 'leaving' in leaving
        ? Prisma.sql`AND "userId" = ANY(${[...leaving.leaving]}::text[])`
        : Prisma.sql`AND "userId" <> ALL(${[...leaving.staying]}::text[])`;
  const members = Prisma.sql`SELECT "userId" FROM "OrganizationUser" WHERE "organizationId" = ${organizationId} ${whom}`;
  const kept = leaving && Prisma.sql`AND h."organizationId" <> ${organizationId}`;
  assertHeld(granter, await readRightsAmong(tx, members, kept));
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
  noteAsked('ADDRESS');
  if (mayDoEverything(granter) || addresses.length === 0) return new Set();
  const rows = await tx.$queryRaw<{ address: string; name: string }[]>`
    SELECT DISTINCT g."address", s."name" FROM (
      SELECT a."address", c."scopeId" FROM unnest(${[...addresses]}::text[]) AS a ("address")
        JOIN "OrganizationInvitation" i
          ON ${folded(Prisma.sql`i."invitee"`)} = ${folded(Prisma.sql`a."address"`)} AND i."status" = 'PENDING'
         AND i."expiresAt" > ${granter.clock.now()}::timestamptz
        JOIN "OrganizationInvitationRole" r ON r."invitationId" = i."id"
        JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = r."organizationRoleId"
      UNION ALL
      SELECT a."address", c."scopeId" FROM unnest(${[...addresses]}::text[]) AS a ("address")
        JOIN "OrganizationEmailDomain" d ON d."domain" = ${folded(Prisma.sql`substring(a."address" FROM '[^@]*$')`)}
        JOIN "OrganizationJitRole" r ON r."organizationId" = d."organizationId"
        JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = r."organizationRoleId"
    ) g ${managementScope}`;
  const held = heldBy(granter);
  return new Set(rows.filter(({ name }) => !covers(held, [name])).map(({ address }) => address));
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
  const addresses = address == null ? [] : [address];
  if ((await findReservedAddresses(tx, granter, addresses)).size > 0) throw tooMuch();
}

/**
 * Checks that a caller may give something that can reach Signet's own APIs for whoever uses it. It could use the rights
 * of anyone.
 *
 * @param indicators The resources that it can reach.
 * @throws {NotAllowedError} when one of them is Signet's own, and the caller does not hold `all`.
 */
export function assertMayOpenOwnApis(granter: Granter, indicators: readonly string[]): void {
  noteAsked('OWN_APIS');
  if (mayDoEverything(granter)) return;
  if (indicators.some((indicator) => ownIndicators.has(indicator))) throw tooMuch();
}

/**
 * Checks that a caller may choose when signing keys are made.
 *
 * @param isAsked False if nothing changes about it.
 * @throws {NotAllowedError} when it does not hold `all`.
 */
export function assertMayMakeSigningKeys(granter: Granter, isAsked: boolean): void {
  noteAsked('SIGNING_KEYS');
  if (isAsked && !mayDoEverything(granter))
    throw new NotAllowedError('Only who may rotate signing keys by hand can say when it happens.');
}

/**
 * The rights of users, however many they are.
 *
 * @param userIds SQL that selects their ids.
 * @param counts SQL for what else has to hold for a role `h` in an organization to count.
 */
async function readRightsAmong(
  tx: Transaction,
  userIds: Prisma.Sql,
  counts = Prisma.empty,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT s."name" FROM (
      SELECT c."scopeId" FROM "UserRole" h JOIN "RoleScope" c ON c."roleId" = h."roleId"
       WHERE h."userId" IN (${userIds})
      UNION ALL
      SELECT c."scopeId" FROM "OrganizationUserRole" h
        JOIN "OrganizationRoleResourceScope" c ON c."organizationRoleId" = h."organizationRoleId"
       WHERE h."userId" IN (${userIds}) ${counts}
    ) g ${managementScope}`;
  return namesOf(rows);
}

const namesOf = (rows: readonly { readonly name: string }[]): string[] =>
  rows.map(({ name }) => name);

function assertHeld(granter: Granter, names: readonly string[]): void {
  if (!covers(heldBy(granter), names)) throw tooMuch();
}

// The message names no scopes: not everyone may know them.
const tooMuch = () =>
  new NotAllowedError('That would give rights that the access token does not have itself.');
