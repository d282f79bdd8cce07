import { Time } from '../kit/controls/time.tsx';
import { PickAction } from '../kit/dialogs/pick-action.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Memberships } from '../kit/lists/memberships.tsx';
import { searchOrganizations } from '../kit/records/search-records.ts';
import { Section } from '../kit/records/section.tsx';
import { useCan } from '../kit/session/session.ts';
import { AddUserToOrganization, UserOrganizations } from './documents.ts';
import { userMessages } from './messages.ts';
import styles from './users.module.css';

/** The organizations that a user is a member of. */
export function OrganizationsTab({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const canAdd = useCan('organizations:write');
  return (
    <Section title={t.tabs.organizations} about={t.organizationsAbout}>
      {canAdd && (
        <PickAction
          label={t.addToOrganization}
          placeholder={t.addToOrganizationPlaceholder}
          search={searchOrganizations}
          document={AddUserToOrganization}
          input={(key) => ({ organizationId: key, userIds: [id] })}
        />
      )}
      <Memberships
        id={id}
        document={UserOrganizations}
        memberships={({ user }) => user?.organizations}
        columns={[
          {
            id: 'joinedAt',
            header: t.joinedAt,
            isNarrow: true,
            from: 'medium',
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
        empty={
          <p className={styles.about}>{canAdd ? t.noOrganizations : t.noOrganizationsReadOnly}</p>
        }
      />
    </Section>
  );
}
