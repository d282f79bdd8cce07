import { useParams } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { CopyId } from '../controls/copy.tsx';
import { useLiveRecord } from '../events/live-record.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { useMessages } from '../language/language.ts';
import { RecordGate } from '../records/record-gate.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { shownName } from '../records/shown-name.ts';
import { useCan } from '../session/session.ts';
import { AccessTab } from './access/access-tab.tsx';
import { User } from './documents.ts';
import { FactorsTab } from './factors-tab.tsx';
import { userMessages } from './messages.ts';
import { OrganizationsTab } from './organizations-tab.tsx';
import { ProfileTab } from './profile-tab.tsx';
import { RolesTab } from './roles-tab.tsx';
import { SessionsTab } from './sessions-tab.tsx';
import { Status } from './status.tsx';
import { UserActions } from './user-actions.tsx';

/** One user. */
export function UserPage() {
  const { id } = useParams({ strict: false });
  return <UserRecord key={id} id={id ?? ''} />;
}

function UserRecord({ id }: { id: string }) {
  const t = useMessages(userMessages);
  const list = { to: '/users', label: t.heading };
  const canWrite = useCan('users:write');
  const seesRoles = useCan('roles:read');
  const seesOrganizations = useCan('organizations:read');
  const seesEvents = useCan('events:read');
  const asked = useData(User, { id });
  useLiveRecord(id, asked.askAgain);
  return (
    <RecordGate list={list} asked={asked} record={({ user }) => user}>
      {(user) => (
        <RecordPage
          name={shownName(user)}
          lead={
            <>
              <Status isSuspended={user.isSuspended} />
              <CopyId id={user.id} />
            </>
          }
          list={list}
          actions={canWrite && <UserActions user={user} />}
          tabs={[
            { id: 'profile', label: t.tabs.profile, content: () => <ProfileTab user={user} /> },
            seesRoles && { id: 'roles', label: t.tabs.roles, content: () => <RolesTab id={id} /> },
            seesOrganizations && {
              id: 'organizations',
              label: t.tabs.organizations,
              content: () => <OrganizationsTab id={id} />,
            },
            { id: 'sessions', label: t.tabs.sessions, content: () => <SessionsTab id={id} /> },
            { id: 'factors', label: t.tabs.factors, content: () => <FactorsTab id={id} /> },
            { id: 'access', label: t.tabs.access, content: () => <AccessTab id={id} /> },
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
