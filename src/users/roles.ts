import { z } from 'zod';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import type { User } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import { findAssignableRoles } from '../roles/operations.ts';
import type { Context } from '../services.ts';

const rolesInput = z.object({ userId: z.string(), roleIds: distinct(z.string(), 100) });

/** A user, and the roles to give. */
export type UserRolesInput = z.input<typeof rolesInput>;

/**
 * Gives roles to a user, who keeps those they have.
 *
 * @throws {NotFoundError} of the user or a role; {@link InvalidInputError} on roles for applications;
 *   {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function assignUserRoles(context: Context, input: UserRolesInput): Promise<User> {
  const { userId, roleIds } = parseInput(rolesInput, input);
  return changeRoles(context, userId, async (tx) => {
    await findAssignableRoles(tx, context, roleIds, 'USER');
    await tx.userRole.createMany({
      data: roleIds.map((roleId) => ({ userId, roleId })),
      skipDuplicates: true,
    });
  });
}

/**
 * Removes a role from a user.
 *
 * @throws {NotFoundError} of the user, or of the role if the user does not have it.
 */
export async function removeUserRole(
  context: Context,
  { userId, roleId }: { userId: string; roleId: string },
): Promise<User> {
  return changeRoles(context, userId, async (tx) => {
    const { count } = await tx.userRole.deleteMany({ where: { userId, roleId } });
    if (count === 0) throw new NotFoundError(roleId);
  });
}

/**
 * Gives a user these roles and removes all others.
 *
 * @throws {NotFoundError} of the user or a role; {@link InvalidInputError} on roles for applications;
 *   {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function replaceUserRoles(context: Context, input: UserRolesInput): Promise<User> {
  const { userId, roleIds } = parseInput(rolesInput, input);
  return changeRoles(context, userId, async (tx) => {
    await findAssignableRoles(tx, context, roleIds, 'USER');
    await tx.userRole.deleteMany({ where: { userId, roleId: { notIn: roleIds } } });
    await tx.userRole.createMany({
      data: roleIds.map((roleId) => ({ userId, roleId })),
      skipDuplicates: true,
    });
  });
}

function changeRoles(
  context: Context,
  userId: string,
  change: (tx: Transaction) => Promise<void>,
): Promise<User> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', userId);
    await change(tx);
    return tx.user.findUniqueOrThrow({ where: { id: userId } });
  });
}
