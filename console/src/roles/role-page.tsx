import { useParams } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { CopyId } from '../controls/copy.tsx';
import { useLiveRecord } from '../events/live-record.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { useMessages } from '../language/language.ts';
import { RecordGate } from '../records/record-gate.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { useCan } from '../session/session.ts';
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
  const seesEvents = useCan('events:read');
  const seesUsers = useCan('users:read');
  const seesApplications = useCan('applications:read');
  const asked = useData(Role, { id });
  useLiveRecord(id, asked.askAgain);
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
            (role.type === 'USER' ? seesUsers : seesApplications) && {
              id: 'holders',
              label: t.tabs.holders,
              content: () =>
                role.type === 'USER' ? (
                  <UserHolders roleId={id} />
                ) : (
                  <ApplicationHolders roleId={id} />
                ),
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
