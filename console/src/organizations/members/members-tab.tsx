import { useMessages } from '../../kit/language/language.ts';
import { searchUsersOutside } from '../../kit/records/search-records.ts';
import { Section } from '../../kit/records/section.tsx';
import { shownName } from '../../kit/records/shown-name.ts';
import { useCan } from '../../kit/session/session.ts';
import { organizationMessages } from '../messages.ts';
import {
  AddOrganizationUsers,
  AssignOrganizationUserRoles,
  OrganizationMembers,
  RemoveOrganizationUser,
  RemoveOrganizationUserRole,
} from './documents.ts';
import { Members } from './members.tsx';

/** The members of an organization, and their roles there. */
export function MembersTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canSearch = useCan('users:read');
  return (
    <Section title={t.tabs.members} about={t.membersAbout}>
      <Members
        label={t.tabs.members}
        header={t.member}
        type="USER"
        organizationId={id}
        document={OrganizationMembers}
        connection={({ organization }) => organization?.members}
        memberOf={({ user }) => user && { id: user.id, name: shownName(user) }}
        columns={[
          {
            id: 'email',
            header: t.email,
            from: 'wide',
            cell: ({ user }) => user?.primaryEmail,
          },
        ]}
        add={
          canSearch && {
            label: t.addMember,
            placeholder: t.addMemberPlaceholder,
            search: searchUsersOutside(id),
            document: AddOrganizationUsers,
            input: (key) => ({ organizationId: id, userIds: [key] }),
          }
        }
        inputOf={(userId) => ({ userId })}
        assign={AssignOrganizationUserRoles}
        unassign={RemoveOrganizationUserRole}
        remove={RemoveOrganizationUser}
        empty={t.noMembers}
      />
    </Section>
  );
}
