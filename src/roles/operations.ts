import { z } from 'zod';
import { assertMayGive } from '../auth/granting/may-open.ts';
import { mayDoEverything, setterScopesOf } from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Told, untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { InvalidInputError, NotFoundError } from '../errors.ts';
import { changesBetween, recordChange, recordEvent } from '../events/record.ts';
import { type Role, RoleType, type Scope } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { composedText, distinct, name, notNull, parseInput } from '../input.ts';
import { scopeReference } from '../resources/payload.ts';
import type { Context } from '../services.ts';
import { roleRecord, roles } from './payload.ts';

const scopeIds = distinct(z.string(), 1000);

/** The input of `createRole`. */
export const createRoleInput = z.object({
  name: name(),
  description: composedText(1024).nullish(),
  type: z.enum(RoleType).nullish(),
  isDefault: z.boolean().nullish(),
  scopeIds: scopeIds.nullish(),
});

const roleConflicts = {
  Role_name_key: { path: ['name'], message: 'Another role has this name.' },
};

/**
 * Creates a role. Raises `Role.Created`, then `Role.Scopes.Updated` if scopes are given.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of a scope; {@link ConflictError} on `name`;
 *   {@link NotAllowedError} when it would hold more than the caller.
 */
export async function createRole(
  context: Context,
  input: z.input<typeof createRoleInput>,
): Promise<Role> {
  const { scopeIds: wanted, type, isDefault, ...values } = parseInput(createRoleInput, input);
  if (isDefault) assertCanBeDefault(type ?? 'USER');
  return refuseConflict(roleConflicts, () =>
    transaction(context.database, async (tx) => {
      const now = context.clock.now();
      const role = await tx.role.create({
        data: {
          ...values,
          type: type ?? 'USER',
          isDefault: isDefault ?? false,
          setterScopes: setterScopesOf(context),
          id: newId('Role'),
          createdAt: now,
          updatedAt: now,
        },
      });
      const told = await recordEvent(tx, context, 'Role.Created', roleRecord(role));
      await addScopes(tx, context, role.id, wanted ?? []);
      return told.with(role);
    }),
  );
}

const updateRoleInput = z.object({
  id: z.string(),
  name: notNull(name()),
  description: composedText(1024).nullish(),
  isDefault: notNull(z.boolean()),
});

/**
 * Changes a role's own fields; its type cannot change. Raises `Role.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `name`; {@link NotAllowedError} when new
 *   users would get more than the caller holds.
 */
export async function updateRole(
  context: Context,
  input: z.input<typeof updateRoleInput>,
): Promise<Role> {
  const { id, ...patch } = parseInput(updateRoleInput, input);
  return refuseConflict(roleConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Role', id);
      const before = await tx.role.findUniqueOrThrow({ where: { id } });
      if (patch.isDefault) assertCanBeDefault(before.type);
      const isMade = patch.isDefault === true && !before.isDefault;
      await assertMayGive(tx, context, { roleIds: isMade ? [id] : [] });
      // A caller with `all` renews the setter scopes of a role that is the default already.
      const isRenewed = isMade || (patch.isDefault && mayDoEverything(context));
      const setterScopes = isRenewed ? setterScopesOf(context) : before.setterScopes;
      const renewal = changesBetween({ setterScopes: before.setterScopes }, { setterScopes });
      return recordChange(tx, context, roles, before, { ...patch, setterScopes }, renewal);
    }),
  );
}

function assertCanBeDefault(type: Role['type']) {
  if (type === 'USER') return;
  throw new InvalidInputError([
    { path: ['isDefault'], message: 'must be false: a default role is given to new users' },
  ]);
}

/**
 * Deletes a role; users and applications lose it. Raises `Role.Deleted`.
 *
 * @returns The role in its last state.
 * @throws {NotFoundError}
 */
export async function deleteRole(context: Context, { id }: { id: string }): Promise<Role> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Role', id);
    const role = await tx.role.delete({ where: { id } });
    const told = await recordEvent(tx, context, 'Role.Deleted', roleRecord(role));
    return told.with(role);
  });
}

const addRoleScopesInput = z.object({ roleId: z.string(), scopeIds });

/**
 * Gives scopes to a role; it keeps those it has. Raises `Role.Scopes.Updated` with the new ones.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the role or a scope; {@link NotAllowedError} of a scope that the
 *   caller does not hold.
 */
export async function addRoleScopes(
  context: Context,
  input: z.input<typeof addRoleScopesInput>,
): Promise<Role> {
  const { roleId, scopeIds: wanted } = parseInput(addRoleScopesInput, input);
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Role', roleId);
    const told = await addScopes(tx, context, roleId, wanted);
    return told.with(await tx.role.findUniqueOrThrow({ where: { id: roleId } }));
  });
}

/**
 * Removes a scope from a role. Raises `Role.Scopes.Updated`.
 *
 * @throws {NotFoundError} of the role, or of the scope if the role does not hold it.
 */
export async function removeRoleScope(
  context: Context,
  { roleId, scopeId }: { roleId: string; scopeId: string },
): Promise<Role> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Role', roleId);
    const held = await tx.roleScope.findUnique({
      where: { roleId_scopeId: { roleId, scopeId } },
      include: { scope: true },
    });
    if (!held) throw new NotFoundError(scopeId);
    await tx.roleScope.delete({ where: { roleId_scopeId: { roleId, scopeId } } });
    const told = await recordEvent(tx, context, 'Role.Scopes.Updated', {
      roleId,
      addedScopes: [],
      removedScopes: [scopeReference(held.scope)],
    });
    return told.with(await tx.role.findUniqueOrThrow({ where: { id: roleId } }));
  });
}

async function addScopes(
  tx: Transaction,
  context: Context,
  roleId: string,
  wanted: readonly string[],
): Promise<Told<void>> {
  const scopes = await findScopes(tx, wanted);
  await assertMayGive(tx, context, { scopeIds: wanted });
  const held = await tx.roleScope.findMany({
    where: { roleId, scopeId: { in: [...wanted] } },
    select: { scopeId: true },
  });
  const heldIds = new Set(held.map(({ scopeId }) => scopeId));
  const added = scopes.filter(({ id }) => !heldIds.has(id));
  if (added.length === 0) return untold(undefined);
  await tx.roleScope.createMany({ data: added.map(({ id }) => ({ roleId, scopeId: id })) });
  return recordEvent(tx, context, 'Role.Scopes.Updated', {
    roleId,
    addedScopes: added.map(scopeReference),
    removedScopes: [],
  });
}

/**
 * Finds scopes by id, in the given order, and locks them against deletion until the transaction ends.
 *
 * @throws {NotFoundError} of the first that is missing.
 */
export async function findScopes(tx: Transaction, ids: readonly string[]): Promise<Scope[]> {
  if (ids.length === 0) return [];
  await tx.$queryRaw`SELECT 1 AS "found" FROM "Scope" WHERE "id" = ANY(${ids}) ORDER BY "id" FOR KEY SHARE`;
  const scopes = await tx.scope.findMany({ where: { id: { in: [...ids] } } });
  const byId = new Map(scopes.map((scope) => [scope.id, scope]));
  return ids.map((id) => {
    const scope = byId.get(id);
    if (!scope) throw new NotFoundError(id);
    return scope;
  });
}
