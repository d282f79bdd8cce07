import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { useData } from '../api/use-data.ts';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, DataTable, rowLink } from '../lists/data-table.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
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
  const { data, error, askAgain } = useData(UserRoles, { id });
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={3} />;
  const roles = data.user?.roles.edges.map(({ node }) => node) ?? [];
  return (
    <>
      {canWrite && (
        <PickAction
          label={t.assignRole}
          placeholder={t.assignRolePlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchUserRoles, { search }, signal);
            return found.roles.edges
              .map(({ node }) => ({ key: node.id, text: node.name, detail: node.description }))
              .filter(({ key }) => !roles.some((role) => role.id === key));
          }}
          document={AssignUserRoles}
          input={(key) => ({ userId: id, roleIds: [key] })}
        />
      )}
      {roles.length === 0 ? (
        <p className={styles.about}>{t.noRoles}</p>
      ) : (
        <DataTable
          label={t.tabs.roles}
          rows={roles}
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
        />
      )}
    </>
  );
}
