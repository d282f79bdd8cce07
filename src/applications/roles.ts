import { z } from 'zod';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { Application } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import { findAssignableRoles } from '../roles/operations.ts';
import type { Context } from '../services.ts';

const rolesInput = z.object({ applicationId: z.string(), roleIds: distinct(z.string(), 100) });

/** An application, and the roles to give. */
export type ApplicationRolesInput = z.input<typeof rolesInput>;

/**
 * Gives roles to a machine-to-machine application; it keeps those it has.
 *
 * @throws {NotFoundError} of the application or a role; {@link InvalidInputError} on roles for users;
 *   {@link NotAllowedError} on another type of application, or when the roles hold more than the caller.
 */
export async function assignApplicationRoles(
  context: Context,
  input: ApplicationRolesInput,
): Promise<Application> {
  const { applicationId, roleIds } = parseInput(rolesInput, input);
  return changeRoles(context, applicationId, async (tx) => {
    await findAssignableRoles(tx, context, roleIds, 'MACHINE_TO_MACHINE');
    await tx.applicationRole.createMany({
      data: roleIds.map((roleId) => ({ applicationId, roleId })),
      skipDuplicates: true,
    });
  });
}

/**
 * Removes a role from an application.
 *
 * @throws {NotFoundError} of the application, or of the role if the application does not have it.
 */
export async function removeApplicationRole(
  context: Context,
  { applicationId, roleId }: { applicationId: string; roleId: string },
): Promise<Application> {
  return changeRoles(context, applicationId, async (tx) => {
    const { count } = await tx.applicationRole.deleteMany({ where: { applicationId, roleId } });
    if (count === 0) throw new NotFoundError(roleId);
  });
}

/**
 * Gives a machine-to-machine application these roles and removes all others.
 *
 * @throws {NotFoundError} of the application or a role; {@link InvalidInputError} on roles for users;
 *   {@link NotAllowedError} on another type of application, or when the roles hold more than the caller.
 */
export async function replaceApplicationRoles(
  context: Context,
  input: ApplicationRolesInput,
): Promise<Application> {
  const { applicationId, roleIds } = parseInput(rolesInput, input);
  return changeRoles(context, applicationId, async (tx) => {
    await findAssignableRoles(tx, context, roleIds, 'MACHINE_TO_MACHINE');
    await tx.applicationRole.deleteMany({ where: { applicationId, roleId: { notIn: roleIds } } });
    await tx.applicationRole.createMany({
      data: roleIds.map((roleId) => ({ applicationId, roleId })),
      skipDuplicates: true,
    });
  });
}

function changeRoles(
  context: Context,
  applicationId: string,
  change: (tx: Transaction) => Promise<void>,
): Promise<Application> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Application', applicationId);
    const application = await tx.application.findUniqueOrThrow({ where: { id: applicationId } });
    if (application.type !== 'MACHINE_TO_MACHINE') {
      throw new NotAllowedError('Only machine-to-machine applications have roles of their own.');
    }
    await change(tx);
    return application;
  });
}
