import type { EventData } from '../events/catalogue/catalogue.ts';
import { recordOf } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { Organization, Prisma } from '../generated/prisma/client.ts';

/** An organization as events show it. */
export const organizationRecord = (organization: Organization) =>
  recordOf('Organization', organization);

/** Organizations, whose updates are events. */
export const organizations: RecordKind<'Organization.Data.Updated', Organization> = {
  updated: 'Organization.Data.Updated',
  shown: organizationRecord,
  // The column is never null.
  write: (tx, id, { customData, ...data }) =>
    tx.organization.update({
      where: { id },
      data: { ...data, customData: customData as Prisma.InputJsonValue | undefined },
    }),
};

type MembershipData = EventData<'Organization.Membership.Updated'>;

/** Who joined an organization and who left it. */
export type MembershipChange = Partial<Omit<MembershipData, 'organizationId'>>;

/** The most members in one event, which a message has to hold; a larger change has several events. */
export const maxMembersAnEvent = 1000;

const lists = [
  'addedUserIds',
  'removedUserIds',
  'addedApplicationIds',
  'removedApplicationIds',
] as const;

/** The data of the events of a membership change; none if nobody joined or left. */
export function membershipData(organizationId: string, change: MembershipChange): MembershipData[] {
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
