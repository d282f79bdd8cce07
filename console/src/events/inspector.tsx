import { Button, IconButton } from '../kit/controls/button.tsx';
import { CopyBlock, CopyId } from '../kit/controls/copy.tsx';
import { Time } from '../kit/controls/time.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { Properties, Property } from '../kit/records/section.tsx';
import type { LoggedEvent } from './documents.ts';
import styles from './events.module.css';
import { eventMessages } from './messages.ts';
import { Changes, EventActor, EventSubject, RecordLink } from './parts.tsx';
import { changesIn, subjectOf } from './subject.ts';

/** One event in full, with ways to those beside it. */
export function Inspector({
  event,
  onPrevious,
  onNext,
  onFilter,
}: {
  event: LoggedEvent;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onFilter: (filter: { subject?: string; actor?: string }) => void;
}) {
  const t = useMessages(eventMessages);
  const format = useFormat();
  const { id: subjectId } = subjectOf(event);
  const actorId = event.actor?.id;
  const clientId = event.actor?.clientId;
  return (
    <div className={styles.inspector}>
      <div className={styles.only}>
        {/* Not `disabled`: whoever came to the end by keyboard would lose the focus. */}
        <IconButton
          icon="up"
          kind="plain"
          size="small"
          label={t.previous}
          aria-disabled={!onPrevious}
          onClick={onPrevious}
        />
        <IconButton
          icon="down"
          kind="plain"
          size="small"
          label={t.next}
          aria-disabled={!onNext}
          onClick={onNext}
        />
      </div>
      <Properties>
        <Property name="ID">
          <CopyId id={event.id} />
        </Property>
        <Property name={t.occurred}>
          {format.exact(event.occurredAt)} (<Time at={event.occurredAt} as="ago" />)
        </Property>
        <Property name={t.subject}>
          <EventSubject event={event} />
        </Property>
        <Property name={t.actor}>
          <EventActor actor={event.actor} />
        </Property>
        {clientId && clientId !== actorId && (
          <Property name={t.client}>
            <RecordLink id={clientId}>
              <code>{clientId}</code>
            </RecordLink>
          </Property>
        )}
        {event.ip && (
          <Property name={t.ip}>
            <code>{event.ip}</code>
          </Property>
        )}
        {event.userAgent && <Property name={t.userAgent}>{event.userAgent}</Property>}
        {event.traceId && (
          <Property name={t.trace}>
            <CopyId id={event.traceId} />
          </Property>
        )}
      </Properties>
      <div className={styles.only}>
        {subjectId && (
          <Button size="small" icon="filter" onClick={() => onFilter({ subject: subjectId })}>
            {t.onlySubject}
          </Button>
        )}
        {actorId && (
          <Button size="small" icon="filter" onClick={() => onFilter({ actor: actorId })}>
            {t.onlyActor}
          </Button>
        )}
      </div>
      {changesIn(event).length > 0 && (
        <section>
          <h3 className={styles.partTitle}>{t.changes}</h3>
          <Changes event={event} />
        </section>
      )}
      <section>
        <h3 className={styles.partTitle}>{t.data}</h3>
        <CopyBlock label={t.data} text={JSON.stringify(event.data, null, 2)} />
      </section>
    </div>
  );
}
