import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { Badge } from '../controls/badge.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { toast } from '../dialogs/toasts.ts';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import { EmptyState } from '../states/state.tsx';
import {
  AssignRoleToApplication,
  AssignRoleToUser,
  RemoveRoleFromApplication,
  RemoveRoleFromUser,
  RoleApplications,
  RoleUsers,
  SearchApplicationsForRole,
  SearchUsersForRole,
} from './documents.ts';
import { roleMessages } from './messages.ts';

/** The people who have a role. */
export function UserHolders({ roleId }: { roleId: string }) {
  const t = useMessages(roleMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.users} about={t.usersAbout}>
      {canWrite && (
        <PickAction
          label={t.assignToUser}
          placeholder={t.assignToUserPlaceholder}
          search={async (search, signal) => {
            const { users } = await send(SearchUsersForRole, { search }, signal);
            return users.edges.map(({ node }) => ({
              key: node.id,
              text: shownName(node),
              detail: node.primaryEmail ?? node.username ?? null,
            }));
          }}
          document={AssignRoleToUser}
          input={(key) => ({ userId: key, roleIds: [roleId] })}
          onDone={({ text }) => toast.done(t.given(text))}
        />
      )}
      <List
        label={t.users}
        document={RoleUsers}
        variables={(address) => ({
          ...pageIn(address),
          filter: { roleId, search: address['search'] },
        })}
        connection={({ users }) => users}
        columns={[
          {
            id: 'name',
            header: t.user,
            cell: (user) => (
              <Link to="/users/$id" params={{ id: user.id }} className={rowLink}>
                {shownName(user)}
              </Link>
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
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: (user) =>
              canWrite && (
                <span className={aboveRowLink}>
                  <RemoveAction
                    label={t.takeFrom(shownName(user))}
                    document={RemoveRoleFromUser}
                    input={{ userId: user.id, roleId }}
                    onDone={() => toast.done(t.taken(shownName(user)))}
                  />
                </span>
              ),
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
      {canWrite && (
        <PickAction
          label={t.assignToApplication}
          placeholder={t.assignToApplicationPlaceholder}
          search={async (search, signal) => {
            const { applications } = await send(SearchApplicationsForRole, { search }, signal);
            return applications.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.description,
            }));
          }}
          document={AssignRoleToApplication}
          input={(key) => ({ applicationId: key, roleIds: [roleId] })}
          onDone={({ text }) => toast.done(t.given(text))}
        />
      )}
      <List
        label={t.applications}
        document={RoleApplications}
        variables={(address) => ({
          ...pageIn(address),
          filter: { roleId, search: address['search'] },
        })}
        connection={({ applications }) => applications}
        columns={[
          {
            id: 'name',
            header: t.application,
            cell: ({ id, name }) => (
              <Link to="/applications/$id" params={{ id }} className={rowLink}>
                {name}
              </Link>
            ),
          },
          {
            id: 'description',
            header: t.description,
            from: 'medium',
            cell: ({ description }) => description,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: ({ id, name }) =>
              canWrite && (
                <span className={aboveRowLink}>
                  <RemoveAction
                    label={t.takeFrom(name)}
                    document={RemoveRoleFromApplication}
                    input={{ applicationId: id, roleId }}
                    onDone={() => toast.done(t.taken(name))}
                  />
                </span>
              ),
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
