import { lazy, Suspense } from 'react';
import { useMessages } from '../kit/language/language.ts';
import { Page } from '../kit/records/page.tsx';
import { useCan } from '../kit/session/session.ts';
import { Loading } from '../kit/states/loading.tsx';
import { Counted } from './counted.tsx';
import { HealthLine } from './health.tsx';
import { LatestEvents } from './latest-events.tsx';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';
import { Running } from './running.tsx';
import { Steps } from './steps.tsx';

// In a part of its own: what stands above it is read first.
const Charts = lazy(async () => {
  const { Charts: component } = await import('./charts/charts.tsx');
  return { default: component };
});

/** Totals, activity, and the set-up checklist. */
export function OverviewPage() {
  const t = useMessages(overviewMessages);
  const canReadEvents = useCan('events:read');
  return (
    <Page heading={t.heading} lead={t.lead}>
      <HealthLine />
      <Counted />
      <div className={styles.stack}>
        {canReadEvents && (
          <Suspense
            fallback={
              <div className={styles.chartsWaiting}>
                <Loading lines={4} />
              </div>
            }
          >
            <Charts />
          </Suspense>
        )}
        <div className={styles.panes}>
          {canReadEvents && <LatestEvents />}
          <div className={styles.stack}>
            <Steps />
            {canReadEvents && <Running />}
          </div>
        </div>
      </div>
    </Page>
  );
}
