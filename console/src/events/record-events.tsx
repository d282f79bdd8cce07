import { useAddress } from '../kit/address.ts';
import { Button, ButtonLink } from '../kit/controls/button.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Filter } from '../kit/lists/filter.tsx';
import { Section } from '../kit/records/section.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import type { EventFilter } from './feed.ts';
import { eventMessages } from './messages.ts';
import { Changes, EventActor, EventSubject, RecordLink, Tone } from './parts.tsx';
import { useEventLog } from './use-log.ts';

const keep = 500;

/** The live history of one record, as the subject or as the actor. */
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

/** The live history of a user: what happened to them, or what they did. */
export function PersonEvents({ id }: { id: string }) {
  const t = useMessages(eventMessages);
  const { address, change } = useAddress();
  const shown = address['shows'] === 'by' ? 'by' : 'about';
  return (
    <>
      <div className={styles.tools}>
        <Filter
          label={t.show}
          groups={[
            {
              options: [
                { value: 'about', label: t.aboutPerson },
                { value: 'by', label: t.byPerson },
              ],
            },
          ]}
          chosen={[shown]}
          onChange={([chosen]) => change({ shows: chosen === 'by' ? 'by' : undefined })}
          isSingle
        />
        <ButtonLink size="small" kind="quiet" to="/refusals" search={{ about: id }}>
          {t.refusals}
        </ButtonLink>
      </div>
      {shown === 'about' ? (
        <RecordEvents key="about" filter={{ subjectId: id }} />
      ) : (
        <RecordEvents
          key="by"
          filter={{ actorId: id }}
          title={t.byPerson}
          empty={t.byPersonEmpty}
        />
      )}
    </>
  );
}

/** A list of events, each with its changes. */
const Timeline = ({
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
