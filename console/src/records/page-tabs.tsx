import { Tabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { useAddress } from '../lists/address.ts';
import styles from './page.module.css';

/** A tab of a page. Its content is made when it is looked at. */
export interface PageTab {
  readonly id: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

/** The tabs of a page; which one is open is in the address. False stands for a tab that the person may not see. */
export function PageTabs({ tabs: given }: { tabs: readonly (PageTab | false)[] }) {
  const { address, change } = useAddress();
  const tabs = given.filter((tab) => tab !== false);
  const [first] = tabs;
  const current = tabs.find(({ id }) => id === address['tab']) ?? first;
  return (
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
  );
}

// What the address says of a list is that of one tab.
const onlyTab = (address: object, tab: string, first: string | undefined) => ({
  ...Object.fromEntries(Object.keys(address).map((name) => [name, undefined])),
  tab: tab === first ? undefined : tab,
});
