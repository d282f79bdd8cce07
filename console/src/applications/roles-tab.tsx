import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { useData } from '../api/use-data.ts';
import { Notice } from '../controls/notice.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import type { ApplicationType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, DataTable, rowLink } from '../lists/data-table.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
import { Failed } from '../states/failed.tsx';
import { Loading } from '../states/loading.tsx';
import styles from './applications.module.css';
import {
  ApplicationRoles,
  AssignApplicationRoles,
  RemoveApplicationRole,
  SearchApplicationRoles,
} from './documents.ts';
import { applicationMessages } from './messages.ts';

/** The roles of a machine-to-machine application. */
export function RolesTab({ id, type }: { id: string; type: ApplicationType }) {
  const t = useMessages(applicationMessages);
  return (
    <Section title={t.tabs.roles} about={t.rolesAbout}>
      {type === 'MACHINE_TO_MACHINE' ? <Roles id={id} /> : <Notice>{t.rolesOnlyMachine}</Notice>}
    </Section>
  );
}

function Roles({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  const canWrite = useCan('applications:write');
  const seesRoles = useCan('roles:read');
  const { data, error, askAgain } = useData(ApplicationRoles, { id });
  if (error && !data) return <Failed error={error} onRetry={askAgain} />;
  if (!data) return <Loading lines={3} />;
  const roles = data.application?.roles.edges.map(({ node }) => node) ?? [];
  return (
    <>
      {canWrite && seesRoles && (
        <PickAction
          label={t.assignRole}
          placeholder={t.assignRolePlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchApplicationRoles, { search }, signal);
            return found.roles.edges
              .map(({ node }) => ({ key: node.id, text: node.name, detail: node.description }))
              .filter(({ key }) => !roles.some((role) => role.id === key));
          }}
          document={AssignApplicationRoles}
          input={(key) => ({ applicationId: id, roleIds: [key] })}
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
                      document={RemoveApplicationRole}
                      input={{ applicationId: id, roleId: role.id }}
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
