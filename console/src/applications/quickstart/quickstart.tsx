import { Tabs } from '@base-ui/react/tabs';
import { useData } from '../../kit/api/use-data.ts';
import { CopyBlock } from '../../kit/controls/copy.tsx';
import { Notice } from '../../kit/controls/notice.tsx';
import { useMessages } from '../../kit/language/language.ts';
import { Section } from '../../kit/records/section.tsx';
import { useCan } from '../../kit/session/session.ts';
import { SearchResources } from '../documents.ts';
import { keepsSecret, type ShownApplication, signsIn } from '../types.ts';
import { quickstartMessages } from './messages.ts';
import styles from './quickstart.module.css';
import { snippetsOf } from './snippets.ts';

/** What to begin with, filled in: the settings of any library, and a program for those that many use. */
export function Quickstart({ application }: { application: ShownApplication }) {
  const t = useMessages(quickstartMessages);
  const isForPeople = signsIn(application.type);
  const canReadApis = useCan('resources:read');
  const { data } = useData(SearchResources, {}, { pause: !canReadApis || isForPeople });
  const own = data?.resources.edges.find(({ node }) => !node.indicator.startsWith('urn:signet:'));
  const snippets = snippetsOf(application, own?.node.indicator ?? 'https://orders.example.com');
  const [first] = snippets;
  return (
    <Section title={t.title} about={isForPeople ? t.people : t.machine}>
      {asksForMore(application) && <Notice>{t.asksForMore}</Notice>}
      <Tabs.Root defaultValue={first?.id ?? null}>
        <Tabs.List className={styles.kinds} activateOnFocus={false} aria-label={t.kinds}>
          {snippets.map(({ id }) => (
            <Tabs.Tab key={id} value={id} className={styles.kind}>
              {t.names[id]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, text }) => (
          <Tabs.Panel key={id} value={id} className={styles.snippet}>
            <p className={styles.about}>{t.abouts[id]}</p>
            <CopyBlock
              label={id === 'curl' && !isForPeople ? t.machineCommand : t.labels[id]}
              text={text}
            />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </Section>
  );
}

/** Whether the application is set up so that a library needs more settings than the snippets have. */
const asksForMore = ({
  type,
  allowSecrets,
  requireDpop,
  requirePushedAuthorizationRequests,
  securityProfile,
}: ShownApplication): boolean =>
  requireDpop ||
  requirePushedAuthorizationRequests ||
  securityProfile !== 'NONE' ||
  (keepsSecret(type) && !allowSecrets);
