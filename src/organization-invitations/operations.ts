import { z } from 'zod';
import { assertMayGive } from '../auth/granting/may-open.ts';
import { boundBy, setterScopesOf } from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { folded } from '../db/sql.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { type InputIssue, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { recordChange, recordEvent } from '../events/record.ts';
import {
  InvitationStatus,
  type OrganizationInvitation,
  Prisma,
} from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { AddressedInput, distinct, foldCase, type InputOf, instant, parseInput } from '../input.ts';
import { canSend, queueMessage } from '../messages/queue-message.ts';
import { parseAddressed } from '../messages/senders/non-ascii-addresses.ts';
import { addMembers, recordMembership } from '../organizations/members.ts';
import { organizationUserHolder } from '../role-holders/holders.ts';
import { assertAssignable, assign, recordRoles } from '../role-holders/operations.ts';
import { type Context, type Services, systemActor } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import {
  type InvitationWithRoles,
  invitationRecord,
  invitations,
  withRoles,
} from '../users/invitations/payload.ts';

const defaultLifetimeMs = 7 * 24 * 60 * 60 * 1000;

const createInvitationInput = new AddressedInput((emailAddress) =>
  z.object({
    organizationId: z.string(),
    invitee: emailAddress,
    expiresAt: instant.nullish(),
    organizationRoleIds: distinct(z.string(), 100).nullish(),
    sendMessage: z.boolean().nullish(),
  }),
);

/** The input of `createOrganizationInvitation`. */
export type CreateOrganizationInvitationInput = InputOf<typeof createInvitationInput>;

const invitationConflicts = {
  OrganizationInvitation_pending_key: {
    path: ['invitee'],
    message: 'An invitation of this address to this organization is pending.',
  },
};

/** An invitation's status at an instant: a pending one past its end has expired. */
export const statusAt = (
  { status, expiresAt }: Pick<OrganizationInvitation, 'status' | 'expiresAt'>,
  instant: Date,
): InvitationStatus => (status === 'PENDING' && expiresAt <= instant ? 'EXPIRED' : status);

/** The page where the invitee accepts an invitation. It gives nothing to anybody else. */
export const invitationUrl = ({ baseUrl }: Pick<Services, 'baseUrl'>, id: string): string =>
  `${baseUrl}/account/invitation?id=${id}`;

/**
 * Invites an e-mail address to an organization, for seven days by default, and sends it the link if asked to. Raises `OrganizationInvitation.Created`, and
 * `OrganizationInvitation.Data.Updated` of an earlier invitation that has expired.
 *
 * @throws {InvalidInputError} {@link NotFoundError} of the organization or a role; {@link ConflictError} on
 *   `invitee` while another invitation of the address, ignoring case, is pending there; {@link NotAllowedError} when
 *   the roles hold more than the caller, or a message is asked for and there is no sender of e-mail.
 */
export async function createOrganizationInvitation(
  context: Context,
  input: CreateOrganizationInvitationInput,
): Promise<OrganizationInvitation> {
  const now = context.clock.now();
  const {
    expiresAt: end,
    organizationRoleIds,
    sendMessage,
    ...values
  } = await parseAddressed(context, createInvitationInput, input);
  const expiresAt = end ?? new Date(now.getTime() + defaultLifetimeMs);
  if (expiresAt <= now) {
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  }
  return refuseConflict(invitationConflicts, () =>
    transaction(context.database, async (tx) => {
      await lockRow(tx, 'Organization', values.organizationId);
      await assertAssignable(tx, context, organizationUserHolder, organizationRoleIds ?? []);
      await endExpired(tx, context, values);
      const invitation = await tx.organizationInvitation.create({
        data: {
          ...values,
          id: newId('OrganizationInvitation'),
          setterScopes: setterScopesOf(context),
          expiresAt,
          createdAt: now,
          updatedAt: now,
          roles: {
            create: (organizationRoleIds ?? []).map((organizationRoleId) => ({
              organizationRoleId,
            })),
          },
        },
        include: withRoles,
      });
      if (sendMessage) await sendInvitation(tx, context, invitation);
      const told = await recordEvent(
        tx,
        context,
        'OrganizationInvitation.Created',
        invitationRecord(invitation),
      );
      return told.with(invitation);
    }),
  );
}

async function sendInvitation(
  tx: Transaction,
  context: Context,
  { id, organizationId, invitee, expiresAt }: OrganizationInvitation,
): Promise<void> {
  if (!(await canSend(context, 'EMAIL', tx)))
    throw new NotAllowedError('E-mail has no sender: set one first, or hand over the link.');
  const { defaultLanguage } = await readSignInExperience(tx);
  const { name } = await tx.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { name: true },
  });
  await queueMessage(tx, context, {
    channel: 'EMAIL',
    recipient: invitee,
    template: 'INVITATION',
    language: defaultLanguage,
    link: invitationUrl(context, id),
    variables: { organization: name },
    expiresAt,
  });
}

/** Ends the pending invitation of an address that has expired. The unique index knows no clock: it would block a new one. */
async function endExpired(
  tx: Transaction,
  context: Context,
  { organizationId, invitee }: Pick<OrganizationInvitation, 'organizationId' | 'invitee'>,
): Promise<void> {
  const expired = await tx.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "OrganizationInvitation"
     WHERE "organizationId" = ${organizationId} AND ${folded(Prisma.sql`"invitee"`)} = ${foldCase(invitee)}
       AND "status" = 'PENDING' AND "expiresAt" <= ${context.clock.now()}::timestamptz
       FOR UPDATE`;
  for (const { id } of expired) {
    const before = await readInvitation(tx, id);
    // No caller ended it: its time was over.
    const bySystem = { ...context, actor: systemActor };
    await recordChange(tx, bySystem, invitations, before, { status: 'EXPIRED' });
  }
}

const readInvitation = (tx: Transaction, id: string) =>
  tx.organizationInvitation.findUniqueOrThrow({ where: { id }, include: withRoles });

/**
 * Deletes an invitation in any status; a membership that came from it stays. Raises `OrganizationInvitation.Deleted`.
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
    const before = await readInvitation(tx, id);
    const told = await recordEvent(
      tx,
      context,
      'OrganizationInvitation.Deleted',
      invitationRecord(before),
    );
    return told.with(tx.organizationInvitation.delete({ where: { id } }));
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
 * with the invitation's roles. Raises `OrganizationInvitation.Data.Updated`, after `Organization.Membership.Updated` if
 * a user who was not a member yet accepts.
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
    const patch = { status, acceptedUserId: acceptedUserId ?? null };
    return recordChange(tx, context, invitations, invitation, patch);
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

/**
 * Accepts a pending invitation as the person whom it invites: their e-mail address is the invitee's, and verified. They
 * become a member with the invitation's roles. Raises the events of {@link updateOrganizationInvitationStatus}.
 *
 * @param userId A user who is signed in.
 * @throws {NotFoundError} {@link NotAllowedError} on an invitation that is no longer pending, of another address, or
 *   from before they were removed from the organization.
 */
export async function acceptOwnInvitation(
  context: Context,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<OrganizationInvitation> {
  return transaction(context.database, async (tx) => {
    const invitation = await lockPending(tx, context, id);
    if (await hasLeftSince(tx, invitation, userId))
      throw new NotAllowedError('The user was removed from the organization after that.');
    await accept(tx, context, invitation, userId, { isTheirWord: true });
    const patch = { status: 'ACCEPTED', acceptedUserId: userId } as const;
    return recordChange(tx, context, invitations, invitation, patch);
  });
}

/** Whether a user was removed from the organization after they were invited: then the invitation is of no use to them. */
export const hasLeftSince = async (
  client: Pick<Transaction, 'organizationDeparture'>,
  { organizationId, createdAt }: Pick<OrganizationInvitation, 'organizationId' | 'createdAt'>,
  userId: string,
): Promise<boolean> =>
  (await client.organizationDeparture.count({
    where: { organizationId, userId, leftAt: { gt: createdAt } },
  })) > 0;

async function lockPending(tx: Transaction, context: Context, id: string) {
  const found = await tx.organizationInvitation.findUnique({ where: { id } });
  if (!found) throw new NotFoundError(id);
  // The organization is locked first, as in every change of its members.
  await lockRow(tx, 'Organization', found.organizationId);
  await lockRow(tx, 'OrganizationInvitation', id);
  const invitation = await readInvitation(tx, id);
  const status = statusAt(invitation, context.clock.now());
  if (status === 'PENDING') return invitation;
  throw new NotAllowedError(`The invitation is no longer pending: it is ${status}.`);
}

/** @param isTheirWord Whether the user says so, and no caller for them: then the address has to be verified. */
async function accept(
  tx: Transaction,
  context: Context,
  { organizationId, invitee, setterScopes, roles }: InvitationWithRoles,
  userId: string,
  { isTheirWord = false }: { readonly isTheirWord?: boolean } = {},
): Promise<void> {
  // Locks the user's address until the transaction ends.
  const [user] = await tx.$queryRaw<
    { isInvitee: boolean | null; isEmailVerified: boolean; isSuspended: boolean }[]
  >`
    SELECT ${folded(Prisma.sql`"primaryEmail"`)} = ${foldCase(invitee)} AS "isInvitee", "isEmailVerified", "isSuspended"
      FROM "User" WHERE "id" = ${userId} FOR SHARE`;
  if (!user || (isTheirWord && user.isSuspended)) throw new NotFoundError(userId);
  if (!user.isInvitee) {
    throw new NotAllowedError("The user's e-mail address is not the one that was invited.");
  }
  if (isTheirWord && !user.isEmailVerified)
    throw new NotAllowedError("The user's e-mail address is not verified.");
  const organizationRoleIds = roles.map(({ organizationRoleId }) => organizationRoleId);
  await assertMayGive(tx, context, { organizationRoleIds });
  const addedUserIds = await addMembers(tx, context, 'user', organizationId, [userId]);
  const given = { roleIds: organizationRoleIds, setterScopes: boundBy(context, setterScopes) };
  const key = { organizationId, userId };
  const added = await assign(tx, organizationUserHolder, key, given);
  await recordMembership(tx, context, organizationId, { addedUserIds });
  await recordRoles(tx, context, organizationUserHolder, key, { added });
}
