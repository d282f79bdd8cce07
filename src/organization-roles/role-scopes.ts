import { z } from 'zod';
import { assertMayGive } from '../auth/granting/may-open.ts';
import { lockRow } from '../db/lock.ts';
import { untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { raiseVersion } from '../db/versions.ts';
import { NotFoundError } from '../errors.ts';
import type { EventData } from '../events/catalogue/catalogue.ts';
import type { OrganizationScopeReference, ScopeReference } from '../events/catalogue/records.ts';
import { recordEvent } from '../events/record.ts';
import type { OrganizationRole } from '../generated/prisma/client.ts';
import { distinct, parseInput } from '../input.ts';
import { scopeReference } from '../resources/payload.ts';
import { findScopes } from '../roles/operations.ts';
import type { Context } from '../services.ts';
import { organizationScopeReference } from './payload.ts';
import { findOrganizationScopes } from './scopes.ts';

const ids = distinct(z.string(), 1000);
const scopesInput = z.object({ organizationRoleId: z.string(), organizationScopeIds: ids });
const resourceScopesInput = z.object({ organizationRoleId: z.string(), scopeIds: ids });

/** An organization role, and organization scopes to add or to set. */
export type OrganizationRoleScopesInput = z.input<typeof scopesInput>;

/**
 * Gives organization scopes to an organization role; it keeps those it has. Raises
 * `OrganizationRole.Scopes.Updated` with the new ones.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the role or a scope.
 */
export async function addOrganizationRoleScopes(
  context: Context,
  input: OrganizationRoleScopesInput,
): Promise<OrganizationRole> {
  const { organizationRoleId, organizationScopeIds } = parseInput(scopesInput, input);
  return change(context, organizationRoleId, async (tx) => ({
    addedScopes: await addScopes(tx, organizationRoleId, organizationScopeIds),
  }));
}

/**
 * Removes an organization scope from an organization role. Raises `OrganizationRole.Scopes.Updated`.
 *
 * @throws {NotFoundError} of the role, or of a scope that the role does not hold.
 */
export async function removeOrganizationRoleScope(
  context: Context,
  {
    organizationRoleId,
    organizationScopeId,
  }: { organizationRoleId: string; organizationScopeId: string },
): Promise<OrganizationRole> {
  return change(context, organizationRoleId, async (tx) => {
    const removedScopes = await tx.$queryRaw<OrganizationScopeReference[]>`
      DELETE FROM "OrganizationRoleScope" AS "held" USING "OrganizationScope" AS "scope"
       WHERE "held"."organizationRoleId" = ${organizationRoleId}
         AND "held"."organizationScopeId" = ${organizationScopeId}
         AND "scope"."id" = "held"."organizationScopeId"
      RETURNING "scope"."id", "scope"."name"`;
    if (removedScopes.length === 0) throw new NotFoundError(organizationScopeId);
    return { removedScopes };
  });
}

/**
 * Sets the organization scopes of an organization role. Raises `OrganizationRole.Scopes.Updated` with the scopes gained
 * and lost.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the role or a scope.
 */
export async function replaceOrganizationRoleScopes(
  context: Context,
  input: OrganizationRoleScopesInput,
): Promise<OrganizationRole> {
  const { organizationRoleId, organizationScopeIds } = parseInput(scopesInput, input);
  return change(context, organizationRoleId, async (tx) => {
    const addedScopes = await addScopes(tx, organizationRoleId, organizationScopeIds);
    const removedScopes = await tx.$queryRaw<OrganizationScopeReference[]>`
      DELETE FROM "OrganizationRoleScope" AS "held" USING "OrganizationScope" AS "scope"
       WHERE "held"."organizationRoleId" = ${organizationRoleId}
         AND "scope"."id" = "held"."organizationScopeId"
         AND "scope"."id" <> ALL(${organizationScopeIds}::text[])
      RETURNING "scope"."id", "scope"."name"`;
    if (addedScopes.length + removedScopes.length > 0)
      await raiseVersion(tx, 'OrganizationRole', organizationRoleId);
    return { addedScopes, removedScopes: removedScopes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
  });
}

/** An organization role, and the resource scopes to add. */
export type OrganizationRoleResourceScopesInput = z.input<typeof resourceScopesInput>;

/**
 * Gives resource scopes to an organization role; it keeps those it has. Raises
 * `OrganizationRole.Scopes.Updated` with the new ones.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the role or a scope.
 */
export async function addOrganizationRoleResourceScopes(
  context: Context,
  input: OrganizationRoleResourceScopesInput,
): Promise<OrganizationRole> {
  const { organizationRoleId, scopeIds } = parseInput(resourceScopesInput, input);
  return change(context, organizationRoleId, async (tx) => ({
    addedResourceScopes: await addResourceScopes(tx, context, organizationRoleId, scopeIds),
  }));
}

/**
 * Removes a resource scope from an organization role. Raises `OrganizationRole.Scopes.Updated`.
 *
 * @throws {NotFoundError} of the role, or of a scope that the role does not hold.
 */
export async function removeOrganizationRoleResourceScope(
  context: Context,
  { organizationRoleId, scopeId }: { organizationRoleId: string; scopeId: string },
): Promise<OrganizationRole> {
  return change(context, organizationRoleId, async (tx) => {
    const removedResourceScopes = await tx.$queryRaw<ScopeReference[]>`
      DELETE FROM "OrganizationRoleResourceScope" AS "held" USING "Scope" AS "scope"
       WHERE "held"."organizationRoleId" = ${organizationRoleId} AND "held"."scopeId" = ${scopeId}
         AND "scope"."id" = "held"."scopeId"
      RETURNING "scope"."id", "scope"."name", "scope"."resourceId"`;
    if (removedResourceScopes.length === 0) throw new NotFoundError(scopeId);
    return { removedResourceScopes };
  });
}

/**
 * Gives organization scopes to a role that the caller has locked; records no event.
 *
 * @returns The scopes it did not hold before, in the given order.
 * @throws {NotFoundError} of the first that is missing.
 */
export async function addScopes(
  tx: Transaction,
  organizationRoleId: string,
  organizationScopeIds: readonly string[],
): Promise<OrganizationScopeReference[]> {
  const scopes = await findOrganizationScopes(tx, organizationScopeIds);
  if (scopes.length === 0) return [];
  const added = await tx.organizationRoleScope.createManyAndReturn({
    data: scopes.map(({ id }) => ({ organizationRoleId, organizationScopeId: id })),
    skipDuplicates: true,
  });
  const addedIds = new Set(added.map((row) => row.organizationScopeId));
  return scopes.filter(({ id }) => addedIds.has(id)).map(organizationScopeReference);
}

/**
 * Gives resource scopes to a role that the caller has locked; records no event.
 *
 * @returns The scopes it did not hold before, in the given order.
 * @throws {NotFoundError} of the first that is missing.
 */
export async function addResourceScopes(
  tx: Transaction,
  context: Context,
  organizationRoleId: string,
  scopeIds: readonly string[],
): Promise<ScopeReference[]> {
  const scopes = await findScopes(tx, scopeIds);
  await assertMayGive(tx, context, { scopeIds });
  if (scopes.length === 0) return [];
  const added = await tx.organizationRoleResourceScope.createManyAndReturn({
    data: scopes.map(({ id }) => ({ organizationRoleId, scopeId: id })),
    skipDuplicates: true,
  });
  const addedIds = new Set(added.map(({ scopeId }) => scopeId));
  return scopes.filter(({ id }) => addedIds.has(id)).map(scopeReference);
}

function change(
  context: Context,
  organizationRoleId: string,
  work: (tx: Transaction) => Promise<Partial<EventData<'OrganizationRole.Scopes.Updated'>>>,
): Promise<OrganizationRole> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'OrganizationRole', organizationRoleId);
    const data = {
      organizationRoleId,
      addedScopes: [],
      removedScopes: [],
      addedResourceScopes: [],
      removedResourceScopes: [],
      ...(await work(tx)),
    };
    const isChanged = Object.values(data).some((value) => Array.isArray(value) && value.length > 0);
    const told = isChanged
      ? await recordEvent(tx, context, 'OrganizationRole.Scopes.Updated', data)
      : untold(undefined);
    return told.with(
      await tx.organizationRole.findUniqueOrThrow({ where: { id: organizationRoleId } }),
    );
  });
}
