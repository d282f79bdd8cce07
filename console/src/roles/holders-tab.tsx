import { Badge } from '../kit/controls/badge.tsx';
import { useMessages } from '../kit/language/language.ts';
import { HeldRecords } from '../kit/lists/held-records.tsx';
import { pageIn } from '../kit/lists/list-page.tsx';
import { NamedRowLink, RowLink } from '../kit/lists/row-link.tsx';
import { searchMachineApplications, searchUsers } from '../kit/records/search-records.ts';
import { Section } from '../kit/records/section.tsx';
import { shownName } from '../kit/records/shown-name.ts';
import { useCan } from '../kit/session/session.ts';
import { EmptyState } from '../kit/states/state.tsx';
import { toast } from '../kit/toasts.ts';
import {
  AssignRoleToApplication,
  AssignRoleToUser,
  RemoveRoleFromApplication,
  RemoveRoleFromUser,
  RoleApplications,
  RoleUsers,
} from './documents.ts';
import { roleMessages } from './messages.ts';

/** The people who have a role. */
export function UserHolders({ roleId }: { roleId: string }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.users} about={t.usersAbout}>
      <HeldRecords
        label={t.users}
        document={RoleUsers}
        variables={(address) => ({
          ...pageIn(address),
          filter: { roleId, search: address['search'] },
        })}
        connection={({ users }) => users}
        add={
          canWrite && {
            label: t.assignToUser,
            placeholder: t.assignToUserPlaceholder,
            search: searchUsers,
            document: AssignRoleToUser,
            input: (key) => ({ userId: key, roleIds: [roleId] }),
            onDone: ({ text }) => toast.done(t.given(text)),
          }
        }
        remove={
          canWrite && {
            label: (user) => t.takeFrom(shownName(user)),
            document: RemoveRoleFromUser,
            input: (user) => ({ userId: user.id, roleId }),
            onDone: (user) => toast.done(t.taken(shownName(user))),
          }
        }
        columns={[
          {
            id: 'name',
            header: t.user,
            cell: (user) => (
              <RowLink to="/users/$id" id={user.id}>
                {shownName(user)}
              </RowLink>
            ),
          },
          {
            id: 'email',
            header: t.email,
            from: 'medium',
            cell: ({ primaryEmail }) => primaryEmail,
          },
          {
            id: 'state',
            header: '',
            isNarrow: true,
            cell: ({ isSuspended }) => isSuspended && <Badge tone="bad">{t.suspended}</Badge>,
          },
        ]}
        empty={
          <EmptyState icon="users" title={t.noHoldersTitle}>
            {canWrite ? t.noUsersText : t.noHoldersReadOnly}
          </EmptyState>
        }
      />
    </Section>
  );
}

/** The machine-to-machine applications that have a role. */
export function ApplicationHolders({ roleId }: { roleId: string }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('applications:write');
  return (
    <Section title={t.applications} about={t.applicationsAbout}>
      <HeldRecords
        label={t.applications}
        document={RoleApplications}
        variables={(address) => ({
          ...pageIn(address),
          filter: { roleId, search: address['search'] },
        })}
        connection={({ applications }) => applications}
        add={
          canWrite && {
            label: t.assignToApplication,
            placeholder: t.assignToApplicationPlaceholder,
            search: searchMachineApplications,
            document: AssignRoleToApplication,
            input: (key) => ({ applicationId: key, roleIds: [roleId] }),
            onDone: ({ text }) => toast.done(t.given(text)),
          }
        }
        remove={
          canWrite && {
            label: ({ name }) => t.takeFrom(name),
            document: RemoveRoleFromApplication,
            input: ({ id }) => ({ applicationId: id, roleId }),
            onDone: ({ name }) => toast.done(t.taken(name)),
          }
        }
        columns={[
          {
            id: 'name',
            header: t.application,
            cell: (row) => <NamedRowLink to="/applications/$id" of={row} />,
          },
          {
            id: 'description',
            header: t.description,
            from: 'medium',
            cell: ({ description }) => description,
          },
        ]}
        empty={
          <EmptyState icon="applications" title={t.noHoldersTitle}>
            {canWrite ? t.noApplicationsText : t.noHoldersReadOnly}
          </EmptyState>
        }
      />
    </Section>
  );
}
