import { z } from 'zod';
import { assertMayGive } from '../auth/granting.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { InvitationStatus, type OrganizationInvitation } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { distinct, emailAddress, instant, parseInput } from '../input.ts';
import { assertAssignable } from '../organization-roles/operations.ts';
import { addMembers, recordMembership } from '../organizations/members.ts';
import type { Context } from '../services.ts';

const defaultLifetimeMs = 7 * 24 * 60 * 60 * 1000;

const createInvitationInput = z.object({
  organizationId: z.string(),
  invitee: emailAddress,
  expiresAt: instant.nullish(),
  organizationRoleIds: distinct(z.string(), 100).nullish(),
});

/** The input of `createOrganizationInvitation`. */
export type CreateOrganizationInvitationInput = z.input<typeof createInvitationInput>;

const invitationConflicts = {
  OrganizationInvitation_pending_key: {
    path: ['invitee'],
    message: 'An invitation of this address to this organization is pending.',
  },
};

/** An invitation's status at an instant: a pending one has expired after its end. */
export const statusAt = (
  { status, expiresAt }: Pick<OrganizationInvitation, 'status' | 'expiresAt'>,
  instant: Date,
): InvitationStatus => (status === 'PENDING' && expiresAt <= instant ? 'EXPIRED' : status);

/**
 * Invites an e-mail address to an organization, for seven days by default.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or a role; {@link ConflictError} on
 *   `invitee` while another invitation of the address, ignoring case, is pending there.
 */
export async function createOrganizationInvitation(
  context: Context,
  input: CreateOrganizationInvitationInput,
): Promise<OrganizationInvitation> {
  const now = context.clock.now();
  const {
    expiresAt: end,
    organizationRoleIds,
    ...values
  } = parseInput(createInvitationInput, input);
  const expiresAt = end ?? new Date(now.getTime() + defaultLifetimeMs);
  if (expiresAt <= now) {
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  }
  return refuseConflict(invitationConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Organization', values.organizationId);
      await assertAssignable(tx, context, organizationRoleIds ?? [], 'USER');
      // The unique index knows no clock: an expired invitation must not block a new one.
      await tx.$executeRaw`
        UPDATE "OrganizationInvitation" SET "status" = 'EXPIRED'
         WHERE "organizationId" = ${values.organizationId} AND lower("invitee") = lower(${values.invitee}::text)
           AND "status" = 'PENDING' AND "expiresAt" <= ${now}::timestamptz`;
      const invitation = await tx.organizationInvitation.create({
        data: {
          ...values,
          id: newId('OrganizationInvitation'),
          expiresAt,
          createdAt: now,
          updatedAt: now,
        },
      });
      await tx.organizationInvitationRole.createMany({
        data: (organizationRoleIds ?? []).map((organizationRoleId) => ({
          invitationId: invitation.id,
          organizationRoleId,
        })),
      });
      return invitation;
    }),
  );
}

/**
 * Deletes an invitation in any status; a membership that came from it stays.
 *
 * @returns The invitation in its last state.
 * @throws {NotFoundError}
 */
export async function deleteOrganizationInvitation(
  context: Context,
  { id }: { id: string },
): Promise<OrganizationInvitation> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'OrganizationInvitation', id);
    return tx.organizationInvitation.delete({ where: { id } });
  });
}

const updateStatusInput = z.object({
  id: z.string(),
  status: z.enum(InvitationStatus),
  acceptedUserId: z.string().nullish(),
});

/** The input of `updateOrganizationInvitationStatus`. */
export type UpdateOrganizationInvitationStatusInput = z.input<typeof updateStatusInput>;

/**
 * Accepts or revokes a pending invitation. A user with the invitee's e-mail address accepts it, and becomes a member
 * with the invitation's roles. Accepting raises `Organization.Membership.Updated` if the user was not a member yet.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the invitation or the user; {@link NotAllowedError} on an
 *   invitation that is no longer pending, a user of another address, or roles that hold more than the caller.
 */
export async function updateOrganizationInvitationStatus(
  context: Context,
  input: UpdateOrganizationInvitationStatusInput,
): Promise<OrganizationInvitation> {
  const { id, status, acceptedUserId } = parseInput(updateStatusInput, input);
  assertAnswer(status, acceptedUserId);
  return transaction(context.database, async (tx) => {
    const invitation = await lockPending(tx, context, id);
    if (status === 'ACCEPTED' && acceptedUserId) {
      await accept(tx, context, invitation, acceptedUserId);
    }
    return tx.organizationInvitation.update({
      where: { id },
      data: { status, acceptedUserId: acceptedUserId ?? null, updatedAt: context.clock.now() },
    });
  });
}

function assertAnswer(status: InvitationStatus, acceptedUserId: string | null | undefined): void {
  const issues: InputIssue[] = [];
  if (status !== 'ACCEPTED' && status !== 'REVOKED') {
    issues.push({ path: ['status'], message: 'must be ACCEPTED or REVOKED' });
  }
  if (status === 'ACCEPTED' && acceptedUserId == null) {
    issues.push({
      path: ['acceptedUserId'],
      message: 'must name the user who accepts',
      code: 'REQUIRED',
    });
  }
  if (status !== 'ACCEPTED' && acceptedUserId != null) {
    issues.push({ path: ['acceptedUserId'], message: 'goes with ACCEPTED alone' });
  }
  if (issues.length > 0) throw new InvalidInputError(issues);
}

async function lockPending(tx: Transaction, context: Context, id: string) {
  const found = await tx.organizationInvitation.findUnique({ where: { id } });
  if (!found) throw new NotFoundError(id);
  // The organization is locked first, as in every change of its members.
  await lockRow(tx, 'Organization', found.organizationId);
  await lockRow(tx, 'OrganizationInvitation', id);
  const invitation = await tx.organizationInvitation.findUniqueOrThrow({ where: { id } });
  const status = statusAt(invitation, context.clock.now());
  if (status === 'PENDING') return invitation;
  throw new NotAllowedError(`The invitation is no longer pending: it is ${status}.`);
}

async function accept(
  tx: Transaction,
  context: Context,
  { id, organizationId, invitee }: OrganizationInvitation,
  userId: string,
): Promise<void> {
  // Locks the user's address until the transaction ends.
  const [user] = await tx.$queryRaw<{ isInvitee: boolean | null }[]>`
    SELECT lower("primaryEmail") = lower(${invitee}::text) AS "isInvitee" FROM "User" WHERE "id" = ${userId} FOR SHARE`;
  if (!user) throw new NotFoundError(userId);
  if (!user.isInvitee) {
    throw new NotAllowedError("The user's e-mail address is not the one that was invited.");
  }
  const roles = await tx.organizationInvitationRole.findMany({
    where: { invitationId: id },
    select: { organizationRoleId: true },
  });
  const organizationRoleIds = roles.map(({ organizationRoleId }) => organizationRoleId);
  await assertMayGive(tx, context, { organizationRoleIds });
  const addedUserIds = await addMembers(tx, context, 'user', organizationId, [userId]);
  await tx.$executeRaw`
    INSERT INTO "OrganizationUserRole" ("organizationId", "userId", "organizationRoleId")
    SELECT ${organizationId}::text, ${userId}::text, "organizationRoleId"
      FROM "OrganizationInvitationRole" WHERE "invitationId" = ${id}
    ON CONFLICT DO NOTHING`;
  await recordMembership(tx, context, organizationId, { addedUserIds });
}
