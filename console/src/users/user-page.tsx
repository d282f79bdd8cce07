import { useParams } from '@tanstack/react-router';
import { useLiveRecord } from '../events/live-record.ts';
import { PersonEvents } from '../events/record-events.tsx';
import { useData } from '../kit/api/use-data.ts';
import { CopyId } from '../kit/controls/copy.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { shownName } from '../kit/records/shown-name.ts';
import { useCan } from '../kit/session/session.ts';
import { useMayAsk } from '../permissions/may-ask.ts';
import { PermissionsTab } from '../permissions/permissions-tab.tsx';
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
  const canReadRoles = useCan('roles:read');
  const canReadOrganizations = useCan('organizations:read');
  const canReadEvents = useCan('events:read');
  const mayAsk = useMayAsk();
  const asked = useData(User, { id });
  useLiveRecord(id, asked.refetch);
  return (
    <RecordGate list={list} asked={asked} record={({ user }) => user}>
      {(user) => (
        <RecordPage
          name={shownName(user)}
          lead={
            <>
              <Status user={user} />
              <CopyId id={user.id} />
            </>
          }
          list={list}
          actions={canWrite && <UserActions user={user} />}
          tabs={[
            { id: 'profile', label: t.tabs.profile, content: () => <ProfileTab user={user} /> },
            canReadRoles && {
              id: 'roles',
              label: t.tabs.roles,
              content: () => <RolesTab user={user} />,
            },
            canReadOrganizations && {
              id: 'organizations',
              label: t.tabs.organizations,
              content: () => <OrganizationsTab id={id} />,
            },
            mayAsk && {
              id: 'permissions',
              label: t.tabs.permissions,
              content: () => <PermissionsTab subjectId={id} />,
            },
            { id: 'sessions', label: t.tabs.sessions, content: () => <SessionsTab id={id} /> },
            { id: 'factors', label: t.tabs.factors, content: () => <FactorsTab id={id} /> },
            { id: 'access', label: t.tabs.access, content: () => <AccessTab id={id} /> },
            canReadEvents && {
              id: 'events',
              label: t.tabs.events,
              content: () => <PersonEvents id={id} />,
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
