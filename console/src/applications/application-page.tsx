import { useParams } from '@tanstack/react-router';
import { RecordEvents } from '../events/record-events.tsx';
import { useData } from '../kit/api/use-data.ts';
import { Badge } from '../kit/controls/badge.tsx';
import { ButtonLink } from '../kit/controls/button.tsx';
import { CopyId } from '../kit/controls/copy.tsx';
import { useMessages } from '../kit/language/language.ts';
import { RecordGate } from '../kit/records/record-gate.tsx';
import { RecordPage } from '../kit/records/record-page.tsx';
import { useCan } from '../kit/session/session.ts';
import { useMayAsk } from '../permissions/may-ask.ts';
import { PermissionsTab } from '../permissions/permissions-tab.tsx';
import { ConsentsTab } from './agents/consents-tab.tsx';
import { agentMessages } from './agents/messages.ts';
import { Origin } from './agents/origin.tsx';
import { Application } from './documents.ts';
import { GeneralTab } from './general-tab.tsx';
import { applicationMessages } from './messages.ts';
import { OrganizationsTab } from './organizations-tab.tsx';
import { RolesTab } from './roles-tab.tsx';
import { securityMessages } from './security/messages.ts';
import { SecurityTab } from './security/security-tab.tsx';
import { trustMessages } from './trust/messages.ts';
import { TrustTab } from './trust/trust-tab.tsx';
import { keepsSecret, signsIn } from './types.ts';

/** One application. */
export function ApplicationPage() {
  const { id } = useParams({ strict: false });
  return <ApplicationRecord key={id} id={id ?? ''} />;
}

function ApplicationRecord({ id }: { id: string }) {
  const t = useMessages(applicationMessages);
  const agentTexts = useMessages(agentMessages);
  const securityTexts = useMessages(securityMessages);
  const trustTexts = useMessages(trustMessages);
  const list = { to: '/applications', label: t.heading };
  const canReadUsers = useCan('users:read');
  const canReadEvents = useCan('events:read');
  const mayAsk = useMayAsk();
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
              {application.origin !== 'ADMINISTRATION' && <Origin origin={application.origin} />}
              <CopyId id={application.metadataUrl ?? application.id} thing={t.clientId} />
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
              id: 'security',
              label: securityTexts.tab,
              content: () => <SecurityTab application={application} />,
            },
            keepsSecret(application.type) && {
              id: 'trust',
              label: trustTexts.tab,
              content: () => <TrustTab of={application} />,
            },
            canReadUsers &&
              signsIn(application.type) && {
                id: 'consents',
                label: agentTexts.consents,
                content: () => <ConsentsTab id={id} origin={application.origin} />,
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
            mayAsk && {
              id: 'permissions',
              label: t.tabs.permissions,
              content: () => <PermissionsTab subjectId={id} />,
            },
            canReadEvents && {
              id: 'events',
              label: t.tabs.events,
              content: () => (
                <>
                  <p>
                    <ButtonLink size="small" kind="quiet" to="/refusals" search={{ about: id }}>
                      {t.refusals}
                    </ButtonLink>
                  </p>
                  <RecordEvents filter={{ actorId: id }} title={t.doneBy} empty={t.doneByEmpty} />
                </>
              ),
            },
          ]}
        />
      )}
    </RecordGate>
  );
}
