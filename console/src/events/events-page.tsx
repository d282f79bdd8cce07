import { useEffect, useState, useSyncExternalStore } from 'react';
import type { EventType } from '../generated/graphql.ts';
import { useAddress, valuesOf } from '../kit/address.ts';
import { send } from '../kit/api/send.ts';
import { Button, IconButton } from '../kit/controls/button.tsx';
import { Dialog } from '../kit/dialogs/dialog.tsx';
import { useFormat } from '../kit/language/format.ts';
import { useMessages } from '../kit/language/language.ts';
import { Filter } from '../kit/lists/filter.tsx';
import { RecordFilter } from '../kit/lists/record-filter.tsx';
import { Page } from '../kit/records/page.tsx';
import { Loading } from '../kit/states/loading.tsx';
import { EmptyState } from '../kit/states/state.tsx';
import { EventById, type LoggedEvent } from './documents.ts';
import { EventRows } from './event-rows.tsx';
import styles from './events.module.css';
import { ExportLink } from './filters/export-link.tsx';
import { SavedFilters } from './filters/saved-filters.tsx';
import { instantIn, TimeFilter } from './filters/time-filter.tsx';
import { Inspector } from './inspector.tsx';
import { eventMessages } from './messages.ts';
import { useAnyRecord } from './names.ts';
import { RatePlot } from './rate-plot.tsx';
import { type EventGroup, eventGroups, typesIn } from './types.ts';
import { useEventLog } from './use-log.ts';

/** How many rows the live list keeps. */
const keep = 1_000;

const noFilter = {
  types: undefined,
  subject: undefined,
  actor: undefined,
  since: undefined,
  until: undefined,
};

/** The log, live. */
export function EventsPage() {
  const t = useMessages(eventMessages);
  const format = useFormat();
  const { address, change } = useAddress();
  const types = valuesOf(address, 'types');
  const records = useAnyRecord();
  const { subject, actor } = address;
  const since = instantIn(address['since']);
  const until = instantIn(address['until']);
  const filter = {
    types: types as EventType[],
    ...(subject && { subjectId: subject }),
    ...(actor && { actorId: actor }),
    ...(since && { since }),
    ...(until && { until }),
  };
  const { log, state } = useEventLog(filter, keep);
  const isFiltered = Object.keys(filter).length > 1 || types.length > 0;
  const event = useSelected(address['event'], state.rows);
  const index = state.rows.findIndex(({ id }) => id === event?.id);
  const isWide = useIsWide();
  const step = (to: LoggedEvent | undefined) =>
    to && (() => change({ event: to.id }, { replace: true }));
  const inspector = event && (
    <Inspector
      event={event}
      onPrevious={step(state.rows[index - 1])}
      onNext={index < 0 ? undefined : step(state.rows[index + 1])}
      onFilter={(filter) => change({ ...filter, event: isWide ? event.id : undefined })}
    />
  );
  const close = () => change({ event: undefined });
  return (
    <div className={styles.page}>
      <Page
        heading={t.heading}
        lead={t.lead}
        actions={
          <>
            {state.isPaused && (
              <span className={styles.held} role="status">
                {state.held > 0 ? t.waiting(state.held) : t.paused}
              </span>
            )}
            <Button
              icon={state.isPaused ? 'play' : 'pause'}
              kind={state.isPaused ? 'primary' : 'plain'}
              onClick={() => (state.isPaused ? log.resume() : log.pause())}
            >
              {state.isPaused ? t.resume : t.pause}
            </Button>
            <ExportLink filter={filter} />
          </>
        }
      >
        {until === undefined && <RatePlot log={log} />}
        <div className={styles.tools}>
          <Filter
            label={t.type}
            groups={(Object.keys(eventGroups) as EventGroup[]).map((group) => ({
              label: t.groups[group],
              options: typesIn(group).map(([value, label]) => ({ value, label })),
            }))}
            chosen={types}
            onChange={(chosen) => change({ types: chosen.join(',') })}
          />
          <RecordFilter
            label={t.subject}
            records={records}
            chosen={subject}
            onChange={(chosen) => change({ subject: chosen })}
          />
          <RecordFilter
            label={t.actor}
            records={records}
            chosen={actor}
            onChange={(chosen) => change({ actor: chosen })}
          />
          <TimeFilter
            since={since}
            until={until}
            onClear={() => change({ since: undefined, until: undefined })}
          />
          <SavedFilters
            current={{ types: address['types'], subject, actor, since, until }}
            isFiltered={isFiltered}
            onChoose={(saved) => change({ ...noFilter, ...saved })}
          />
          {isFiltered && (
            <Button kind="quiet" onClick={() => change(noFilter)}>
              {t.clear}
            </Button>
          )}
        </div>
        <div className={styles.panes}>
          <div className={styles.list}>
            {state.phase === 'loading' && state.rows.length === 0 && <Loading lines={10} />}
            {state.phase === 'failed' && state.rows.length === 0 && (
              <div role="alert">
                <EmptyState icon="warning" title={t.failedTitle}>
                  {t.failedText}
                </EmptyState>
              </div>
            )}
            {state.phase === 'ready' && state.rows.length === 0 && (
              <EmptyState icon="events" title={isFiltered ? t.nothingFitsTitle : t.emptyTitle}>
                {isFiltered ? t.nothingFitsText : t.emptyText}
              </EmptyState>
            )}
            {state.rows.length > 0 && (
              <EventRows
                log={log}
                state={state}
                selected={event?.id}
                onSelect={({ id }) => change({ event: id }, { replace: true })}
              />
            )}
          </div>
          {isWide && event && (
            <aside className={styles.aside} aria-label={t.details}>
              <div className={styles.asideHead}>
                <h2 className={styles.asideTitle}>{event.name}</h2>
                <IconButton icon="close" size="small" label={t.close} onClick={close} />
              </div>
              {inspector}
            </aside>
          )}
        </div>
      </Page>
      {!isWide && (
        <Dialog
          title={event?.name ?? ''}
          description={event && format.dateTime(event.occurredAt)}
          isOpen={event !== undefined}
          onClose={close}
          size="wide"
        >
          {inspector}
        </Dialog>
      )}
    </div>
  );
}

/** The event in the address: one of the rows, or one that is loaded by its id. */
function useSelected(id: string | undefined, rows: readonly LoggedEvent[]) {
  const [found, setFound] = useState<LoggedEvent>();
  const row = rows.find((event) => event.id === id);
  const isMissing = id !== undefined && !row && found?.id !== id;
  useEffect(() => {
    if (row) setFound(row);
  }, [row]);
  useEffect(() => {
    if (!isMissing || id === undefined) return undefined;
    const ended = new AbortController();
    send(EventById, { id }, ended.signal)
      .then(({ node }) => {
        if (node && 'cursor' in node) setFound(node as LoggedEvent);
      })
      .catch(() => {});
    return () => ended.abort();
  }, [id, isMissing]);
  if (id === undefined) return undefined;
  return row ?? (found?.id === id ? found : undefined);
}

const wide = matchMedia('(min-width: 72rem)');

const useIsWide = () =>
  useSyncExternalStore(
    (listener) => {
      wide.addEventListener('change', listener);
      return () => wide.removeEventListener('change', listener);
    },
    () => wide.matches,
  );
