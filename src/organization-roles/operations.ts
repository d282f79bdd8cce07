import { z } from 'zod';
import { assertMayGive } from '../auth/granting.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { InvalidInputError, NotFoundError } from '../errors.ts';
import { changesBetween, recordEvent } from '../events/record.ts';
import { type OrganizationRole, RoleType } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, name, notNull, parseInput, patched, text } from '../input.ts';
import type { Context } from '../services.ts';
import { organizationRoleRecord } from './payload.ts';
import { addResourceScopes, addScopes } from './role-scopes.ts';

const scopeIds = distinct(z.string(), 1000);

const createRoleInput = z.object({
  name: name(),
  description: text(1024).nullish(),
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
      await recordEvent(tx, context, 'OrganizationRole.Created', organizationRoleRecord(role));
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
      return role;
    }),
  );
}

const updateRoleInput = z.object({
  id: z.string(),
  name: notNull(name()),
  description: text(1024).nullish(),
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
      const changes = changesBetween(
        organizationRoleRecord(before),
        organizationRoleRecord(patched(before, patch)),
      );
      if (!changes) return before;
      const role = await tx.organizationRole.update({
        where: { id },
        data: { ...patch, updatedAt: context.clock.now() },
      });
      await recordEvent(tx, context, 'OrganizationRole.Data.Updated', {
        ...organizationRoleRecord(role),
        changes,
      });
      return role;
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
    await recordEvent(tx, context, 'OrganizationRole.Deleted', organizationRoleRecord(role));
    return role;
  });
}

/**
 * Checks that the caller may give organization roles to that kind of member. They cannot be deleted, or get other
 * scopes, until the transaction ends.
 *
 * @throws {NotFoundError} of the first that is missing; {@link InvalidInputError} on roles of the other type;
 *   {@link NotAllowedError} when they hold more than the caller.
 */
export async function assertAssignable(
  tx: Transaction,
  context: Context,
  organizationRoleIds: readonly string[],
  type: OrganizationRole['type'],
): Promise<void> {
  if (organizationRoleIds.length === 0) return;
  const rows = await tx.$queryRaw<{ id: string; type: string }[]>`
    SELECT "id", "type"::text AS "type" FROM "OrganizationRole"
     WHERE "id" = ANY(${[...organizationRoleIds]}::text[]) ORDER BY "id" FOR KEY SHARE`;
  const types = new Map(rows.map((role) => [role.id, role.type]));
  const missing = organizationRoleIds.find((id) => !types.has(id));
  if (missing !== undefined) throw new NotFoundError(missing);
  const issues = organizationRoleIds.flatMap((id, index) =>
    types.get(id) === type
      ? []
      : [
          {
            path: ['organizationRoleIds', String(index)],
            message: `must be an organization role of type ${type}`,
          },
        ],
  );
  if (issues.length > 0) throw new InvalidInputError(issues);
  await assertMayGive(tx, context, { organizationRoleIds });
}
