import { z } from 'zod';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import type { OrganizationApplication, OrganizationUser } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import { assertAssignable } from '../organization-roles/operations.ts';
import type { Context } from '../services.ts';

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

/** A user's membership, and organization roles to give. */
export type OrganizationUserRolesInput = z.input<typeof userRolesInput>;
/** An application's membership, and organization roles to give. */
export type OrganizationApplicationRolesInput = z.input<typeof applicationRolesInput>;

type UserKey = { readonly organizationId: string; readonly userId: string };
type ApplicationKey = { readonly organizationId: string; readonly applicationId: string };
type RoleKey = { readonly organizationRoleId: string };

/**
 * Gives organization roles to a user in an organization, who keeps those they hold.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization, of a user who is
 *   not a member, or of a role; {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function assignOrganizationUserRoles(
  context: Context,
  input: OrganizationUserRolesInput,
): Promise<OrganizationUser> {
  const { organizationRoleIds: wanted, ...key } = parseInput(userRolesInput, input);
  return changeUser(context, key, (tx) => giveUserRoles(tx, context, key, wanted));
}

/**
 * Removes an organization role from a user in an organization.
 *
 * @throws {NotFoundError} of the organization, of a user who is not a member, or of a role that they do not hold.
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
 * Gives a user these organization roles in an organization and removes all others.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization, of a user who is
 *   not a member, or of a role; {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function replaceOrganizationUserRoles(
  context: Context,
  input: OrganizationUserRolesInput,
): Promise<OrganizationUser> {
  const { organizationRoleIds: wanted, ...key } = parseInput(userRolesInput, input);
  return changeUser(context, key, async (tx) => {
    await giveUserRoles(tx, context, key, wanted);
    await tx.organizationUserRole.deleteMany({
      where: { ...key, organizationRoleId: { notIn: wanted } },
    });
  });
}

/**
 * Gives organization roles to an application in an organization; it keeps those it holds.
 *
 * @throws {InvalidInputError} on roles for users; {@link NotFoundError} of the organization, of an application that is
 *   not a member, or of a role; {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function assignOrganizationApplicationRoles(
  context: Context,
  input: OrganizationApplicationRolesInput,
): Promise<OrganizationApplication> {
  const { organizationRoleIds: wanted, ...key } = parseInput(applicationRolesInput, input);
  return changeApplication(context, key, (tx) => giveApplicationRoles(tx, context, key, wanted));
}

/**
 * Removes an organization role from an application in an organization.
 *
 * @throws {NotFoundError} of the organization, of an application that is not a member, or of a role it does not hold.
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
 * Gives an application these organization roles in an organization and removes all others.
 *
 * @throws {InvalidInputError} on roles for users; {@link NotFoundError} of the organization, of an application that is
 *   not a member, or of a role; {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function replaceOrganizationApplicationRoles(
  context: Context,
  input: OrganizationApplicationRolesInput,
): Promise<OrganizationApplication> {
  const { organizationRoleIds: wanted, ...key } = parseInput(applicationRolesInput, input);
  return changeApplication(context, key, async (tx) => {
    await giveApplicationRoles(tx, context, key, wanted);
    await tx.organizationApplicationRole.deleteMany({
      where: { ...key, organizationRoleId: { notIn: wanted } },
    });
  });
}

async function giveUserRoles(
  tx: Transaction,
  context: Context,
  key: UserKey,
  ids: readonly string[],
) {
  await assertAssignable(tx, context, ids, 'USER');
  await tx.organizationUserRole.createMany({
    data: ids.map((organizationRoleId) => ({ ...key, organizationRoleId })),
    skipDuplicates: true,
  });
}

async function giveApplicationRoles(
  tx: Transaction,
  context: Context,
  key: ApplicationKey,
  ids: readonly string[],
) {
  await assertAssignable(tx, context, ids, 'MACHINE_TO_MACHINE');
  await tx.organizationApplicationRole.createMany({
    data: ids.map((organizationRoleId) => ({ ...key, organizationRoleId })),
    skipDuplicates: true,
  });
}

// The organization's row is locked for every change of its members, so a membership found here stays until the end.
// Only the deletion of the user or application itself bypasses that lock; then the foreign key refuses.
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
