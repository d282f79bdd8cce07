import { useMessages } from '../kit/language/language.ts';
import { Memberships } from '../kit/lists/memberships.tsx';
import { Section } from '../kit/records/section.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import { ApplicationOrganizations } from './documents.ts';
import { applicationMessages } from './messages.ts';

/** The organizations that an application is a member of. */
export function OrganizationsTab({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  return (
    <Section title={t.tabs.organizations} about={t.organizationsAbout}>
      <Memberships
        id={id}
        document={ApplicationOrganizations}
        memberships={({ application }) => application?.organizations}
        empty={
          <EmptyState icon="organizations" title={t.tabs.organizations}>
            {t.noOrganizations}
          </EmptyState>
        }
      />
    </Section>
  );
}
