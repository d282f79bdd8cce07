import { useParams } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { CopyId } from '../controls/copy.tsx';
import { useLiveRecord } from '../events/live-record.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { useMessages } from '../language/language.ts';
import { RecordGate } from '../records/record-gate.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { useCan } from '../session/session.ts';
import { ApplicationsTab } from './applications-tab.tsx';
import { Organization } from './documents.ts';
import { InvitationsTab } from './invitations-tab.tsx';
import { JustInTimeTab } from './just-in-time-tab.tsx';
import { MembersTab } from './members-tab.tsx';
import { organizationMessages } from './messages.ts';
import { SettingsTab } from './settings-tab.tsx';

/** One organization. */
export function OrganizationPage() {
  const { id } = useParams({ strict: false });
  return <OrganizationRecord key={id} id={id ?? ''} />;
}

function OrganizationRecord({ id }: { id: string }) {
  const t = useMessages(organizationMessages);
  const list = { to: '/organizations', label: t.heading };
  const seesEvents = useCan('events:read');
  const asked = useData(Organization, { id });
  useLiveRecord(id, asked.askAgain);
  return (
    <RecordGate list={list} asked={asked} record={({ organization }) => organization}>
      {(organization) => (
        <RecordPage
          name={organization.name}
          lead={<CopyId id={organization.id} />}
          list={list}
          tabs={[
            { id: 'members', label: t.tabs.members, content: () => <MembersTab id={id} /> },
            {
              id: 'applications',
              label: t.tabs.applications,
              content: () => <ApplicationsTab id={id} />,
            },
            {
              id: 'invitations',
              label: t.tabs.invitations,
              content: () => <InvitationsTab id={id} />,
            },
            {
              id: 'just-in-time',
              label: t.tabs.justInTime,
              content: () => <JustInTimeTab id={id} />,
            },
            {
              id: 'settings',
              label: t.tabs.settings,
              content: () => <SettingsTab organization={organization} />,
            },
            seesEvents && {
              id: 'events',
              label: t.tabs.events,
              content: () => <RecordEvents filter={{ subjectId: id }} />,
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
