import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { useAction } from '../api/use-action.ts';
import { CopyAs } from '../controls/copy-as.tsx';
import { Time } from '../controls/time.tsx';
import { ConfirmAction } from '../dialogs/confirm-action.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import {
  AddOrganizationUsers,
  AssignOrganizationUserRoles,
  OrganizationMembers,
  RemoveOrganizationUser,
  RemoveOrganizationUserRole,
  SearchUsers,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { RolesInPlace, useRoleChoices } from './roles-in-place.tsx';
import { tell } from './tell.ts';

/** The members of an organization, and their roles there. */
export function MembersTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const canSearch = useCan('users:read');
  const choices = useRoleChoices('USER');
  const assign = useAction(AssignOrganizationUserRoles);
  const unassign = useAction(RemoveOrganizationUserRole);
  return (
    <Section title={t.tabs.members} about={t.membersAbout}>
      {canWrite && canSearch && (
        <PickAction
          label={t.addMember}
          placeholder={t.addMemberPlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchUsers, { search }, signal);
            return found.users.edges.map(({ node }) => ({
              key: node.id,
              text: shownName(node),
              detail: node.primaryEmail ?? node.username,
            }));
          }}
          document={AddOrganizationUsers}
          input={(key) => ({ organizationId: id, userIds: [key] })}
        />
      )}
      <List
        label={t.tabs.members}
        hasSearch={false}
        document={OrganizationMembers}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ organization }) => organization?.members}
        columns={[
          {
            id: 'name',
            header: t.member,
            cell: ({ user }) =>
              user ? (
                <Link to="/users/$id" params={{ id: user.id }} className={rowLink}>
                  {shownName(user)}
                </Link>
              ) : (
                <span className={styles.about}>{t.hidden}</span>
              ),
          },
          {
            id: 'email',
            header: t.email,
            from: 'wide',
            cell: ({ user }) => user?.primaryEmail,
          },
          {
            id: 'roles',
            header: t.roles,
            cell: ({ user, roles }) => (
              <span className={aboveRowLink}>
                <RolesInPlace
                  held={roles.edges.map(({ node }) => node)}
                  choices={choices}
                  isReadOnly={!canWrite || !user}
                  copyAs={(roleIds) =>
                    user && (
                      <CopyAs
                        document={AssignOrganizationUserRoles}
                        input={{
                          organizationId: id,
                          userId: user.id,
                          organizationRoleIds: roleIds,
                        }}
                      />
                    )
                  }
                  onAssign={(roleId) =>
                    user &&
                    void tell(
                      assign.run({
                        organizationId: id,
                        userId: user.id,
                        organizationRoleIds: [roleId],
                      }),
                    )
                  }
                  onRemove={(organizationRoleId) =>
                    user &&
                    void tell(
                      unassign.run({ organizationId: id, userId: user.id, organizationRoleId }),
                    )
                  }
                />
              </span>
            ),
          },
          {
            id: 'joinedAt',
            header: t.joinedAt,
            isNarrow: true,
            from: 'wide',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
          {
            id: 'remove',
            header: '',
            isNarrow: true,
            cell: ({ user }) =>
              canWrite &&
              user && (
                <span className={aboveRowLink}>
                  <ConfirmAction
                    label={t.removeMember}
                    title={t.removeTitle(shownName(user))}
                    text={t.removeText}
                    document={RemoveOrganizationUser}
                    input={{ organizationId: id, userId: user.id }}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noMembers}</p>}
      />
    </Section>
  );
}
