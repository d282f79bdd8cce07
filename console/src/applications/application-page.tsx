import { useParams } from '@tanstack/react-router';
import { useData } from '../api/use-data.ts';
import { Badge } from '../controls/badge.tsx';
import { CopyId } from '../controls/copy.tsx';
import { RecordEvents } from '../events/record-events.tsx';
import { useMessages } from '../language/language.ts';
import { RecordGate } from '../records/record-gate.tsx';
import { RecordPage } from '../records/record-page.tsx';
import { useCan } from '../session/session.ts';
import { Application } from './documents.ts';
import { GeneralTab } from './general-tab.tsx';
import { applicationMessages } from './messages.ts';
import { OrganizationsTab } from './organizations-tab.tsx';
import { RolesTab } from './roles-tab.tsx';

/** One application. */
export function ApplicationPage() {
  const { id } = useParams({ strict: false });
  return <ApplicationRecord key={id} id={id ?? ''} />;
}

function ApplicationRecord({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  const list = { to: '/applications', label: t.heading };
  const seesEvents = useCan('events:read');
  return (
    <RecordGate
      list={list}
      asked={useData(Application, { id })}
      record={({ application }) => application}
    >
      {(application) => (
        <RecordPage
          name={application.name}
          lead={
            <>
              <Badge>{t.types[application.type]}</Badge>
              <CopyId id={application.id} thing={t.clientId} />
            </>
          }
          list={list}
          tabs={[
            {
              id: 'general',
              label: t.tabs.general,
              content: () => <GeneralTab application={application} />,
            },
            {
              id: 'roles',
              label: t.tabs.roles,
              content: () => <RolesTab id={id} type={application.type} />,
            },
            {
              id: 'organizations',
              label: t.tabs.organizations,
              content: () => <OrganizationsTab id={id} />,
            },
            seesEvents && {
              id: 'events',
              label: t.tabs.events,
              content: () => (
                <RecordEvents filter={{ actorId: id }} title={t.doneBy} empty={t.doneByEmpty} />
              ),
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
