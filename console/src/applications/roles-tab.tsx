import { Link } from '@tanstack/react-router';
import { send } from '../api/send.ts';
import { Notice } from '../controls/notice.tsx';
import { PickAction } from '../dialogs/pick-action.tsx';
import { RemoveAction } from '../dialogs/remove-action.tsx';
import type { ApplicationType } from '../generated/graphql.ts';
import { useMessages } from '../language/language.ts';
import { aboveRowLink, rowLink } from '../lists/data-table.tsx';
import { List, pageIn } from '../lists/list-page.tsx';
import { Section } from '../records/section.tsx';
import { useCan } from '../session/session.ts';
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
  return (
    <>
      {canWrite && seesRoles && (
        <PickAction
          label={t.assignRole}
          placeholder={t.assignRolePlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchApplicationRoles, { search }, signal);
            return found.roles.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.description,
            }));
          }}
          document={AssignApplicationRoles}
          input={(key) => ({ applicationId: id, roleIds: [key] })}
        />
      )}
      <List
        label={t.tabs.roles}
        hasSearch={false}
        document={ApplicationRoles}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ application }) => application?.roles}
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
        empty={<p className={styles.about}>{t.noRoles}</p>}
      />
    </>
  );
}
