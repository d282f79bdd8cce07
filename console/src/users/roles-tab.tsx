import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { AssignUserRoles, RemoveUserRole, SearchUserRoles, UserRoles } from './documents.ts';
import { userMessages } from './messages.ts';
import styles from './users.module.css';

/** The roles of a user. */
export function RolesTab({ id }: { id: string }) {
  const t = useMessages(userMessages);
  return (
    <Section title={t.tabs.roles} about={t.rolesAbout}>
      <Roles id={id} />
    </Section>
  );
}

function Roles({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const canWrite = useCan('users:write');
  return (
    <>
      {canWrite && (
        <PickAction
          label={t.assignRole}
          placeholder={t.assignRolePlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchUserRoles, { search }, signal);
            return found.roles.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.description,
            }));
          }}
          document={AssignUserRoles}
          input={(key) => ({ userId: id, roleIds: [key] })}
        />
      )}
      <List
        label={t.tabs.roles}
        hasSearch={false}
        document={UserRoles}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ user }) => user?.roles}
        columns={[
          {
            id: 'name',
            header: t.name,
            cell: (role) => (
              <Link to="/roles/$id" params={{ id: role.id }} className={rowLink}>
                {role.name}
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
            cell: (role) =>
              canWrite && (
                <span className={aboveRowLink}>
                  <RemoveAction
                    label={t.removeRole(role.name)}
                    document={RemoveUserRole}
                    input={{ userId: id, roleId: role.id }}
                  />
                </span>
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noRoles}</p>}
      />
    </>
  );
}
