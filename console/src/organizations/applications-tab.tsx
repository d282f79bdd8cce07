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
import { useCan } from '../session/session.ts';
import {
  AddOrganizationApplications,
  AssignOrganizationApplicationRoles,
  OrganizationApplications,
  RemoveOrganizationApplication,
  RemoveOrganizationApplicationRole,
  SearchMachineApplications,
} from './documents.ts';
import { organizationMessages } from './messages.ts';
import styles from './organizations.module.css';
import { RolesInPlace, useRoleChoices } from './roles-in-place.tsx';
import { tell } from './tell.ts';

/** The applications of an organization, and their roles there. */
export function ApplicationsTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canWrite = useCan('organizations:write');
  const canSearch = useCan('applications:read');
  const choices = useRoleChoices('MACHINE_TO_MACHINE');
  const assign = useAction(AssignOrganizationApplicationRoles);
  const unassign = useAction(RemoveOrganizationApplicationRole);
  return (
    <Section title={t.tabs.applications} about={t.applicationsAbout}>
      {canWrite && canSearch && (
        <PickAction
          label={t.addApplication}
          placeholder={t.addApplicationPlaceholder}
          search={async (search, signal) => {
            const found = await send(SearchMachineApplications, { search }, signal);
            return found.applications.edges.map(({ node }) => ({
              key: node.id,
              text: node.name,
              detail: node.description,
            }));
          }}
          document={AddOrganizationApplications}
          input={(key) => ({ organizationId: id, applicationIds: [key] })}
        />
      )}
      <List
        label={t.tabs.applications}
        hasSearch={false}
        document={OrganizationApplications}
        variables={(address) => ({ id, ...pageIn(address) })}
        connection={({ organization }) => organization?.applications}
        columns={[
          {
            id: 'name',
            header: t.application,
            cell: ({ application }) =>
              application ? (
                <Link to="/applications/$id" params={{ id: application.id }} className={rowLink}>
                  {application.name}
                </Link>
              ) : (
                <span className={styles.about}>{t.hidden}</span>
              ),
          },
          {
            id: 'roles',
            header: t.roles,
            cell: ({ application, roles }) => (
              <span className={aboveRowLink}>
                <RolesInPlace
                  held={roles.edges.map(({ node }) => node)}
                  choices={choices}
                  isReadOnly={!canWrite || !application}
                  copyAs={(roleIds) =>
                    application && (
                      <CopyAs
                        document={AssignOrganizationApplicationRoles}
                        input={{
                          organizationId: id,
                          applicationId: application.id,
                          organizationRoleIds: roleIds,
                        }}
                      />
                    )
                  }
                  onAssign={(roleId) =>
                    application &&
                    void tell(
                      assign.run({
                        organizationId: id,
                        applicationId: application.id,
                        organizationRoleIds: [roleId],
                      }),
                    )
                  }
                  onRemove={(organizationRoleId) =>
                    application &&
                    void tell(
                      unassign.run({
                        organizationId: id,
                        applicationId: application.id,
                        organizationRoleId,
                      }),
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
            cell: ({ application }) =>
              canWrite &&
              application && (
                <span className={aboveRowLink}>
                  <ConfirmAction
                    label={t.removeMember}
                    title={t.removeTitle(application.name)}
                    text={t.removeText}
                    document={RemoveOrganizationApplication}
                    input={{ organizationId: id, applicationId: application.id }}
                    kind="danger"
                    size="small"
                  />
                </span>
              ),
          },
        ]}
        empty={<p className={styles.about}>{t.noApplications}</p>}
      />
    </Section>
  );
}
