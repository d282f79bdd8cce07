import { useMessages } from '../language/language.ts';
import { Page } from '../records/page.tsx';
import { useCan } from '../session/session.ts';
import { Counted } from './counted.tsx';
import { Activity, Running } from './figures.tsx';
import { LatestEvents } from './latest-events.tsx';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';
import { Steps } from './steps.tsx';

/** What there is, what happens, and what is left to set up. */
export function OverviewPage() {
  const t = useMessages(overviewMessages);
  const seesEvents = useCan('events:read');
  return (
    <Page heading={t.heading} lead={t.lead}>
      <Counted />
      <div className={styles.stack}>
        {seesEvents && <Activity />}
        <div className={styles.panes}>
          {seesEvents && <LatestEvents />}
          <div className={styles.stack}>
            <Steps />
            {seesEvents && <Running />}
          </div>
        </div>
      </div>
    </Page>
  );
}
