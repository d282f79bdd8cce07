import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { useAction } from '../api/use-action.ts';
import { useData } from '../api/use-data.ts';
import { IconButton } from '../controls/button.tsx';
import { SearchPicker } from '../controls/search-picker.tsx';
import { toast } from '../dialogs/toasts.ts';
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
  const assign = useAction(AssignUserRoles);
  const remove = useAction(RemoveUserRole);
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={3} />;
  const roles = data.user?.roles.edges.map(({ node }) => node) ?? [];
  const tell = async (run: Promise<{ kind: string; refusal?: { message: string } }>) => {
    const { refusal } = await run;
    if (refusal) toast.failed(refusal.message);
  };
  return (
    <>
      {canWrite && (
        <SearchPicker
          label={t.assignRole}
          placeholder={t.assignRolePlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchUserRoles, { search }, signal);
            return found.roles.edges
              .map(({ node }) => ({ key: node.id, text: node.name, detail: node.description }))
              .filter(({ key }) => !roles.some((role) => role.id === key));
          }}
          onPick={({ key }) => void tell(assign.run({ userId: id, roleIds: [key] }))}
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
                    <IconButton
                      icon="close"
                      size="small"
                      label={t.removeRole(role.name)}
                      onClick={() => void tell(remove.run({ userId: id, roleId: role.id }))}
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
