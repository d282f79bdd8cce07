import { useParams } from '@tanstack/react-router';
import { useLiveRecord } from '../events/live-record.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { useData } from '../kit/api/use-data.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { useCan } from '../kit/session/session.ts';
import { Role } from './documents.ts';
import { GeneralTab } from './general-tab.tsx';
import { ApplicationHolders, UserHolders } from './holders-tab.tsx';
import { roleMessages } from './messages.ts';

/** One role. */
export function RolePage() {
  const { id } = useParams({ strict: false });
  return <RoleRecord key={id} id={id ?? ''} />;
}

function RoleRecord({ id }: { id: string }) {
  const t = useMessages(roleMessages);
  const list = { to: '/roles', label: t.heading };
  const canReadEvents = useCan('events:read');
  const canReadUsers = useCan('users:read');
  const canReadApplications = useCan('applications:read');
  const asked = useData(Role, { id });
  useLiveRecord(id, asked.refetch);
  return (
    <RecordGate list={list} asked={asked} record={({ role }) => role}>
      {(role) => (
        <RecordPage
          name={role.name}
          lead={
            <>
              <Badge>{t.types[role.type]}</Badge>
              {role.isDefault && <Badge tone="accent">{t.defaultBadge}</Badge>}
              <CopyId id={role.id} />
            </>
          }
          list={list}
          tabs={[
            { id: 'general', label: t.tabs.general, content: () => <GeneralTab role={role} /> },
            (role.type === 'USER' ? canReadUsers : canReadApplications) && {
              id: 'holders',
              label: t.tabs.holders,
              content: () =>
                role.type === 'USER' ? (
                  <UserHolders roleId={id} />
                ) : (
                  <ApplicationHolders roleId={id} />
                ),
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
