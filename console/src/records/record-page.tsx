import { Tabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { useAddress } from '../lists/address.ts';
import { BackTo } from './back-to.tsx';
import styles from './page.module.css';
import { Page } from './page.tsx';

/** A tab of a record's page. Its content is made when it is looked at. */
export interface RecordTab {
  readonly id: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

/** A record's page: its name, the way back to its list, and its tabs. The tab is in the address. */
export function RecordPage({
  name,
  lead,
  list,
  actions,
  tabs: given,
}: {
  name: string;
  lead?: ReactNode;
  list: { readonly to: string; readonly label: string };
  actions?: ReactNode;
  /** False stands for a tab that the person may not see. */
  tabs: readonly (RecordTab | false)[];
}) {
  const { address, change } = useAddress();
  const tabs = given.filter((tab) => tab !== false);
  const [first] = tabs;
  const current = tabs.find(({ id }) => id === address['tab']) ?? first;
  return (
    <Page heading={name} lead={lead} actions={actions} width="reading" above={<BackTo {...list} />}>
      <Tabs.Root
        value={current?.id ?? null}
        onValueChange={(tab) => change(onlyTab(address, String(tab), first?.id))}
      >
        <Tabs.List className={styles.tabs} activateOnFocus={false}>
          {tabs.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id} className={styles.tab}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ id, content }) => (
          <Tabs.Panel key={id} value={id} className={styles.panel}>
            {id === current?.id && content()}
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </Page>
  );
}

// What the address says of a list is that of one tab.
const onlyTab = (address: object, tab: string, first: string | undefined) => ({
  ...Object.fromEntries(Object.keys(address).map((name) => [name, undefined])),
  tab: tab === first ? undefined : tab,
});
