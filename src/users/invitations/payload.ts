import type { RecordData } from '../../events/catalogue/records.ts';
import type { RecordKind } from '../../events/record.ts';
import type { Prisma } from '../../generated/prisma/client.ts';

/** What to read of an invitation beside its row: its roles. */
export const withRoles = {
  roles: { orderBy: { organizationRoleId: 'asc' } },
} as const satisfies Prisma.OrganizationInvitationInclude;

/** An invitation with its roles. */
export type InvitationWithRoles = Prisma.OrganizationInvitationGetPayload<{
  include: typeof withRoles;
}>;

/** An invitation as events show it. */
export const invitationRecord = (
  invitation: InvitationWithRoles,
): RecordData<'OrganizationInvitation'> => ({
  id: invitation.id,
  organizationId: invitation.organizationId,
  invitee: invitation.invitee,
  status: invitation.status,
  acceptedUserId: invitation.acceptedUserId,
  expiresAt: invitation.expiresAt.toISOString(),
  organizationRoleIds: invitation.roles.map(({ organizationRoleId }) => organizationRoleId),
  createdAt: invitation.createdAt.toISOString(),
  updatedAt: invitation.updatedAt.toISOString(),
});

/** Invitations, whose updates are events. Their roles never change. */
export const invitations: RecordKind<'OrganizationInvitation.Data.Updated', InvitationWithRoles> = {
  updated: 'OrganizationInvitation.Data.Updated',
  shown: invitationRecord,
  write: (tx, id, { roles: _, ...data }) =>
    tx.organizationInvitation.update({ where: { id }, data, include: withRoles }),
};
