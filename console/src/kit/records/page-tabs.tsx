import { Tabs } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';
import { useAddress } from '../address.ts';
import styles from './page.module.css';

/** A tab of a page. Its content is rendered when it is open. */
export interface PageTab {
  readonly id: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

/** The tabs of a page. The open one is in the address. A tab that the person may not see is false. */
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

// The other parameters belong to the list of the tab that is left.
const onlyTab = (address: object, tab: string, first: string | undefined) => ({
  ...Object.fromEntries(Object.keys(address).map((name) => [name, undefined])),
  tab: tab === first ? undefined : tab,
});
