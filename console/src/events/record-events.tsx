import { Button } from '../controls/button.tsx';
import { Time } from '../controls/time.tsx';
import { useMessages } from '../language/language.ts';
import { Section } from '../records/section.tsx';
import { Loading } from '../states/loading.tsx';
import { EmptyState } from '../states/state.tsx';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import type { EventFilter } from './feed.ts';
import { eventMessages } from './messages.ts';
import { Changes, EventActor, EventSubject, RecordLink, Tone } from './parts.tsx';
import { useEventLog } from './use-log.ts';

const keep = 500;

/** The history of one record, live: what happened to it, or what it did. */
export function RecordEvents({
  filter,
  title,
  empty,
}: {
  filter: EventFilter;
  title?: string;
  empty?: string;
}) {
  const t = useMessages(eventMessages);
  const { log, state } = useEventLog(filter, keep);
  if (state.phase === 'loading' && state.rows.length === 0) return <Loading />;
  if (state.rows.length === 0)
    return (
      <EmptyState
        icon={state.phase === 'failed' ? 'warning' : 'events'}
        title={state.phase === 'failed' ? t.failedTitle : (title ?? t.historyTitle)}
      >
        {state.phase === 'failed' ? t.failedText : (empty ?? t.historyEmpty)}
      </EmptyState>
    );
  return (
    <Section title={title ?? t.historyTitle}>
      <Timeline events={state.rows} shows={filter.actorId ? 'subject' : 'actor'} />
      {state.hasOlder && <Button onClick={() => void log.loadOlder()}>{t.older}</Button>}
    </Section>
  );
}

/** Events one under the other, each with what it changed. */
export const Timeline = ({
  events,
  shows = 'actor',
}: {
  events: readonly LoggedEvent[];
  shows?: 'actor' | 'subject';
}) => (
  <ol className={styles.timeline}>
    {events.map((event) => (
      <li key={event.id} className={styles.moment}>
        <div className={styles.momentHead}>
          <Tone event={event} />
          <span className={styles.momentName}>
            <RecordLink id={event.id}>{event.name}</RecordLink>
          </span>
          <span className={styles.momentActor}>
            {shows === 'actor' ? (
              <EventActor actor={event.actor} />
            ) : (
              <EventSubject event={event} />
            )}
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
