import { z } from 'zod';
import { assertMayEase } from '../auth/granting/may-open.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { type NewEvent, recordChange, recordEvent, recordEvents } from '../events/record.ts';
import type { Organization, Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { composedText, jsonObject, name, notNull, parseInput } from '../input.ts';
import type { Context } from '../services.ts';
import { invitationRecord, withRoles } from '../users/invitations/payload.ts';
import { assertMayLeave, recordMembership, removeMembers } from './members.ts';
import { organizationRecord, organizations } from './payload.ts';

const createOrganizationInput = z.object({
  name: name(),
  description: composedText(1024).nullish(),
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
    const told = await recordEvent(
      tx,
      context,
      'Organization.Created',
      organizationRecord(organization),
    );
    return told.with(organization);
  });
}

const updateOrganizationInput = z.object({
  id: z.string(),
  name: notNull(name()),
  description: composedText(1024).nullish(),
  customData: jsonObject.nullish(),
  requiresFactor: z.boolean().nullish(),
});

/** The input of `updateOrganization`: an absent field stays as it is; null clears it. */
export type UpdateOrganizationInput = z.input<typeof updateOrganizationInput>;

/**
 * Changes an organization's own fields. Raises `Organization.Data.Updated` if something changed.
 *
 * @throws {InvalidInputError} {@link NotFoundError}; {@link NotAllowedError} when a second factor is no longer required
 *   of a member who holds more than the caller.
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
    const isEased = before.requiresFactor && patch.requiresFactor === false;
    await assertMayEase(tx, context, isEased ? id : null);
    return recordChange(tx, context, organizations, before, patch);
  });
}

/**
 * Deletes an organization with its memberships, invitations, e-mail domains and just-in-time roles. Raises
 * `Organization.Membership.Updated` for its members (several events for more than 1,000),
 * `OrganizationInvitation.Deleted` for each invitation, then `Organization.Deleted`.
 *
 * @returns The organization in its last state.
 * @throws {NotFoundError}; {@link NotAllowedError} when it requires a second factor of a member who holds more than the
 *   caller.
 */
export async function deleteOrganization(
  context: Context,
  { id }: { id: string },
): Promise<Organization> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', id);
    await assertMayLeave(tx, context, id, { staying: [] });
    const removedUserIds = await removeMembers(tx, 'user', id);
    const removedApplicationIds = await removeMembers(tx, 'application', id);
    const invitations = await tx.organizationInvitation.findMany({
      where: { organizationId: id },
      orderBy: { id: 'asc' },
      include: withRoles,
    });
    const organization = await tx.organization.delete({ where: { id } });
    await recordMembership(tx, context, id, { removedUserIds, removedApplicationIds });
    const told = await recordEvents(tx, context, [
      ...invitations.map(
        (invitation): NewEvent => ({
          type: 'OrganizationInvitation.Deleted',
          data: invitationRecord(invitation),
        }),
      ),
      { type: 'Organization.Deleted', data: organizationRecord(organization) },
    ]);
    return told.with(organization);
  });
}
