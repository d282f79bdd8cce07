import { useParams } from '@tanstack/react-router';
import { useLiveRecord } from '../events/live-record.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { useData } from '../kit/api/use-data.ts';
import { CopyId } from '../kit/controls/copy.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { useCan } from '../kit/session/session.ts';
import { Organization } from './documents.ts';
import { InvitationsTab } from './joining/invitations-tab.tsx';
import { JustInTimeTab } from './joining/just-in-time-tab.tsx';
import { ApplicationsTab } from './members/applications-tab.tsx';
import { MembersTab } from './members/members-tab.tsx';
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
  const canReadEvents = useCan('events:read');
  const asked = useData(Organization, { id });
  useLiveRecord(id, asked.refetch);
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
            canReadEvents && {
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
