import type { ApplicationType } from '../generated/graphql.ts';
import { Notice } from '../kit/controls/notice.tsx';
import { useMessages } from '../kit/language/language.ts';
import { HeldRoles } from '../kit/lists/held-records.tsx';
import { pageIn } from '../kit/lists/list-page.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import styles from './applications.module.css';
import { ApplicationRoles, AssignApplicationRoles, RemoveApplicationRole } from './documents.ts';
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
  const canReadRoles = useCan('roles:read');
  return (
    <HeldRoles
      type="MACHINE_TO_MACHINE"
      document={ApplicationRoles}
      variables={(address) => ({ id, ...pageIn(address) })}
      connection={({ application }) => application?.roles}
      assign={
        canWrite &&
        canReadRoles && {
          document: AssignApplicationRoles,
          input: (key) => ({ applicationId: id, roleIds: [key] }),
        }
      }
      remove={
        canWrite && {
          document: RemoveApplicationRole,
          input: (role) => ({ applicationId: id, roleId: role.id }),
        }
      }
      empty={<p className={styles.about}>{t.noRoles}</p>}
    />
  );
}
