import { z } from 'zod';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { recordChange, recordEvent } from '../events/record.ts';
import { type OrganizationRole, RoleType } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { composedText, distinct, name, notNull, parseInput } from '../input.ts';
import type { Context } from '../services.ts';
import { organizationRoleRecord, organizationRoles } from './payload.ts';
import { addResourceScopes, addScopes } from './role-scopes.ts';

const scopeIds = distinct(z.string(), 1000);

/** What `createOrganizationRole` takes. */
export const createRoleInput = z.object({
  name: name(),
  description: composedText(1024).nullish(),
  type: z.enum(RoleType).nullish(),
  organizationScopeIds: scopeIds.nullish(),
  scopeIds: scopeIds.nullish(),
});

/** The input of `createOrganizationRole`. */
export type CreateOrganizationRoleInput = z.input<typeof createRoleInput>;

const roleConflicts = {
  OrganizationRole_name_key: {
    path: ['name'],
    message: 'Another organization role has this name.',
  },
};

/**
 * Creates an organization role. Raises `OrganizationRole.Created`, then `OrganizationRole.Scopes.Updated` if scopes are
 * given.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of a scope; {@link ConflictError} on `name`;
 *   {@link NotAllowedError} when it would hold more than the caller.
 */
export async function createOrganizationRole(
  context: Context,
  input: CreateOrganizationRoleInput,
): Promise<OrganizationRole> {
  const {
    organizationScopeIds,
    scopeIds: resourceScopeIds,
    type,
    ...values
  } = parseInput(createRoleInput, input);
  return refuseConflict(roleConflicts, () =>
    transaction(context.database, async (tx) => {
      const now = context.clock.now();
      const role = await tx.organizationRole.create({
        data: {
          ...values,
          type: type ?? 'USER',
          id: newId('OrganizationRole'),
          createdAt: now,
          updatedAt: now,
        },
      });
      const told = await recordEvent(
        tx,
        context,
        'OrganizationRole.Created',
        organizationRoleRecord(role),
      );
      const addedScopes = await addScopes(tx, role.id, organizationScopeIds ?? []);
      const addedResourceScopes = await addResourceScopes(
        tx,
        context,
        role.id,
        resourceScopeIds ?? [],
      );
      if (addedScopes.length + addedResourceScopes.length > 0) {
        await recordEvent(tx, context, 'OrganizationRole.Scopes.Updated', {
          organizationRoleId: role.id,
          addedScopes,
          removedScopes: [],
          addedResourceScopes,
          removedResourceScopes: [],
        });
      }
      return told.with(role);
    }),
  );
}

const updateRoleInput = z.object({
  id: z.string(),
  name: notNull(name()),
  description: composedText(1024).nullish(),
});

/** The input of `updateOrganizationRole`: an absent field stays as it is; null clears it. */
export type UpdateOrganizationRoleInput = z.input<typeof updateRoleInput>;

/**
 * Changes an organization role's own fields; its type cannot change. Raises `OrganizationRole.Data.Updated` if
 * something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`.
 */
export async function updateOrganizationRole(
  context: Context,
  input: UpdateOrganizationRoleInput,
): Promise<OrganizationRole> {
  const { id, ...patch } = parseInput(updateRoleInput, input);
  return refuseConflict(roleConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'OrganizationRole', id);
      const before = await tx.organizationRole.findUniqueOrThrow({ where: { id } });
      return recordChange(tx, context, organizationRoles, before, patch);
    }),
  );
}

/**
 * Deletes an organization role; members, invitations and just-in-time membership lose it. Raises
 * `OrganizationRole.Deleted`.
 *
 * @returns The role in its last state.
 * @throws {NotFoundError}
 */
export async function deleteOrganizationRole(
  context: Context,
  { id }: { id: string },
): Promise<OrganizationRole> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'OrganizationRole', id);
    const role = await tx.organizationRole.delete({ where: { id } });
    const told = await recordEvent(
      tx,
      context,
      'OrganizationRole.Deleted',
      organizationRoleRecord(role),
    );
    return told.with(role);
  });
}
