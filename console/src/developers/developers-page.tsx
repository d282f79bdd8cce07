import { useMessages } from '../kit/language/language.ts';
import { Page } from '../kit/records/page.tsx';
import { PageTabs } from '../kit/records/page-tabs.tsx';
import { GraphiQL } from './graphiql.tsx';
import { developerMessages } from './messages.ts';
import { RestReference } from './rest-reference.tsx';
import { TokenTab } from './token-tab.tsx';

/** The APIs, to read and to try, and a token for programs. */
export function DevelopersPage() {
  const t = useMessages(developerMessages);
  return (
    <Page heading={t.heading} lead={t.lead}>
      <PageTabs
        tabs={[
          { id: 'graphql', label: t.tabs.graphql, content: () => <GraphiQL /> },
          { id: 'rest', label: t.tabs.rest, content: () => <RestReference /> },
          { id: 'token', label: t.tabs.token, content: () => <TokenTab /> },
        ]}
      />
    </Page>
  );
}
