import type { ReactNode } from 'react';
import { BackTo } from './back-to.tsx';
import { Page } from './page.tsx';
import { type PageTab, PageTabs } from './page-tabs.tsx';

/** A record's page: its name, the link to its list, and its tabs. The open tab is in the address. */
export const RecordPage = ({
  name,
  lead,
  list,
  actions,
  tabs,
}: {
  name: string;
  lead?: ReactNode;
  list: { readonly to: string; readonly label: string };
  actions?: ReactNode;
  /** False for a tab that the person may not see. */
  tabs: readonly (PageTab | false)[];
}) => (
  <Page heading={name} lead={lead} actions={actions} width="reading" above={<BackTo {...list} />}>
    <PageTabs tabs={tabs} />
  </Page>
);
