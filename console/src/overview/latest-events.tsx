import { useEffect, useRef } from 'react';
import { EventActor, EventSubject, RecordLink, Tone } from '../events/parts.tsx';
import { useEventLog } from '../events/use-log.ts';
import { refresh } from '../kit/api/refresh.ts';
import { ButtonLink } from '../kit/controls/button.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useMessages } from '../kit/language/language.ts';
import { Section } from '../kit/records/section.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { overviewMessages } from './messages.ts';
import styles from './overview.module.css';

const keep = 12;
const refreshAfterMs = 3_000;
const everything = {};

/** The latest events, live. The other figures are reloaded as events arrive. */
export function LatestEvents() {
  const t = useMessages(overviewMessages);
  const { state } = useEventLog(everything, keep);
  useRefreshed(state.rows[0]?.id);
  return (
    <Section
      title={t.latest}
      action={
        <ButtonLink to="/events" size="small">
          {t.all}
        </ButtonLink>
      }
    >
      {state.rows.length > 0 ? (
        <ol className={styles.events}>
          {state.rows.map((event) => (
            <li key={event.id} className={styles.event}>
              <Tone event={event} />
              <span className={styles.eventName}>
                <RecordLink id={event.id}>{event.name}</RecordLink>
              </span>
              <span className={styles.eventOf}>
                <EventSubject event={event} />
              </span>
              <span className={styles.eventBy}>
                <EventActor actor={event.actor} /> · <Time at={event.occurredAt} />
              </span>
            </li>
          ))}
        </ol>
      ) : state.phase === 'loading' ? (
        <Loading lines={4} />
      ) : (
        <p className={styles.muted}>{state.phase === 'failed' ? t.failed : t.none}</p>
      )}
    </Section>
  );
}

/** Reloads the figures a while after new events, because counting is not free. */
function useRefreshed(newest: string | undefined): void {
  const seen = useRef(newest);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (seen.current !== undefined && newest !== seen.current)
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        if (!document.hidden) refresh();
      }, refreshAfterMs);
    seen.current = newest;
  }, [newest]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}
