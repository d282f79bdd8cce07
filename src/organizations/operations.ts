import { z } from 'zod';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { changesBetween, recordEvent } from '../events/record.ts';
import type { Organization, Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { jsonObject, name, notNull, parseInput, patched, text } from '../input.ts';
import type { Context } from '../services.ts';
import { recordMembership, removeMembers } from './members.ts';
import { organizationRecord } from './payload.ts';

const createOrganizationInput = z.object({
  name: name(),
  description: text(1024).nullish(),
  customData: jsonObject.nullish(),
  requiresFactor: z.boolean().nullish(),
});

/** The input of `createOrganization`. */
export type CreateOrganizationInput = z.input<typeof createOrganizationInput>;

/**
 * Creates an organization. Raises `Organization.Created`.
 *
 * @throws {InvalidInputError}
 */
export async function createOrganization(
  context: Context,
  input: CreateOrganizationInput,
): Promise<Organization> {
  const { customData, requiresFactor, ...values } = parseInput(createOrganizationInput, input);
  return transaction(context.database, async (tx) => {
    const now = context.clock.now();
    const organization = await tx.organization.create({
      data: {
        ...values,
        id: newId('Organization'),
        customData: (customData ?? {}) as Prisma.InputJsonObject,
        requiresFactor: requiresFactor ?? false,
        createdAt: now,
        updatedAt: now,
      },
    });
    await recordEvent(tx, context, 'Organization.Created', organizationRecord(organization));
    return organization;
  });
}

const updateOrganizationInput = z.object({
  id: z.string(),
  name: notNull(name()),
  description: text(1024).nullish(),
  customData: jsonObject.nullish(),
  requiresFactor: z.boolean().nullish(),
});

/** The input of `updateOrganization`: an absent field stays as it is; null clears it. */
export type UpdateOrganizationInput = z.input<typeof updateOrganizationInput>;

/**
 * Changes an organization's own fields. Raises `Organization.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError}
 */
export async function updateOrganization(
  context: Context,
  input: UpdateOrganizationInput,
): Promise<Organization> {
  const { id, customData, requiresFactor, ...values } = parseInput(updateOrganizationInput, input);
  const patch = {
    ...values,
    customData: customData === null ? {} : (customData as Prisma.JsonObject | undefined),
    requiresFactor: requiresFactor === null ? false : requiresFactor,
  };
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', id);
    const before = await tx.organization.findUniqueOrThrow({ where: { id } });
    const changes = changesBetween(
      organizationRecord(before),
      organizationRecord(patched(before, patch)),
    );
    if (!changes) return before;
    const organization = await tx.organization.update({
      where: { id },
      data: { ...patch, updatedAt: context.clock.now() },
    });
    await recordEvent(tx, context, 'Organization.Data.Updated', {
      ...organizationRecord(organization),
      changes,
    });
    return organization;
  });
}

/**
 * Deletes an organization with its memberships, invitations, e-mail domains and just-in-time roles. Raises
 * `Organization.Membership.Updated` for its members (several events for more than 5,000), then `Organization.Deleted`.
 *
 * @returns The organization in its last state.
 * @throws {NotFoundError}
 */
export async function deleteOrganization(
  context: Context,
  { id }: { id: string },
): Promise<Organization> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', id);
    const removedUserIds = await removeMembers(tx, 'user', id);
    const removedApplicationIds = await removeMembers(tx, 'application', id);
    const organization = await tx.organization.delete({ where: { id } });
    await recordMembership(tx, context, id, { removedUserIds, removedApplicationIds });
    await recordEvent(tx, context, 'Organization.Deleted', organizationRecord(organization));
    return organization;
  });
}
