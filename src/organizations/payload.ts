import type {
  OrganizationMembershipData,
  OrganizationRecord,
  OrganizationRoleRecord,
  OrganizationScopeRecord,
  OrganizationScopeReference,
} from '../events/payloads.ts';
import type {
  Organization,
  OrganizationRole,
  OrganizationScope,
} from '../generated/prisma/client.ts';

/** An organization as events tell it. */
export const organizationRecord = (organization: Organization): OrganizationRecord => ({
  id: organization.id,
  name: organization.name,
  description: organization.description,
  customData: organization.customData,
  createdAt: organization.createdAt.toISOString(),
  updatedAt: organization.updatedAt.toISOString(),
});

/** An organization role as events tell it. */
export const organizationRoleRecord = (role: OrganizationRole): OrganizationRoleRecord => ({
  id: role.id,
  name: role.name,
  description: role.description,
  type: role.type,
  createdAt: role.createdAt.toISOString(),
  updatedAt: role.updatedAt.toISOString(),
});

/** An organization scope as events tell it. */
export const organizationScopeRecord = (scope: OrganizationScope): OrganizationScopeRecord => ({
  id: scope.id,
  name: scope.name,
  description: scope.description,
  createdAt: scope.createdAt.toISOString(),
  updatedAt: scope.updatedAt.toISOString(),
});

/** An organization scope as events about organization roles name it. */
export const organizationScopeReference = ({
  id,
  name,
}: OrganizationScope): OrganizationScopeReference => ({ id, name });

/** Who joined an organization and who left it. */
export type MembershipChange = Partial<Omit<OrganizationMembershipData, 'organizationId'>>;

/** The most members that one event names; a larger change is told by several. */
export const maxMembersAnEvent = 5000;

const lists = [
  'addedUserIds',
  'removedUserIds',
  'addedApplicationIds',
  'removedApplicationIds',
] as const;

/** The data of the events that tell a change of members: none where nobody joined or left. */
export function membershipData(
  organizationId: string,
  change: MembershipChange,
): OrganizationMembershipData[] {
  const entries = lists.flatMap((list) => (change[list] ?? []).map((id) => ({ list, id })));
  const count = Math.ceil(entries.length / maxMembersAnEvent);
  return Array.from({ length: count }, (_, index) => {
    const part = entries.slice(index * maxMembersAnEvent, (index + 1) * maxMembersAnEvent);
    const of = (wanted: (typeof lists)[number]) =>
      part.filter(({ list }) => list === wanted).map(({ id }) => id);
    return {
      organizationId,
      addedUserIds: of('addedUserIds'),
      removedUserIds: of('removedUserIds'),
      addedApplicationIds: of('addedApplicationIds'),
      removedApplicationIds: of('removedApplicationIds'),
    };
  });
}
