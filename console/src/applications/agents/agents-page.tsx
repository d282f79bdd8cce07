import { useMessages } from '../../kit/language/language.ts';
import { Page } from '../../kit/records/page.tsx';
import { PageTabs } from '../../kit/records/page-tabs.tsx';
import { useCan } from '../../kit/session/session.ts';
import { Forbidden } from '../../kit/states/failed.tsx';
import { trustMessages } from '../trust/messages.ts';
import { TrustTab } from '../trust/trust-tab.tsx';
import { AdmissionTab } from './admission-tab.tsx';
import { AgentList } from './agent-list.tsx';
import { agentMessages } from './messages.ts';

/** The applications that came by themselves, which may, and whom applications trust. */
export function AgentsPage() {
  const t = useMessages(agentMessages);
  const trustTexts = useMessages(trustMessages);
  const isAllowed = useCan('applications:read');
  return (
    <Page heading={t.heading} lead={t.lead}>
      {isAllowed ? (
        <PageTabs
          tabs={[
            { id: 'list', label: t.tabs.list, content: () => <AgentList /> },
            { id: 'admission', label: t.tabs.admission, content: () => <AdmissionTab /> },
            { id: 'trust', label: trustTexts.tab, content: () => <TrustTab /> },
          ]}
        />
      ) : (
        <Forbidden scope="applications:read" />
      )}
    </Page>
  );
}
