import { useMessages } from '../kit/language/language.ts';
import { HeldRoles } from '../kit/lists/held-records.tsx';
import { pageIn } from '../kit/lists/list-page.tsx';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { AssignUserRoles, RemoveUserRole, UserRoles } from './documents.ts';
import { userMessages } from './messages.ts';
import type { ShownUser } from './profile-tab.tsx';
import styles from './users.module.css';
import { Vouch } from './vouch.tsx';

/** The roles of a user. */
export function RolesTab({ user }: { user: ShownUser }) {
  const { id } = user;
  const t = useMessages(userMessages);
  const canWrite = useCan('users:write');
  return (
    <Section title={t.tabs.roles} about={t.rolesAbout}>
      <Vouch user={user} />
      <HeldRoles
        type="USER"
        document={UserRoles}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ user }) => user?.roles}
        assign={
          canWrite && {
            document: AssignUserRoles,
            input: (key) => ({ userId: id, roleIds: [key] }),
          }
        }
        remove={
          canWrite && {
            document: RemoveUserRole,
            input: (role) => ({ userId: id, roleId: role.id }),
          }
        }
        empty={<p className={styles.about}>{t.noRoles}</p>}
      />
    </Section>
  );
}
