import { z } from 'zod';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { type NewEvent, recordChange, recordEvent, recordEvents } from '../events/record.ts';
import type { OrganizationScope } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { composedText, notNull, parseInput } from '../input.ts';
import { scopeName } from '../resources/operations.ts';
import type { Context } from '../services.ts';
import {
  organizationScopeRecord,
  organizationScopeReference,
  organizationScopes,
} from './payload.ts';

/** What `createOrganizationScope` takes. */
export const createScopeInput = z.object({
  name: scopeName,
  description: composedText(1024).nullish(),
});

/** The input of `createOrganizationScope`. */
export type CreateOrganizationScopeInput = z.input<typeof createScopeInput>;

const scopeConflicts = {
  OrganizationScope_name_key: {
    path: ['name'],
    message: 'Another organization scope has this name.',
  },
};

/**
 * Creates an organization scope. Raises `OrganizationScope.Created`.
 *
 * @throws {InvalidInputError} {@link ConflictError} on `name`.
 */
export async function createOrganizationScope(
  context: Context,
  input: CreateOrganizationScopeInput,
): Promise<OrganizationScope> {
  const values = parseInput(createScopeInput, input);
  return refuseConflict(scopeConflicts, () =>
    transaction(context.database, async (tx) => {
      const now = context.clock.now();
      const scope = await tx.organizationScope.create({
        data: { ...values, id: newId('OrganizationScope'), createdAt: now, updatedAt: now },
      });
      const told = await recordEvent(
        tx,
        context,
        'OrganizationScope.Created',
        organizationScopeRecord(scope),
      );
      return told.with(scope);
    }),
  );
}

const updateScopeInput = z.object({
  id: z.string(),
  name: notNull(createScopeInput.shape.name),
  description: createScopeInput.shape.description,
});

/** The input of `updateOrganizationScope`: an absent field stays as it is; null clears it. */
export type UpdateOrganizationScopeInput = z.input<typeof updateScopeInput>;

/**
 * Changes an organization scope. Raises `OrganizationScope.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`.
 */
export async function updateOrganizationScope(
  context: Context,
  input: UpdateOrganizationScopeInput,
): Promise<OrganizationScope> {
  const { id, ...patch } = parseInput(updateScopeInput, input);
  return refuseConflict(scopeConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'OrganizationScope', id);
      const before = await tx.organizationScope.findUniqueOrThrow({ where: { id } });
      return recordChange(tx, context, organizationScopes, before, patch);
    }),
  );
}

/**
 * Deletes an organization scope. Raises `OrganizationRole.Scopes.Updated` for each organization role that loses
 * it, then `OrganizationScope.Deleted`.
 *
 * @returns The scope in its last state.
 * @throws {NotFoundError}
 */
export async function deleteOrganizationScope(
  context: Context,
  { id }: { id: string },
): Promise<OrganizationScope> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'OrganizationScope', id);
    // The event reports the rows that were actually deleted: a concurrent removal reports its own.
    const losers = await tx.$queryRaw<{ organizationRoleId: string }[]>`
      DELETE FROM "OrganizationRoleScope" WHERE "organizationScopeId" = ${id} RETURNING "organizationRoleId"`;
    const scope = await tx.organizationScope.delete({ where: { id } });
    const roleIds = losers.map(({ organizationRoleId }) => organizationRoleId).sort();
    const told = await recordEvents(tx, context, [
      ...roleIds.map(
        (organizationRoleId): NewEvent => ({
          type: 'OrganizationRole.Scopes.Updated',
          data: {
            organizationRoleId,
            addedScopes: [],
            removedScopes: [organizationScopeReference(scope)],
            addedResourceScopes: [],
            removedResourceScopes: [],
          },
        }),
      ),
      { type: 'OrganizationScope.Deleted', data: organizationScopeRecord(scope) },
    ]);
    return told.with(scope);
  });
}

/**
 * Finds organization scopes by id, in the given order, and locks them against deletion until the transaction ends.
 *
 * @throws {NotFoundError} of the first that is missing.
 */
export async function findOrganizationScopes(
  tx: Transaction,
  ids: readonly string[],
): Promise<OrganizationScope[]> {
  if (ids.length === 0) return [];
  await tx.$queryRaw`
    SELECT 1 AS "found" FROM "OrganizationScope" WHERE "id" = ANY(${[...ids]}::text[]) ORDER BY "id" FOR KEY SHARE`;
  const scopes = await tx.organizationScope.findMany({ where: { id: { in: [...ids] } } });
  const byId = new Map(scopes.map((scope) => [scope.id, scope]));
  return ids.map((id) => {
    const scope = byId.get(id);
    if (!scope) throw new NotFoundError(id);
    return scope;
  });
}
