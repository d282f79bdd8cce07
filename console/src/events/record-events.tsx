import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import { eventMessages } from './messages.ts';
import { Changes, EventActor, RecordLink, Tone } from './parts.tsx';
import { useEventLog } from './use-log.ts';

const keep = 500;

/** The history of one record, live. */
export function RecordEvents({ subjectId }: { subjectId: string }) {
  const t = useMessages(eventMessages);
  const { log, state } = useEventLog({ subjectId }, keep);
  if (state.phase === 'loading' && state.rows.length === 0) return <Loading />;
  if (state.rows.length === 0)
    return (
      <EmptyState
        icon={state.phase === 'failed' ? 'warning' : 'events'}
        title={state.phase === 'failed' ? t.failedTitle : t.historyTitle}
      >
        {state.phase === 'failed' ? t.failedText : t.historyEmpty}
      </EmptyState>
    );
  return (
    <Section title={t.historyTitle}>
      <Timeline events={state.rows} />
      {state.hasOlder && <Button onClick={() => void log.loadOlder()}>{t.older}</Button>}
    </Section>
  );
}

/** Events one under the other, each with what it changed. */
export const Timeline = ({ events }: { events: readonly LoggedEvent[] }) => (
  <ol className={styles.timeline}>
    {events.map((event) => (
      <li key={event.id} className={styles.moment}>
        <div className={styles.momentHead}>
          <Tone event={event} />
          <span className={styles.momentName}>
            <RecordLink id={event.id}>{event.name}</RecordLink>
          </span>
          <span className={styles.momentActor}>
            <EventActor actor={event.actor} />
          </span>
          <span className={styles.muted}>
            <Time at={event.occurredAt} />
          </span>
        </div>
        <Changes event={event} />
      </li>
    ))}
  </ol>
);
