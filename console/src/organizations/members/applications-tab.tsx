import { useMessages } from '../../kit/language/language.ts';
import { searchMachineApplicationsOutside } from '../../kit/records/search-records.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { organizationMessages } from '../messages.ts';
import {
  AddOrganizationApplications,
  AssignOrganizationApplicationRoles,
  OrganizationApplications,
  RemoveOrganizationApplication,
  RemoveOrganizationApplicationRole,
} from './documents.ts';
import { Members } from './members.tsx';

/** The applications of an organization, and their roles there. */
export function ApplicationsTab({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const canSearch = useCan('applications:read');
  return (
    <Section title={t.tabs.applications} about={t.applicationsAbout}>
      <Members
        label={t.tabs.applications}
        header={t.application}
        type="MACHINE_TO_MACHINE"
        organizationId={id}
        document={OrganizationApplications}
        connection={({ organization }) => organization?.applications}
        memberOf={({ application }) => application}
        add={
          canSearch && {
            label: t.addApplication,
            placeholder: t.addApplicationPlaceholder,
            search: searchMachineApplicationsOutside(id),
            document: AddOrganizationApplications,
            input: (key) => ({ organizationId: id, applicationIds: [key] }),
          }
        }
        inputOf={(applicationId) => ({ applicationId })}
        assign={AssignOrganizationApplicationRoles}
        unassign={RemoveOrganizationApplicationRole}
        remove={RemoveOrganizationApplication}
        empty={t.noApplications}
      />
    </Section>
  );
}
