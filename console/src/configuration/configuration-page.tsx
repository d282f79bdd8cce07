import { useMessages } from '../kit/language/language.ts';
import { Page } from '../kit/records/page.tsx';
import { configurationScopes, useCan } from '../kit/session/session.ts';
import { Forbidden } from '../kit/states/failed.tsx';
import styles from './configuration.module.css';
import { Export } from './export.tsx';
import { Import } from './import.tsx';
import { configurationMessages } from './messages.ts';

/** The configuration as a document: read, planned and applied. */
export function ConfigurationPage() {
  const t = useMessages(configurationMessages);
  const isAllowed = useCan(configurationScopes);
  return (
    <Page heading={t.heading} lead={t.lead} width="reading">
      {isAllowed ? (
        <div className={styles.sections}>
          <Export />
          <Import />
        </div>
      ) : (
        <Forbidden scope={configurationScopes.join(', ')} />
      )}
    </Page>
  );
}
