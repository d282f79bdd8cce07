import { z } from 'zod';
import type { Context } from '../auth/context.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import type { OrganizationApplication, OrganizationUser } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import { assertAssignable } from './roles.ts';

const organizationRoleIds = distinct(z.string(), 100);
const userRolesInput = z.object({
  organizationId: z.string(),
  userId: z.string(),
  organizationRoleIds,
});
const applicationRolesInput = z.object({
  organizationId: z.string(),
  applicationId: z.string(),
  organizationRoleIds,
});

/** A user's membership, and the organization roles to give. */
export type OrganizationUserRolesInput = z.input<typeof userRolesInput>;
/** An application's membership, and the organization roles to give. */
export type OrganizationApplicationRolesInput = z.input<typeof applicationRolesInput>;

type UserKey = { readonly organizationId: string; readonly userId: string };
type ApplicationKey = { readonly organizationId: string; readonly applicationId: string };
type RoleKey = { readonly organizationRoleId: string };

/**
 * Gives organization roles to a user in an organization; those held are left alone.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization, of the user
 *   who is no member, or of a role.
 */
export async function assignOrganizationUserRoles(
  context: Context,
  input: OrganizationUserRolesInput,
): Promise<OrganizationUser> {
  const { organizationRoleIds: wanted, ...key } = parseInput(userRolesInput, input);
  return changeUser(context, key, (tx) => giveUserRoles(tx, key, wanted));
}

/**
 * Takes an organization role from a user in an organization.
 *
 * @throws {NotFoundError} of the organization, of the user who is no member, or of the role not held.
 */
export async function removeOrganizationUserRole(
  context: Context,
  { organizationId, userId, organizationRoleId }: UserKey & RoleKey,
): Promise<OrganizationUser> {
  const key = { organizationId, userId };
  return changeUser(context, key, async (tx) => {
    const where = { ...key, organizationRoleId };
    const { count } = await tx.organizationUserRole.deleteMany({ where });
    if (count === 0) throw new NotFoundError(organizationRoleId);
  });
}

/**
 * Gives a user these organization roles in an organization and takes all others.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization, of the user
 *   who is no member, or of a role.
 */
export async function replaceOrganizationUserRoles(
  context: Context,
  input: OrganizationUserRolesInput,
): Promise<OrganizationUser> {
  const { organizationRoleIds: wanted, ...key } = parseInput(userRolesInput, input);
  return changeUser(context, key, async (tx) => {
    await giveUserRoles(tx, key, wanted);
    await tx.organizationUserRole.deleteMany({
      where: { ...key, organizationRoleId: { notIn: wanted } },
    });
  });
}

/**
 * Gives organization roles to an application in an organization; those held are left alone.
 *
 * @throws {InvalidInputError} on roles for users; {@link NotFoundError} of the organization, of the application
 *   that is no member, or of a role.
 */
export async function assignOrganizationApplicationRoles(
  context: Context,
  input: OrganizationApplicationRolesInput,
): Promise<OrganizationApplication> {
  const { organizationRoleIds: wanted, ...key } = parseInput(applicationRolesInput, input);
  return changeApplication(context, key, (tx) => giveApplicationRoles(tx, key, wanted));
}

/**
 * Takes an organization role from an application in an organization.
 *
 * @throws {NotFoundError} of the organization, of the application that is no member, or of the role not held.
 */
export async function removeOrganizationApplicationRole(
  context: Context,
  { organizationId, applicationId, organizationRoleId }: ApplicationKey & RoleKey,
): Promise<OrganizationApplication> {
  const key = { organizationId, applicationId };
  return changeApplication(context, key, async (tx) => {
    const where = { ...key, organizationRoleId };
    const { count } = await tx.organizationApplicationRole.deleteMany({ where });
    if (count === 0) throw new NotFoundError(organizationRoleId);
  });
}

/**
 * Gives an application these organization roles in an organization and takes all others.
 *
 * @throws {InvalidInputError} on roles for users; {@link NotFoundError} of the organization, of the application
 *   that is no member, or of a role.
 */
export async function replaceOrganizationApplicationRoles(
  context: Context,
  input: OrganizationApplicationRolesInput,
): Promise<OrganizationApplication> {
  const { organizationRoleIds: wanted, ...key } = parseInput(applicationRolesInput, input);
  return changeApplication(context, key, async (tx) => {
    await giveApplicationRoles(tx, key, wanted);
    await tx.organizationApplicationRole.deleteMany({
      where: { ...key, organizationRoleId: { notIn: wanted } },
    });
  });
}

async function giveUserRoles(tx: Transaction, key: UserKey, ids: readonly string[]) {
  await assertAssignable(tx, ids, 'USER');
  await tx.organizationUserRole.createMany({
    data: ids.map((organizationRoleId) => ({ ...key, organizationRoleId })),
    skipDuplicates: true,
  });
}

async function giveApplicationRoles(tx: Transaction, key: ApplicationKey, ids: readonly string[]) {
  await assertAssignable(tx, ids, 'MACHINE_TO_MACHINE');
  await tx.organizationApplicationRole.createMany({
    data: ids.map((organizationRoleId) => ({ ...key, organizationRoleId })),
    skipDuplicates: true,
  });
}

// Who holds the organization's row decides about its members: a membership found here stays until the end.
// Only the deletion of the user or the application itself goes past it, and then the foreign key refuses.
function changeUser(
  context: Context,
  key: UserKey,
  work: (tx: Transaction) => Promise<void>,
): Promise<OrganizationUser> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', key.organizationId);
    const where = { organizationId_userId: key };
    const member = await tx.organizationUser.findUnique({ where });
    if (!member) throw new NotFoundError(key.userId);
    await work(tx);
    return member;
  });
}

function changeApplication(
  context: Context,
  key: ApplicationKey,
  work: (tx: Transaction) => Promise<void>,
): Promise<OrganizationApplication> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', key.organizationId);
    const where = { organizationId_applicationId: key };
    const member = await tx.organizationApplication.findUnique({ where });
    if (!member) throw new NotFoundError(key.applicationId);
    await work(tx);
    return member;
  });
}
